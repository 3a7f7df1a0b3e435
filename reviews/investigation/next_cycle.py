"""What an agent's next cycle should read: where it was heading, and what was held (seeds 000 and 001)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC
from itertools import islice
from typing import Any, TypedDict

from django.db.models import Exists, F, Q
from django.db.models.functions import Length
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from metacog import heuristics
from metacog.heuristics.memory.threads import within_budget
from metacog.heuristics.tool_calls.secrets import masked_call
from metacog.heuristics.wire.assessment import ConfidencePart, HesitationPart
from metacog.models import Agent, AgentState
from patterns import stuck_state
from patterns.lessons import lessons
from patterns.memory import memory
from patterns.models import Memory, Problem, ThinkTwice, ThoughtThread
from patterns.patterns.scorer import scorer_shown
from patterns.serializers import one_line
from patterns.threads import texts as thread_texts
from reviews.investigation import texts as extension_texts
from reviews.investigation import told
from reviews.models import AgentResponse, DecisionVerdict, HeldCall, HeldItem
from reviews.serializers import HeldShape, held_shape

HELD_BUDGET = 40_000  # characters of held texts; whole items or none, the rest is named
HELD_MOST = 100
CALL_SHOWN = 2_000  # characters of a held tool call's arguments: its agent cannot release it, so need not read it again
THINK_TWICE_MOST = 3
ARTICLES_MOST = 3
RECENT = 5  # responses and cycles whose words call for lessons and memories
MEMORY_BUDGET = 4_000  # characters; the longest memory fits
MATCHES_MOST = 5  # words of a signal
MATCH_LENGTH = 60
UNKNOWN = "unknown"  # how the intent calls the mode of a response that gave none


class Text(TypedDict):
    text: str


class Threads(Text):
    items: list[thread_texts.ThreadShape]


class Memories(Text):
    items: list[memory.MemoryShape]


class Lesson(Text):
    id: str
    topics: list[str]
    matches: list[str]


class Lessons(Text):
    items: list[Lesson]


class Suggested(Text):
    """A topic that may become a thought thread."""

    topic: str
    cycles: int


class Article(Text):
    thread: str
    ask: str


class Reason(TypedDict):
    """A signal, and the words it found."""

    type: str
    detail: str
    matched: list[str]


class Stuck(TypedDict):
    """A problem about which somebody should be asked, or has said yes."""

    problem: str
    session: str
    points: int
    threshold: int
    suggest: bool
    invoke: bool
    prompt: str
    brief: str


class Context(TypedDict):
    """The parts of the context; one that is not built or has nothing to say is None."""

    intent: Text
    threads: Threads | None
    thread_suggestion: Suggested | None
    articles: list[Article] | None
    decided: list[told.ToldDecision]
    decided_more: told.LeftOut | None
    held: list[HeldShape]
    held_more: list[str]
    suggestion: str | None
    signals: list[Reason] | None
    confidence: ConfidencePart | None
    lessons: Lessons | None
    memory: Memories | None
    think_twice: list[Stuck] | None
    extensions: list[extension_texts.ExtensionShape] | None
    extensions_more: bool
    instructions: str | None


def parts(agent: Agent, *, is_given: bool = True, instructs: bool = True) -> Context:
    """Return what the next cycle should read.

    Held words are never cut: what no longer fits is listed by id in `held_more`. Of a held tool call it is told how its
    arguments begin. What was decided is told until the agent's next response (reviews/investigation/told.py). Where it
    is not given to the agent, but looked at by a person, nothing is written, and secrets in held calls are masked.
    `instructs` says whether it is told how to decide what is held: not everybody who reads it can.
    """
    with translation.override(agent.language):
        remembers = Exists(Memory.objects.filter(team=agent.team_id, state=Memory.State.CONFIRMED))
        state = AgentState.objects.annotate(remembers=remembers).get(pk=agent.pk)
        threads, articles = _threads(agent, state, is_given)
        suggested = thread_texts.suggestion(agent, state)
        decided, decided_more = told.decided(agent, state, is_given=is_given)
        held, more = _held(agent, is_given)
        response = AgentResponse.latest_of(agent).posted().only("verdict", "excerpt").first()
        last = response.wire_verdict() if response else None  # its hint and its confidence are for the next cycle
        hesitation = last and last["hesitation"]
        requests, has_more_requests = told.requests(agent, state)
        context: Context = {
            "intent": {"text": _intent(state.intent)},
            "threads": threads,
            "thread_suggestion": {"topic": suggested.topic, "cycles": suggested.cycles, "text": str(suggested)}
            if suggested
            else None,
            "articles": articles,
            "decided": decided,
            "decided_more": decided_more,
            "held": held,
            "held_more": more,
            "suggestion": (hesitation and hesitation["suggestion"]) or None,
            "signals": (hesitation and _signals(hesitation)) or None,
            "confidence": last and last["confidence"],
            "lessons": _lessons(agent, state, is_given),
            "memory": _memory(agent, state, response.excerpt if response else "") if state.remembers else None,
            "think_twice": _think_twice(agent),
            "extensions": extension_texts.shapes(agent, requests) if requests else None,
            "extensions_more": has_more_requests,
            "instructions": _instructions(agent, held) if held and instructs else None,
        }
        if is_given:
            told.give(agent, state, requests)
        return context


def _intent(intent: Mapping[str, Any] | None) -> str:
    """Return the continuous intent in the seed's words, each thing on one line, without what nobody said."""
    if intent is None:
        return ""
    action, thread, streak = one_line(intent["lastAction"] or ""), intent["activeThread"], intent["streak"]
    said = {
        "lastMode": one_line(intent["lastMode"]),
        "lastAction": action,
        "activeThread": thread and one_line(thread),
        "streak": streak and {**streak, "mode": one_line(streak["mode"])},
        "recentModes": list(map(one_line, intent["recentModes"])),
    }
    head, *lines = heuristics.format_intent(said).strip().split("\n")
    if intent["lastMode"] == UNKNOWN:
        lines[:1] = [f"Last cycle: {action}"] if action else []
    lines = [line for line in lines if not line.startswith(f"Recent pattern: mostly {UNKNOWN} (")]
    return "\n".join(["\n", head, *lines]) if lines else ""


def _signals(hesitation: HesitationPart) -> list[Reason]:
    """Return why a text was hesitated about, with the words that each signal found there; a hint is no reason."""
    return [
        {
            "type": signal["type"],
            "detail": signal["detail"],
            "matched": list(dict.fromkeys(one_line(span["text"]) for span in signal["spans"]))[:MATCHES_MOST],
        }
        for signal in hesitation["signals"]
        if signal["weight"]
    ]


def _instructions(agent: Agent, held: list[HeldShape]) -> str:
    """Say what to do with what is held, and what would be refused: this stands there before anything is tried."""
    release = scorer_shown(agent).policy.release
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
            _(
                "Approve and edit are taken once you have posted the response of a later cycle, or from the time of "
                "the item's second look."
            )
        )
    if theirs := [kind.upper() for kind, by in kinds.items() if by != "agent"]:
        lines.append(
            _("%(kinds)s: only a person approves or edits. You may reject or withdraw.")
            % {"kinds": pgettext("list", ", ").join(theirs)}
        )
    return "\n".join(lines)


def _threads(agent: Agent, state: AgentState, is_given: bool) -> tuple[Threads | None, list[Article] | None]:
    """Return the active threads, and the articles that resolved ones propose.

    An article is given from the first context after its thread was resolved until the agent's next response.
    """
    unread = Q(article_until=ThoughtThread.ARTICLE_UNREAD)
    wanted = Q(state=ThoughtThread.State.ACTIVE) | unread | Q(article_until=state.responses)
    rows = list(
        ThoughtThread.objects.filter(wanted, agent=agent).select_related("agent").order_by("-touched_at", "-id")
    )
    active = [row for row in rows if row.state == ThoughtThread.State.ACTIVE]
    resolved = [row for row in rows if row.state == ThoughtThread.State.RESOLVED][:ARTICLES_MOST]
    threads: Threads | None = None
    articles: list[Article] | None = None
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


def _held(agent: Agent, is_given: bool) -> tuple[list[HeldShape], list[str]]:
    waiting = HeldItem.objects.filter(agent=agent, closed_at=None).order_by("review_due_at", "id")
    shown: list[int] = []
    more: list[str] = []
    left = HELD_BUDGET
    for key, public_id, kind, length in waiting.values_list("pk", "public_id", "kind", Length("text"))[:HELD_MOST]:
        left -= min(length, CALL_SHOWN) if kind == HeldItem.Kind.TOOL_CALL else length
        # The first is always there: a long text must not hide itself for ever.
        if not shown or left >= 0:
            shown.append(key)
        else:
            more.append(public_id)
    rows = (
        waiting.filter(pk__in=shown)
        .select_related("response", "call__outcome", "question", "terms")
        .defer("response__body", "response__history")
    )
    items = [held_shape(row) for row in rows] if shown else []
    for item in items:
        if item["kind"] == HeldItem.Kind.TOOL_CALL:
            _cut(item, is_given)
    return items, more


def _cut(call: HeldShape, is_given: bool) -> None:
    """Leave of a held tool call its name and how its arguments begin; `GET /held/{id}` has the rest."""
    text = call["text"] if is_given else masked_call(call["text"])
    most = len(call["name"]) + 1 + CALL_SHOWN
    call["schema"] = None
    if len(text) > most:
        left_out = ngettext("… %(count)s more character", "… %(count)s more characters", len(text) - most)
        text = text[:most] + left_out % {"count": f"{len(text) - most:,}"}
        call["arguments"] = None
        for signal in call["hesitation"]["signals"] if call["hesitation"] else ():
            signal["spans"] = signal["spans"][:MATCHES_MOST]
    call["text"] = text


def _memory(agent: Agent, state: AgentState, said: str) -> Memories | None:
    """Return what the team remembers of the agent's topics and of its last response, with how long ago it was.

    The oldest first; where it would be longer than MEMORY_BUDGET, they are left out first.
    """
    topics = list(dict.fromkeys(topic for _number, topics in state.cycles[-RECENT:] for topic in topics))
    rows = sorted(memory.of_topics(agent.team_id, topics, said), key=lambda row: (row.created_at, row.pk))
    if not rows:
        return None
    now, clashes = timezone.now(), memory.clashes(rows)
    lines = [heuristics.temporal_markers(_remembered(row, disputed=bool(clashes[row.pk])), now) for row in rows]
    kept = within_budget(lines, MEMORY_BUDGET)
    opening = _("What your team remembers about your topics, oldest first:")
    return {
        "text": "\n".join(["<memory>", opening, *kept, "</memory>"]),
        "items": [memory.shape(row, clashes[row.pk]) for row in rows[len(rows) - len(kept) :]],
    }


def _remembered(row: Memory, *, disputed: bool) -> str:
    topic = f"{row.topic}: " if row.topic else ""
    source = f" ({row.source})" if row.source else ""
    doubt = " " + _("(Another memory says otherwise; nobody has settled it.)") if disputed else ""
    return "| " + one_line(f"[{row.created_at.astimezone(UTC).date()}] {topic}{row.text}{source}{doubt}")


def _lessons(agent: Agent, state: AgentState, is_given: bool) -> Lessons | None:
    """Return what was learnt and confirmed: what the latest responses and topics call for comes first."""

    def recent() -> list[str]:
        texts = AgentResponse.latest_of(agent).posted().values_list("excerpt", flat=True)[:RECENT]
        return [*texts, *(topic for _number, topics in state.cycles[-RECENT:] for topic in topics)]

    chosen = (lessons.give if is_given else lessons.chosen)(agent, recent)
    if not chosen:
        return None
    opening = _("Lessons learned, each confirmed by a person. Keep to those that fit:")
    return {
        "text": "\n".join(["<lessons>", opening, *(f"- {lesson.text}" for lesson, _matches in chosen), "</lessons>"]),
        "items": [
            {"id": lesson.id, "text": lesson.text, "topics": list(lesson.topics), "matches": list(matches)}
            for lesson, matches in chosen
        ],
    }


def _think_twice(agent: Agent) -> list[Stuck] | None:
    """Return the problems about which somebody should be asked, and those to which somebody has said yes."""
    # A yes, from the console or brought by the agent, until the next response about the problem.
    is_told = Q(think_twice__answer=ThinkTwice.Answer.YES, think_twice__answered_at__gte=F("touched_at"))
    rows = Problem.objects.filter(Q(suggests=True) | is_told, agent=agent).distinct().order_by("-touched_at", "-id")
    # By the policy of now: that may have changed since somebody was to be asked.
    looked = ((row, stuck_state.assess(row)) for row in rows.select_related("agent__team"))
    wanted = list(islice((row for row, found in looked if found.suggest or found.invoke), THINK_TWICE_MOST))
    if wanted and not scorer_shown(agent).policy.parts["stuck"]:
        return None  # what a verdict does not count any more is not asked about, and no verdict would end a yes
    return [
        {
            "problem": shape["problem"],
            "session": shape["session"],
            "points": shape["points"],
            "threshold": shape["threshold"],
            "suggest": shape["suggest"],
            "invoke": shape["invoke"],
            "prompt": shape["prompt"],
            "brief": shape["brief"],
        }
        for shape in stuck_state.shapes(wanted)
    ] or None


def as_prompt(context: Context, language: str) -> str:
    """Return the parts as one text, in the agent's language, to put before the next cycle's prompt.

    Each line that somebody else wrote, held texts and drafts among them, starts with `| `, so that nothing in it can
    pass for ours.
    """
    with translation.override(language):
        return "\n\n".join(filter(None, _sections(context))) + "\n"


def _sections(context: Context) -> Iterator[str]:
    yield context["intent"]["text"].strip()
    if context["threads"]:
        yield context["threads"]["text"]
    if context["thread_suggestion"]:
        yield context["thread_suggestion"]["text"]
    for article in context["articles"] or ():
        yield "\n".join([article["ask"], *_quoted(article["text"])])
    if context["decided"]:
        yield _decided_section(context["decided"], context["decided_more"])
    if context["held"]:
        yield _held_section(context)
    if context["suggestion"]:
        yield "\n".join([context["suggestion"], *_reasons(context["signals"] or ())])
    if context["confidence"]:
        yield context["confidence"]["prompt"]
    if context["lessons"]:
        yield context["lessons"]["text"]
    if context["memory"]:
        yield context["memory"]["text"]
    for problem in context["think_twice"] or ():
        suggested = f"{_named(problem['session'], problem['problem'])}\n{problem['prompt']}".strip()
        yield problem["brief"].strip() if problem["invoke"] else suggested
    for request in context["extensions"] or ():
        about = request["request"]
        named = _named(request["id"], about["session"], about["problem"])
        asked = [_("You asked because:"), *_quoted(about["reason"])] if about["reason"] else []
        yield "\n".join([named, request["message"], *asked])
    if context["extensions_more"]:
        yield _("More extension requests: GET /api/v1/extensions")


def _decided_section(decided: Sequence[told.ToldDecision], more: told.LeftOut | None) -> str:
    outcomes = {
        DecisionVerdict.REJECT: _("Rejected: it was not released. Do not use it."),
        DecisionVerdict.EDIT: _("Edited: this text was released in place of yours:"),
        DecisionVerdict.ANSWER: _("Answered, as JSON:"),
        DecisionVerdict.APPROVE: _("Approved: it was released as you wrote it."),
        DecisionVerdict.WITHDRAW: _("Withdrawn: it was not released."),
        DecisionVerdict.EXPIRE: _("Expired: nobody decided in time, so it was not released."),
    }
    lines = ["<decided>", _("What was decided about your items since your last cycle, oldest first:")]
    for item in decided:
        lines += [
            "",
            f"{item['held']} · {item['kind'].upper()} · {item['verdict']} · by {item['by']} · seq {item['seq']}",
        ]
        lines.append(outcomes[DecisionVerdict(item["verdict"])])
        if item["text"] is not None:
            lines += _quoted(item["text"]) or ["| "]
        if item["permission"] == HeldCall.Permission.USED:
            lines.append(_("This approval is used up: do not make the call for it again."))
        if item["reason"].strip():
            lines += [_("Reason:"), *_quoted(item["reason"])]
        if item["excerpt"] and item["kind"] == HeldItem.Kind.QUESTION:
            lines += [_("You asked:"), *_quoted(item["excerpt"])]
        elif item["excerpt"]:
            approved = item["verdict"] == DecisionVerdict.APPROVE
            lines.append(_("Your text began:") if approved else _("Your text, which was not released, began:"))
            lines += _quoted(item["excerpt"])
    if more:
        left_out = ngettext(
            "%(count)d earlier decision is not listed here:",
            "%(count)d earlier decisions are not listed here:",
            more["count"],
        )
        lines += ["", f"{left_out % more} GET /api/v1/decisions?after={more['after']}"]
    return "\n".join([*lines, "</decided>"])


def _held_section(context: Context) -> str:
    named: dict[str, str] = {
        HeldItem.Kind.TOOL_CALL: _("The held tool call:"),
        HeldItem.Kind.QUESTION: _("Your question to a person:"),
    }
    lines = ["<held>", context["instructions"] or _("These items of yours are held and have not been carried out.")]
    for item in context["held"]:
        hesitation = item["hesitation"]
        lines += [
            "",
            f"{item['id']} · {item['kind'].upper()} · {item['state']} · version {item['version']} · "
            + (f"score {hesitation['score']} · " if hesitation else "")
            + f"second look at {item['review_due_at']}",
            *(_reasons(_signals(hesitation)) if hesitation else ()),
            named.get(item["kind"], _("The held text:")),
            *_quoted(item["text"]),
        ]
        if item["waits_for"]:
            told = _("It waits for tool calls, and goes out once all are approved:")
            lines.append(f"{told} {', '.join(item['waits_for'])}")
    if context["held_more"]:
        lines += ["", "GET /api/v1/held/{id}: " + ", ".join(context["held_more"])]
    return "\n".join([*lines, "</held>"])


def _reasons(signals: Iterable[Reason]) -> list[str]:
    """Return a line for each signal: what it says, and the words it found."""
    lines = []
    for signal in signals:
        words = ", ".join(f"“{word[:MATCH_LENGTH]}”" for word in signal["matched"] if word)
        lines.append(one_line(f"| {signal['detail']} ({words})" if words else f"| {signal['detail']}"))
    return lines


def _quoted(text: str) -> list[str]:
    return [f"| {line}" for line in text.splitlines()]


def _named(*names: str) -> str:
    return " · ".join(one_line(name) for name in names if name)
