"""What an agent's next cycle should read: where it was heading, and what was held (seeds 000 and 001)."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.db.models import F, Q
from django.db.models.functions import Length
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from metacog import heuristics
from metacog.models import Agent, AgentState
from patterns import lessons, thinking, thread_texts
from patterns.models import Problem, ThinkTwice, ThoughtThread
from patterns.scorer import scorer_for
from patterns.wire import one_line
from reviews import extension_texts
from reviews.models import AgentResponse, ExtensionRequest, HeldItem
from reviews.wire import held_shape

HELD_BUDGET = 40_000  # characters of held texts; whole items or none, the rest is named
HELD_MOST = 100
THINK_TWICE_MOST = 3
EXTENSIONS_MOST = 3
ARTICLES_MOST = 3
RECENT = 5  # responses whose words call for lessons


def parts(agent: Agent, *, is_given: bool = True) -> dict[str, Any]:
    """Return the parts of the context; a part that is not built or has nothing to say is null.

    A held text is never cut: what no longer fits is listed by id in `held_more`. Nothing is written where it is not
    given to the agent, but looked at by a person.
    """
    with translation.override(agent.language):
        state = AgentState.objects.get(pk=agent.pk)
        intent = heuristics.format_intent(state.intent)
        threads, articles = _threads(agent, state, is_given)
        suggested = thread_texts.suggestion(agent, state)
        held, more = _held(agent)
        response = AgentResponse.latest_of(agent).only("verdict", "received_at").first()
        last = response.wire_verdict() if response else None  # its hint (H13) and its confidence are for the next cycle
        return {
            "intent": {"text": intent},
            "threads": threads,
            "thread_suggestion": suggested
            and {"topic": suggested.topic, "cycles": suggested.cycles, "text": str(suggested)},
            "articles": articles,
            "held": held,
            "held_more": more,
            "suggestion": (last and last["hesitation"] and last["hesitation"]["suggestion"]) or None,
            "confidence": last and last["confidence"],
            "lessons": _lessons(agent, state, is_given),
            "think_twice": _think_twice(agent),
            "extensions": _extensions(agent, response),
            "instructions": _instructions(agent, held) if held else None,
        }


def _instructions(agent: Agent, held: list[dict[str, Any]]) -> str:
    """Say what to do with what is held, and what would be refused: this stands there before anything is tried."""
    release = scorer_for(agent).policy.release
    kinds = {item["kind"]: release.get(item["kind"]) for item in held}
    said = _(
        "These items of yours were held for a second thought and have not been carried out. Look at each again "
        "as if another had written it: is it true, and how do you know? Then decide it with "
        "POST /api/v1/held/{id}/decision and a verdict: approve, edit (with the better text), reject or withdraw, "
        "and the reason. A person may decide before you."
    )
    lines = [said]
    if "agent" in kinds.values():
        lines.append(
            _("Approve and edit are taken once you have posted the response of a later cycle, or the review is due.")
        )
    if theirs := [kind.upper() for kind, by in kinds.items() if by != "agent"]:
        lines.append(
            _("%(kinds)s: only a person approves or edits. You may reject or withdraw.")
            % {"kinds": pgettext("list", ", ").join(theirs)}
        )
    return "\n".join(lines)


def _threads(
    agent: Agent, state: AgentState, is_given: bool
) -> tuple[dict[str, Any] | None, list[dict[str, Any]] | None]:
    """Return the active threads (T2), and the articles that resolved ones propose (T8).

    An article is given from the first context after its thread was resolved until the agent's next response.
    """
    unread = Q(article_until=ThoughtThread.ARTICLE_UNREAD)
    wanted = Q(state=ThoughtThread.State.ACTIVE) | unread | Q(article_until=state.responses)
    rows = list(
        ThoughtThread.objects.filter(wanted, agent=agent).select_related("agent").order_by("-touched_at", "-id")
    )
    active = [row for row in rows if row.state == ThoughtThread.State.ACTIVE]
    resolved = [row for row in rows if row.state == ThoughtThread.State.RESOLVED][:ARTICLES_MOST]
    threads = articles = None
    if active:
        trails = thread_texts.last_steps(active)
        threads = {
            "text": thread_texts.section(active, trails, timezone.now().date()),
            "items": [thread_texts.shape(row, trails[row.pk], is_whole=False) for row in active],
        }
    if resolved:
        trails = thread_texts.last_steps(resolved, thread_texts.ARTICLE_STEPS)
        articles = [
            {
                "thread": row.slug,
                "ask": _("The thought thread “%(title)s” is resolved. Would a journal article do it justice? A draft:")
                % {"title": row.title},
                "text": thread_texts.article(row, trails[row.pk]),
            }
            for row in resolved
        ]
    if resolved and is_given:
        ThoughtThread.objects.filter(unread, pk__in=[row.pk for row in resolved]).update(article_until=state.responses)
    return threads, articles


def _held(agent: Agent) -> tuple[list[dict[str, Any]], list[str]]:
    waiting = HeldItem.objects.filter(agent=agent, closed_at=None).order_by("review_due_at", "id")
    whole: list[int] = []
    more: list[str] = []
    left = HELD_BUDGET
    for key, public_id, length in waiting.values_list("pk", "public_id", Length("text"))[:HELD_MOST]:
        left -= length
        # The first is always there: a long text must not hide itself for ever.
        if not whole or left >= 0:
            whole.append(key)
        else:
            more.append(public_id)
    rows = waiting.filter(pk__in=whole).select_related("response").defer("response__body", "response__history")
    return [held_shape(row) for row in rows] if whole else [], more


def _extensions(agent: Agent, last: AgentResponse | None) -> list[dict[str, Any]] | None:
    """Return the requests for more tool calls that wait, and those answered since the latest response."""
    open_ones = Q(state=ExtensionRequest.State.PENDING)
    fresh = Q(decided_at__gt=last.received_at) if last else Q(decided_at__isnull=False)
    rows = list(ExtensionRequest.objects.filter(open_ones | fresh, agent=agent).order_by("-id")[:EXTENSIONS_MOST])
    return extension_texts.shapes(agent, rows) if rows else None


def _lessons(agent: Agent, state: AgentState, is_given: bool) -> dict[str, Any] | None:
    """Return what was learnt and confirmed (M9): what the latest responses and topics call for comes first."""

    def recent() -> list[str]:
        texts = AgentResponse.latest_of(agent).values_list("excerpt", flat=True)[:RECENT]
        return [*texts, *(topic for _number, topics in state.cycles[-RECENT:] for topic in topics)]

    chosen = (lessons.give if is_given else lessons.chosen)(agent, recent)
    if not chosen:
        return None
    opening = _("Lessons learnt, each confirmed by a person. Keep to those that fit:")
    return {
        "text": "\n".join(["<lessons>", opening, *(f"- {lesson.text}" for lesson, _matches in chosen), "</lessons>"]),
        "items": [
            {"id": lesson.id, "text": lesson.text, "topics": list(lesson.topics), "matches": list(matches)}
            for lesson, matches in chosen
        ],
    }


def _think_twice(agent: Agent) -> list[dict[str, Any]] | None:
    """Return the problems about which somebody should be asked, and those to which somebody has said yes."""
    # A yes, from the console or brought by the agent, until the next response about the problem.
    is_told = Q(think_twice__answer=ThinkTwice.Answer.YES, think_twice__answered_at__gte=F("touched_at"))
    rows = Problem.objects.filter(Q(suggests=True) | is_told, agent=agent).distinct().order_by("-touched_at", "-id")
    # By the policy of now: that may have changed since somebody was to be asked.
    looked = ((row, thinking.assess(row)) for row in rows.select_related("agent__team"))
    wanted = list(islice((row for row, found in looked if found.suggest or found.invoke), THINK_TWICE_MOST))
    if wanted and not scorer_for(agent).policy.parts["stuck"]:
        return None  # what a verdict does not count any more is not asked about, and no verdict would end a yes
    names = ("problem", "session", "points", "threshold", "suggest", "invoke", "prompt", "brief")
    return [{name: shape[name] for name in names} for shape in thinking.shapes(wanted)] or None


def as_prompt(context: dict[str, Any]) -> str:
    """Return the parts as one text to put before the next cycle's prompt.

    Each line of a held text, and of a draft, starts with `| `, so that nothing in it can pass for ours.
    """
    sections = [context["intent"]["text"].strip()]
    if context["threads"]:
        sections.append(context["threads"]["text"])
    if context["thread_suggestion"]:
        sections.append(context["thread_suggestion"]["text"])
    for article in context["articles"] or ():
        sections.append("\n".join([article["ask"], *(f"| {line}" for line in article["text"].splitlines())]))
    if context["held"]:
        lines = ["<held>", context["instructions"]]
        for item in context["held"]:
            signals = ", ".join(signal["type"] for signal in item["hesitation"]["signals"])
            lines += [
                "",
                f"{item['id']} · {item['kind'].upper()} · version {item['version']} · "
                f"score {item['hesitation']['score']} ({signals}) · review due {item['review_due_at']}",
                *(f"| {line}" for line in item["text"].splitlines()),
            ]
        if context["held_more"]:
            lines += ["", "GET /api/v1/held/{id}: " + ", ".join(context["held_more"])]
        sections.append("\n".join([*lines, "</held>"]))
    if context["suggestion"]:
        sections.append(context["suggestion"])
    if context["confidence"]:
        sections.append(context["confidence"]["prompt"])
    if context["lessons"]:
        sections.append(context["lessons"]["text"])
    for problem in context["think_twice"] or ():
        asked = f"{_named(problem['session'], problem['problem'])}\n{problem['prompt']}".strip()
        sections.append(problem["brief"].strip() if problem["invoke"] else asked)
    for request in context["extensions"] or ():
        about = request["request"]
        sections.append(f"{_named(request['id'], about['session'], about['problem'])}\n{request['message']}")
    return "\n\n".join(section for section in sections if section) + "\n"


def _named(*names: str) -> str:
    return " · ".join(one_line(name) for name in names if name)
