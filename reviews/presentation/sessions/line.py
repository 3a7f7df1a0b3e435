"""Lay the posts of a session out as one line of time, for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.tool_calls.effect_bits import OUTSIDE
from metacog.heuristics.tool_calls.secrets import line, masked, masked_text
from metacog.models import User
from reviews.models import CallOutcome, Decision, DecisionVerdict, HeldItem
from reviews.presentation.approvals import needs
from reviews.presentation.effects import in_short
from reviews.presentation.highlight import Shown, show
from reviews.presentation.phrases import Became, as_text, became, decided, rounded, signal_title
from reviews.presentation.sessions.posts import Part, Post
from reviews.records.sessions import Asked, Summary

FIRST = 420  # characters of a text that stand open
FIRST_LINES = 8
MOST = 4_000  # that a fold holds; the response has the rest
MOST_PARTS = 12  # items of a post that are shown
FOLDED_FROM = 4  # calls in a row that are alike
PAUSE = timedelta(minutes=2)  # between two posts, from which on it is told
State, Kind = HeldItem.State, HeldItem.Kind


@dataclass(frozen=True, slots=True)
class Fold:
    """A text of which the beginning stands open."""

    first: Shown
    rest: Shown | None = None
    length: int = 0
    is_cut: bool = False  # the end is not shown at all


def fold(text: str, first: int = FIRST) -> Fold:
    """Fold a text that is masked."""
    lines = text.split("\n", FIRST_LINES)
    end = min(first, len("\n".join(lines[:FIRST_LINES])))
    if len(text) - end < first // 4 and len(lines) <= FIRST_LINES:
        return Fold(show(text, is_revealed=True))
    near = end - first // 4  # a line's end is better to part a text at, else that of a word
    begin = text.rfind("\n", near, end) + 1 or text.rfind(" ", near, end) + 1 or end
    return Fold(
        show(text[:begin], is_revealed=True),
        show(text[begin:MOST], is_revealed=True),
        len(text),
        len(text) > MOST,
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about an item, as its line says."""

    words: str
    at: datetime
    after: str  # how long the item waited
    reason: Shown | None
    released: Fold | None  # what went out in place of the item's own
    does: str  # of a call that was edited: what it would do as it went out
    is_undone: bool
    is_good: bool


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a post, as its line says."""

    part: Part
    title: str
    text: Fold | None
    state: str | Promise
    tone: str  # of the state: "ok", "bad", "warn" or ""
    needs: str = ""  # approvals, of a pending item
    asks: str = ""
    verdicts: Sequence[Verdict] = ()
    became: Became | None = None

    @property
    def is_held(self) -> bool:
        return self.part.held is not None


@dataclass(frozen=True, slots=True)
class Row:
    """One post, and those that only try the same again, or are calls like its own."""

    post: Post
    mark: str  # what stands on the line: "held", "refused", "error", "question", "call" or "words"
    items: Sequence[Item]
    text: Fold | None
    user_message: Fold | None
    output: Fold | None
    signals: Sequence[str]
    day: date | None = None  # where it is another than that of the post before
    gap: str = ""
    has_cycle: bool = False  # it is another than before
    more_parts: int = 0
    repeats: Sequence[Row] = ()
    repeated: str = ""
    is_above: bool = False  # the post itself stands on the page already: those that repeat it follow
    open: str = ""  # what the page tells the server of items that may still change

    @property
    def mark_name(self) -> str | Promise:
        return MARKS[self.mark]

    @property
    def first_held(self) -> str:
        return self.post.held[0].public_id if self.post.held else ""


MARKS = {
    "words": _("words"),
    "call": _("tool call"),
    "question": _("question"),
    "held": _("held"),
    "released": _("held, then approved"),
    "refused": _("rejected"),
    "error": _("error"),
}


def rows_of(posts: Sequence[Post], user: User, *, before: Post | None = None) -> list[Row]:
    """Lay posts out in order; `before` is the post that came before them."""
    rows: list[Row] = []
    last = before
    for run in _folded(_runs(posts)):
        if last and last is before and before.is_repeated_by(run[0]):
            again = [_row(post, user, earlier) for earlier, post in zip([last, *run], run, strict=False)]
            rows.append(replace(_row(last, user, last, again), is_above=True))
            last = run[-1]
            continue
        first, *others = run
        repeats = [_row(post, user, earlier) for earlier, post in zip(run, others, strict=False)]
        rows.append(_row(first, user, last, repeats))
        last = run[-1]
    return rows


def _runs(posts: Iterable[Post]) -> Iterator[list[Post]]:
    run: list[Post] = []
    for post in posts:
        if run and not run[0].is_repeated_by(post):
            yield run
            run = []
        run.append(post)
    if run:
        yield run


def _folded(runs: Iterable[list[Post]]) -> Iterator[list[Post]]:
    """Make one run of calls in a row that differ in their arguments alone."""
    for like, group in groupby(runs, lambda run: run[0].like):
        found = list(group)
        posts = [post for run in found for post in run]
        if like and len(found) > 1 and len(posts) >= FOLDED_FROM:
            yield posts
        else:
            yield from found


def _row(post: Post, user: User, last: Post | None, repeats: Sequence[Row] = ()) -> Row:
    day = timezone.localtime(post.at).date()
    is_new_day = last is None or timezone.localtime(last.at).date() != day
    pause = post.at - last.at if last else timedelta()
    items = [_item(part, post, user) for part in post.parts[:MOST_PARTS]]
    cycle = post.response.cycle
    is_new = last is None or last.user_message != post.user_message  # programs give a turn's with each response to it
    return Row(
        post=post,
        mark=_mark(post),
        items=items,
        text=fold(post.text) if post.text.strip() else None,
        user_message=fold(post.user_message, FIRST // 2) if is_new and post.user_message.strip() else None,
        output=fold(post.command_output, FIRST // 2) if post.command_output.strip() else None,
        signals=[signal_title(name) for name in dict.fromkeys(post.signals)],
        day=day if is_new_day else None,
        gap=gettext("after {time}").format(time=rounded(int(pause.total_seconds()))) if pause >= PAUSE else "",
        has_cycle=cycle is not None and (last is None or last.response.cycle != cycle),
        more_parts=len(post.parts) - len(items),
        repeats=repeats,
        repeated=_repeated(post, repeats) if repeats else "",
        open=" ".join(filter(None, map(signature, post.held))),
    )


def _mark(post: Post) -> str:
    if any(part.is_pending for part in post.parts):
        return "held"
    if post.is_refused:
        return "refused"
    if post.failed:
        return "error"
    if post.held:
        return "released"
    if any(part.kind == Kind.QUESTION for part in post.parts):
        return "question"
    return "call" if post.calls else "words"


def _repeated(post: Post, repeats: Sequence[Row]) -> str:
    """Say how often the same was tried again."""
    count, time = len(repeats), rounded(max(1, int((repeats[-1].post.at - post.at).total_seconds())))
    if post.calls and any(each.post.rest != post.rest for each in repeats):
        tools = pgettext("list", ", ").join(dict.fromkeys(str(show(part.name)) for part in post.calls))
        count *= len(post.calls)
        told = ngettext(
            "%(n)s more call of %(tools)s within %(time)s", "%(n)s more calls of %(tools)s within %(time)s", count
        )
        return told % {"n": count, "tools": tools, "time": time}
    if post.calls:
        told = ngettext(
            "the same call once more within %(time)s", "the same call %(n)s more times within %(time)s", count
        )
    elif post.command:
        told = ngettext(
            "the same command once more within %(time)s", "the same command %(n)s more times within %(time)s", count
        )
    elif post.problem:
        told = ngettext(
            "the same problem failed once more within %(time)s",
            "the same problem failed %(n)s more times within %(time)s",
            count,
        )
    else:
        told = ngettext(
            "the same error once more within %(time)s", "the same error %(n)s more times within %(time)s", count
        )
    return told % {"n": count, "time": time}


DISPOSITIONS: dict[str, tuple[str | Promise, str]] = {
    "hold": (_("held"), "warn"),
    "mark": (_("marked"), "warn"),
    "note": (_("noted"), "warn"),
    "reject": (_("denied by a rule"), "bad"),
    "pass": (_("passed"), ""),
}
_TONES = {
    State.PENDING: "warn", State.APPROVED: "ok", State.EDITED: "ok", State.ANSWERED: "ok", State.REJECTED: "bad",
    State.WITHDRAWN: "bad", State.EXPIRED: "off",
}  # fmt: skip


def _item(part: Part, post: Post, user: User) -> Item:
    title = str(Kind(part.kind).label) if part.kind in Kind.values else part.kind
    # What is said stands above, where that is all that the item says.
    text = None if part.is_call or not part.text.strip() or _is_said(part, post) else fold(part.text)
    if part.held is None:
        state, tone = DISPOSITIONS[part.disposition]
        if part.earlier:
            state, tone = (_("passed by a grant") if part.by_grant else _("approved earlier")), "ok"
        return Item(part, title, text, state, tone)
    held, call = part.held, part.held.call if part.held.kind == Kind.TOOL_CALL else None
    if held.kind in HeldItem.NO_WORDS and held.response_id != post.response.pk:  # all of it stands where it was held
        return Item(replace(part, effects="", why=""), title, None, _("asked again"), "")
    asks = call.asks if call else held.question.asks if held.kind == Kind.QUESTION else 1
    outcome = part.outcome
    return Item(
        part,
        title,
        text,
        pgettext("state", "Pending") if part.is_pending else held.get_state_display(),
        _TONES[State(held.state)],
        needs=needs(held) if part.is_pending else "",
        asks=ngettext("asked %(n)s time", "asked %(n)s times", asks) % {"n": asks} if asks > 1 else "",
        verdicts=[_verdict(decision, held, user, part.edited.get(decision.pk, "")) for decision in part.decisions],
        became=became(
            held.closed_at,
            outcome.status if outcome else None,
            outcome.reported_at if outcome else None,
            outcome.detail if outcome else "",
        )
        if call and held.state in (State.APPROVED, State.EDITED)
        else None,
    )


def _is_said(part: Part, post: Post) -> bool:
    return part.text.strip() in post.text if part.held is None else part.text.strip() == post.text.strip()


def _verdict(decision: Decision, held: HeldItem, user: User, does: str) -> Verdict:
    released = None
    if decision.verdict == DecisionVerdict.ANSWER:
        released = fold(as_text(masked(decision.answer)))
    elif decision.verdict == DecisionVerdict.EDIT and held.kind == Kind.TOOL_CALL:
        released = fold(line("", canonical(masked(decision.arguments))))
    elif decision.verdict == DecisionVerdict.EDIT:
        released = fold(masked_text(decision.text or ""))
    waited = max(0, int((decision.decided_at - held.held_at).total_seconds()))
    return Verdict(
        words=decided(decision, user),
        at=decision.decided_at,
        after=gettext("after {time}").format(time=rounded(waited)),
        reason=show(decision.reason) if decision.reason.strip() else None,
        released=released,
        does=does,
        is_undone=decision.undone_at is not None,
        is_good=decision.verdict in (DecisionVerdict.APPROVE, DecisionVerdict.EDIT, DecisionVerdict.ANSWER),
    )


# -- what may still change -------------------------------------------------------------------------


def signature(held: HeldItem) -> str:
    """Name an item that may still change, and how it stands; "" of one that stays as it is."""
    call = held.call if held.kind == Kind.TOOL_CALL else None
    outcome = getattr(call, "outcome", None) if call else None
    is_reported = call is None or outcome is not None or held.state not in (State.APPROVED, State.EDITED)
    if held.closed_at and (is_reported or held.closed_at <= timezone.now() - CallOutcome.WITHIN):
        return ""
    terms = getattr(held, "terms", None)
    told = (held.version, int(held.closed_at is not None), terms.given if terms else 0, call.asks if call else 1)
    return ".".join([held.public_id, *map(str, told)])


# -- what it came to -------------------------------------------------------------------------------


def facts(summary: Summary) -> list[str]:
    """Say what a session came to: its posts, what was held and decided, and what became of calls."""
    n = f"{summary.posts:,}"
    seconds = int((summary.last_at - summary.first_at).total_seconds())
    told = ngettext("%(n)s response", "%(n)s responses", summary.posts) % {"n": n}
    if seconds:
        told = gettext("%(what)s in %(time)s") % {"what": told, "time": rounded(seconds)}
    if summary.errors:
        told += gettext(", ") + ngettext("errors in %(n)s response", "errors in %(n)s responses", summary.errors) % {
            "n": f"{summary.errors:,}"
        }
    lines = [told]
    if summary.calls:
        said = ngettext("%(n)s tool call: %(which)s", "%(n)s tool calls: %(which)s", summary.calls)
        lines.append(_listed(said, summary.calls, _of_calls(summary)))
    if summary.held:
        said = gettext("%(n)s held: %(which)s")
        if summary.held > summary.held_calls > 0:
            said = ngettext(
                "%(n)s held, %(calls)s of them a tool call: %(which)s",
                "%(n)s held, %(calls)s of them tool calls: %(which)s",
                summary.held_calls,
            ).replace("%(calls)s", f"{summary.held_calls:,}")
        lines.append(_listed(said, summary.held, _of_states(summary)))
    if told := in_short(summary.held_effects):
        lines.append(gettext("Effects of the held calls: %(effects)s") % {"effects": told})
    if summary.outcomes:
        approved = sum(summary.outcomes.values())
        said = ngettext("%(n)s approved call: %(which)s", "%(n)s approved calls: %(which)s", approved)
        lines.append(_listed(said, approved, _of_outcomes(summary)))
    return lines


def _listed(sentence: str, count: int, which: Iterable[tuple[str, int]]) -> str:
    listed = pgettext("list", ", ").join(
        gettext("%(n)s %(what)s") % {"n": f"{number:,}", "what": name} for name, number in which
    )
    return sentence % {"n": f"{count:,}", "which": listed}


_CALLS: dict[str, str | Promise] = {
    "passed": _("passed by a rule"), "granted": _("passed by a grant"), "denied": _("denied by a rule"),
    "again": _("approved earlier"), "held": _("held"), "asked": _("asked again while pending"),
}  # fmt: skip
_STATES: dict[str, str | Promise] = {
    State.PENDING: _("pending"), State.APPROVED: _("approved"), State.EDITED: _("approved with edits"),
    State.ANSWERED: _("answered"), State.REJECTED: _("rejected"), State.WITHDRAWN: _("withdrawn"),
    State.EXPIRED: _("expired"),
}  # fmt: skip


def _of_states(summary: Summary) -> Iterator[tuple[str, int]]:
    return ((str(name), summary.states[state]) for state, name in _STATES.items() if summary.states.get(state))


def _of_calls(summary: Summary) -> Iterator[tuple[str, int]]:
    """Tell each call by what became of it, so that these add up to all of them."""
    again = summary.calls - sum(summary.settled.values()) - summary.held_calls
    counts = {**summary.settled, "held": summary.held_calls, "asked": again}
    return ((str(name), counts[fate]) for fate, name in _CALLS.items() if counts.get(fate, 0) > 0)


def _of_outcomes(summary: Summary) -> Iterator[tuple[str, int]]:
    names: dict[str, Any] = {**dict(CallOutcome.Status.choices), "": _("not reported")}
    return ((str(name), summary.outcomes[each]) for each, name in names.items() if summary.outcomes.get(each))


def of_kind(posts: Iterable[Post], asked: Asked, last: Post | None = None) -> Iterator[Post]:
    """Give the posts of the kind that is asked for, to the letter; the database finds a little more.

    Of those in a row that answer the same message of the user it is the first; `last` came before them.
    """
    for post in posts:
        is_new = post.user_message not in ("", last and last.user_message)
        by_name = {"user": is_new, "rejected": post.is_refused, "errors": post.failed}
        found = {name for part in post.parts for name in (*part.effect_names, *([OUTSIDE] if part.is_outside else []))}
        if by_name.get(asked.show, True) and (not asked.effect or asked.effect in found):
            yield post
        last = post
