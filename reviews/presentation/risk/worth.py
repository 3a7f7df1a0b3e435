"""Say whether the learned risk is worth going by, and draw what the newest decisions say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from metacog.heuristics.ranking.learning import rounded
from metacog.heuristics.stats.gate import (
    CALIBRATED,
    ENOUGH,
    ENOUGH_OF_EACH,
    ENOUGH_SESSIONS,
    LOOKED_AT,
    Gate,
)
from metacog.models import Team, User
from reviews.models import LearnedRisk
from reviews.presentation.phrases import gap
from reviews.presentation.ratios import number, percent, span
from reviews.presentation.risk.rivals import rival
from reviews.risk import choices
from reviews.risk import today as now_passing

TENTH = 0.1
RARE = 0.05  # the share of rejections below which an order has little to find
LEAST = 0.0005  # what is less would read as 0.000
STILL_LEARNING = 0.01  # what twice as many decisions add to the AUC of an order that is still learning
# The drawings, in units of their view box.
LEFT, WIDTH, BASE, HEIGHT = 40, 240, 165, 145


def gate_of(learned: LearnedRisk | None) -> Gate | None:
    """Return what the newest decisions said; None where they could not be asked."""
    found = learned.found.get("gate") if learned else None
    return Gate.from_dict(found) if found else None


def is_proven(learned: LearnedRisk | None) -> bool:
    return learned is not None and learned.found["order"] == "learned"


def verdict(learned: LearnedRisk | None) -> str:
    """Say in one sentence what reviewing the items with the highest risk is worth."""
    if learned is None:
        told = gettext("Nothing learned yet. Learning runs once a day, from %(enough)s decisions on.")
        return told % {"enough": ENOUGH}
    found, gate = learned.found, gate_of(learned)
    counts = {"decisions": number(found["decisions"]), "rejected": number(found["rejected"]), "enough": ENOUGH}
    match found["why_not"]:
        case "few":
            return gettext("Too few decisions yet: %(decisions)s of the %(enough)s needed.") % counts
        case "one-sided":
            told = gettext(
                "Too one-sided yet: at least %(each)s rejections and %(each)s approvals are needed among the older "
                "decisions, and as many among the newest (%(rejected)s of %(decisions)s were rejections)."
            )
            return told % {**counts, "each": ENOUGH_OF_EACH}
        case "few-sessions":
            told = gettext(
                "Too few sessions yet: the %(decisions)s decisions must come from at least %(sessions)s sessions among "
                "the older and as many among the newest."
            )
            return told % {**counts, "sessions": ENOUGH_SESSIONS}
    if gate is None:
        return ""
    if not is_proven(learned):
        if not gate.as_good:
            told = gettext("Not used yet: the newest decisions are not ordered better than by chance (n = %(n)s).")
            return told % {"n": number(gate.decisions)}
        named = rival("chance" if "chance" in gate.as_good else gate.as_good[0])
        return gettext("Not used yet: no better than %(rival)s (n = %(n)s).") % {
            "rival": named,
            "n": number(gate.decisions),
        }
    share, low, high = gate.caught_at(TENTH)
    at = LOOKED_AT.index(TENTH)
    told = (
        gettext(
            "Reviewing the tenth of items with the highest risk finds %(share)s of rejections (95%% CI %(interval)s, "
            "n = %(n)s). Ordered by length, a tenth finds %(length)s; by chance, %(chance)s."
        )
        if low > gate.caught_by["chance"][at]
        else gettext(
            "Reviewing the tenth of items with the highest risk finds %(share)s of rejections (95%% CI "
            "%(interval)s, n = %(n)s). Ordered by length, a tenth finds %(length)s; by chance, %(chance)s. The whole "
            "order beats chance, but its first tenth does not clearly do so yet."
        )
    )
    return told % {
        "share": percent(share),
        "interval": span(low, high),
        "length": percent(gate.caught_by["length"][at]),
        "chance": percent(gate.caught_by["chance"][at]),
        "n": number(gate.decisions),
    }


def instead(team: Team, learned: LearnedRisk | None) -> str:
    """Say what orders the queue where something simple does as well as what was learned."""
    order, alone = (learned.found["order"], learned.found.get("alone")) if learned else ("", None)
    if not team.risk_order and (order in ("length", "turns") or alone):
        return gettext("The queue is ordered by score: the order by risk is switched off.")
    match order:
        case "length":
            return gettext("Until then the queue is ordered by length, which beats chance.")
        case "turns":
            return gettext("Until then the queue is ordered by the turns of the session, which beat chance.")
    if alone:
        told = gettext(
            "Until then the queue is ordered by how often people rejected by %(by)s before: AUC %(auc)s (95%% CI "
            "%(low)s–%(high)s)."
        )
        figures = {name: f"{alone[name]:.2f}" for name in ("auc", "low", "high")}
        return told % {"by": rival(alone["by"]), **figures}
    return ""


def needed(learned: LearnedRisk | None) -> str:
    """Say how many more decisions it takes until an order can be judged, and what helps meanwhile; "" if none."""
    found = learned.found if learned else {}
    if not found or found["order"] == "learned":
        return ""
    share = found["rejected"] / found["decisions"] if found["decisions"] else 0.0
    told = ""
    if needs := found.get("needs"):
        told = gettext("About %(count)s more decisions, at today’s %(share)s rejections, until it can be tested.") % {
            "count": number(rounded(needs)),
            "share": percent(share),
        }
    if found["decisions"] >= ENOUGH and share < RARE:
        rare = gettext(
            "Where so little is rejected, no order saves much: near-duplicates in the queue can be decided together, "
            "and spot checks show what passes."
        )
        told = "\n".join(filter(None, [told, rare]))
    return told


def contradictions(learned: LearnedRisk | None) -> list[dict[str, Any]]:
    """Return which two people decide like items differently, how often, and such items in pairs of held ids."""
    found = learned.found.get("disagreements", ()) if learned else ()
    keys = {int(key) for each in found for key in each["people"]}
    people = {str(person.pk): person for person in User.objects.filter(pk__in=keys)} if keys else {}
    told = []
    for each in found:
        if any(key not in people for key in each["people"]):
            continue
        one, other = (people[key] for key in each["people"])
        words = gettext("%(one)s and %(other)s decided %(against)s of %(pairs)s pairs of similar items differently.")
        names = {"one": one.get_full_name() or one.username, "other": other.get_full_name() or other.username}
        counts = {"against": number(each["against"]), "pairs": number(each["pairs"])}
        told.append({"told": words % (names | counts), "pairs": each["items"]})
    return told


def first_tenth(learned: LearnedRisk | None) -> str:
    """Say what the first tenth of a queue in this order holds, beside one by score."""
    gate = gate_of(learned)
    if gate is None:
        return ""
    share, low, high = gate.caught_at(TENTH)
    told = gettext(
        "The first tenth of the queue would have contained %(share)s of rejections (95%% CI %(interval)s); by score "
        "%(score)s."
    )
    by_score = gate.caught_by["score"][LOOKED_AT.index(TENTH)]
    return told % {"share": percent(share), "interval": span(low, high), "score": percent(by_score)}


def by_doubt(learned: LearnedRisk | None) -> str:
    """Say what drawing by doubt would have come to; "" while nothing is proven, or where it changes nothing."""
    if learned is None or not is_proven(learned):
        return ""
    share = choices.share_of_least_sure(learned.passing.get("risks", ()))
    if share is None or percent(share) == percent(0.25):
        return ""
    told = gettext(
        "In the last %(days)s days, %(share)s of the spot checks would have gone to the quarter with the least certain "
        "risk, instead of 25%%."
    )
    return told % {"days": learned.passing["days"], "share": percent(share)}


def previews(team: Team, rows: Mapping[bool, LearnedRisk], budgets: Mapping[bool, int | None]) -> list[str]:
    """Say what the budgets of a team, of words and of tool calls, would have come to, and what to today so far."""
    told = list[str]()
    for of_calls, row in rows.items():
        budget = budgets[of_calls]
        words = gap().join(filter(None, (preview(row, budget), today(team, budget, of_calls=of_calls))))
        if words and len(rows) > 1:
            words = gettext("%(kind)s: %(told)s") % {"kind": kind_name(of_calls=of_calls), "told": words}
        told += filter(None, [words])
    return told


def kind_name(*, of_calls: bool) -> str:
    """Name what something was learned of."""
    return gettext("Tool calls") if of_calls else gettext("Words")


def preview(learned: LearnedRisk | None, budget: int | None) -> str:
    """Say what a budget of so many items a day would have come to; "" where there is none or nothing is proven."""
    if learned is None or not budget or not is_proven(learned):
        return ""
    found = choices.preview(learned, budget)
    counts = {"items": number(found.items), "days": found.days, "looked_at": number(found.looked_at)}
    if not found.items:
        return gettext("No item passed in the last %(days)s days that could have been reviewed.") % counts
    told = ngettext(
        "Of %(items)s item that passed in %(days)s days, %(looked_at)s would have been reviewed.",
        "Of %(items)s items that passed in %(days)s days, %(looked_at)s would have been reviewed.",
        found.items,
    )
    if learned.of_calls:
        told += " " + gettext("How many of them people would reject is not known: spot checks cover only words.")
        return told % counts
    if found.caught is None:
        told += " " + gettext(
            "How many mistakes these contain is not known yet: %(misses)s of %(checks)s spot checks should have been "
            "held."
        )
        return told % {**counts, "checks": number(found.checks), "misses": number(found.misses)}
    caught, low, high, by_length, by_chance = found.caught
    told += " " + gettext(
        "By the newest spot checks, these contain about %(caught)s of the mistakes (95%% CI %(interval)s); by length "
        "%(length)s, by chance %(chance)s."
    )
    return told % {
        **counts,
        "caught": percent(caught),
        "interval": span(low, high),
        "length": percent(by_length),
        "chance": percent(by_chance),
    }


def today(team: Team, budget: int | None, *, of_calls: bool = False) -> str:
    """Say what a budget would have come to today so far; "" where there is none or nothing is proven."""
    if not budget or choices.kind_of(team, of_calls=of_calls) != "learned":
        return ""
    lately = now_passing.passing(team, timezone.now(), of_calls=of_calls)
    cut = choices.budget_cut(_with(team, budget), lately, of_calls=of_calls)
    if cut is None:
        return _nothing_passed()
    above = min(budget, sum(risk >= cut for risk in lately.today))
    told = ngettext(
        "Today so far %(items)s item passed, of which %(above)s would have been reviewed.",
        "Today so far %(items)s items passed, of which %(above)s would have been reviewed.",
        len(lately.today),
    )
    return told % {"items": number(len(lately.today)), "above": number(above)}


def begins(team: Team) -> str:
    """Say that the budgets that were saved act from now on, or why not; "" without one."""
    told = [_begins(team)] if team.risk_budget else []
    if team.risk_calls_budget:
        told.append(_begins_of_calls(team))
    return gap().join(dict.fromkeys(filter(None, told)))


def _begins(team: Team) -> str:
    if team.risk_kind != "learned":
        return gettext("The budget holds nothing now: no learned risk is in use.")
    if team.risk_cut is None:
        return _nothing_passed()
    if not team.risk_budget_holds:
        return ""
    told = gettext("From now on the budget holds the riskiest of what would pass, up to %(n)s a day.")
    return told % {"n": number(team.risk_budget or 0)}


def _begins_of_calls(team: Team) -> str:
    if team.risk_calls != "learned":
        return gettext("The budget of tool calls holds nothing now: no learned risk of calls is in use.")
    if team.risk_calls_cut is None:
        return _nothing_passed()
    told = gettext("From now on the riskiest tool calls that would pass are held, up to %(n)s a day.")
    return told % {"n": number(team.risk_calls_budget or 0)}


def _nothing_passed() -> str:
    return gettext("Nothing that could have been reviewed passed lately: the budget starts after the next learning.")


def _with(team: Team, budget: int) -> Team:
    kinds = {"risk_kind": team.risk_kind, "risk_calls": team.risk_calls}
    return Team(pk=team.pk, risk_budget=budget, risk_calls_budget=budget, **kinds)


def how_far(team: Team, learned: LearnedRisk | None, wanted: str) -> dict[str, Any]:
    """Lay out what reviewing a share of all items finds, with the minutes a day that takes; {} where unproven.

    `wanted` is the share in percent that the address asks for.
    """
    gate = gate_of(learned)
    if gate is None or learned is None or not is_proven(learned):
        return {}
    found = learned.passing or {"days": 30, "items": 0}
    a_day = found["items"] / found["days"] if found["days"] else 0.0
    seconds = now_passing.seconds_an_item(team, timezone.now(), of_calls=learned.of_calls)
    rows = []
    for at, share in enumerate(LOOKED_AT):
        minutes = "" if seconds is None or not a_day else number(max(1, round(share * a_day * seconds / 60)))
        rows.append(
            {
                "share": round(100 * share),
                "found": percent(gate.caught[at]),
                "interval": span(gate.caught_low[at], gate.caught_high[at]),
                "items": number(round(share * a_day)),
                "budget": round(share * a_day) or "",
                "minutes": minutes,
                "x": f"{_x(share):.1f}",
                "y": f"{_y(gate.caught[at]):.1f}",
            }
        )
        rows[-1]["told"] = _told_of(rows[-1])
    asked = int(wanted) if wanted.isascii() and wanted.isdigit() else 100 * TENTH
    place = min(range(len(LOOKED_AT)), key=lambda at: abs(100 * LOOKED_AT[at] - asked))
    return {"rows": rows, "place": place, "chosen": rows[place], "last": len(rows) - 1, "curve": curve(gate)}


def _told_of(row: dict[str, Any]) -> str:
    """Say what reviewing one share comes to."""
    told = gettext("Reviewing %(share)s%% finds %(found)s of what people would reject (95%% CI %(interval)s).") % row
    if not row["minutes"]:
        return told
    more = gettext("Of the items that pass, that is %(items)s a day, about %(minutes)s min.")
    return f"{told}{gap()}{more % row}"


# -- drawings --------------------------------------------------------------------------------------


def _x(share: float) -> float:
    return LEFT + share * WIDTH


def _y(share: float) -> float:
    return BASE - share * HEIGHT


def _line(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)


def curve(gate: Gate) -> dict[str, Any]:
    """Lay out what is found among the first of all items: by the learned order, by length, and by chance."""
    own, low, high, length, chance = (
        [(0.0, 0.0), *zip(LOOKED_AT, values, strict=True)]
        for values in (
            gate.caught,
            gate.caught_low,
            gate.caught_high,
            gate.caught_by["length"],
            gate.caught_by["chance"],
        )
    )
    at = LOOKED_AT.index(TENTH)
    told = gettext("The first %(items)s of items contain %(share)s of rejections (95%% CI %(interval)s).") % {
        "items": percent(TENTH),
        "share": percent(gate.caught[at]),
        "interval": span(gate.caught_low[at], gate.caught_high[at]),
    }
    return {
        "told": told,
        "line": _line(own),
        "band": _line([*high, *reversed(low)]),
        "length": _line(length),
        "chance": _line(chance),
        "points": [
            {"x": f"{_x(x):.1f}", "y": f"{_y(y):.1f}", "title": f"{percent(x)}: {percent(y)}"}
            for x, y in own
            if x == TENTH
        ],
        "ticks": [(f"{_x(share):.1f}", percent(share)) for share in (TENTH, 0.5, 1.0)],
        "table": [
            (percent(share), percent(found), span(below, above), percent(by_length), percent(by_chance))
            for (share, found), (_, below), (_, above), (_, by_length), (_, by_chance) in zip(
                own[1:], low[1:], high[1:], length[1:], chance[1:], strict=True
            )
        ],
    }


def calibration(gate: Gate) -> dict[str, Any]:
    """Lay out what was predicted of each tenth of the items beside what people decided."""
    most = max((value for said, came, _ in gate.bins for value in (said, came)), default=1.0)
    top = next(top for top in (0.1, 0.2, 0.4, 0.6, 0.8, 1.0) if most <= top or top == 1.0)
    judged = sum(count for _, _, count in gate.bins)
    error = {"error": f"{gate.calibration_error:.3f}", "limit": f"{CALIBRATED:g}", "n": number(judged)}
    if judged < ENOUGH:
        told = gettext("Too few decisions yet to test percentages (n = %(n)s): only ranks are shown.")
    elif gate.calibration_error < LEAST:
        told = gettext("No clear difference between predicted and actual shares (n = %(n)s): percentages are shown.")
    elif gate.is_calibrated:
        told = gettext(
            "Predicted and actual shares differ by %(error)s on average (limit %(limit)s): percentages are shown."
        )
    else:
        told = gettext(
            "Predicted and actual shares differ by %(error)s on average (limit %(limit)s): only ranks are shown, no "
            "percentages."
        )
    return {
        "points": [
            {
                "x": f"{_x(min(1.0, said / top)):.1f}",
                "y": f"{_y(min(1.0, came / top)):.1f}",
                "title": f"{percent(said)} → {percent(came)} (n = {number(count)})",
            }
            for said, came, count in gate.bins
        ],
        "top": percent(top),
        "half": percent(top / 2),
        "table": [(percent(said), percent(came), number(count)) for said, came, count in gate.bins],
        "told": told % error,
    }


def learning(learned: LearnedRisk) -> dict[str, Any]:
    """Lay out how well was ordered what had taught on an eighth, a fourth, half and all of the older decisions."""
    points = [(int(taught), float(auc)) for taught, auc in learned.found["curve"]]
    slot = WIDTH / max(1, len(points))
    told = ""
    if len(points) > 1:
        gain = (points[-1][1] - points[0][1]) / (len(points) - 1)
        if gain >= STILL_LEARNING:
            told = gettext(
                "Each doubling of decisions raised the AUC by about %(gain)s: %(more)s more may add as much."
            )
        elif abs(gain) < LEAST:
            told = gettext("Each doubling of decisions left the AUC as it was: more decisions would hardly help.")
        else:
            told = gettext("Each doubling of decisions changed the AUC by %(gain)s: more decisions would hardly help.")
        told %= {"gain": f"{gain:.3f}".replace("-", "−"), "more": number(points[-1][0])}
    shown = []
    for place, (taught, auc) in enumerate(points):
        x, y = LEFT + (place + 0.5) * slot, _y(max(-0.05, 2 * auc - 1))  # from 0.5 on
        above = y - 9 if y > BASE - HEIGHT + 15 else y + 18  # what the axis shows stands at the top
        named = {"taught": number(taught), "auc": f"{auc:.2f}"}
        shown.append({"x": f"{x:.1f}", "y": f"{y:.1f}", "above": f"{above:.1f}", **named})
    return {
        "line": " ".join(f"{point['x']},{point['y']}" for point in shown),
        "points": shown,
        "numbers": ", ".join(f"{point['taught']}: {point['auc']}" for point in shown),
        "told": told,
    }


def drawn(learned: LearnedRisk) -> dict[str, Any]:
    """Return what the pages draw of one learning; nothing where the newest decisions could not be asked."""
    gate = gate_of(learned)
    if gate is None:
        return {}
    return {
        "auc": f"{gate.auc:.2f}",
        "auc_interval": f"{gate.auc_low:.2f}–{gate.auc_high:.2f}",
        "decisions": number(learned.found["decisions"]),
        "judged": number(gate.decisions),
        "judged_rejected": number(gate.rejected),
        "curve": curve(gate),
        "calibration": calibration(gate),
        "learning": learning(learned),
    }
