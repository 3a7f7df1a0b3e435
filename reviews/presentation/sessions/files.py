"""A whole session as a file: Markdown for people, JSON for programs. Its posts come with their secrets masked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from metacog.heuristics.tool_calls.secrets import masked, masked_text
from metacog.models import User
from patterns.serializers import instant
from reviews.models import AgentResponse, CallOutcome, Decision, DecisionVerdict
from reviews.presentation.highlight import show
from reviews.presentation.phrases import as_text, decided, signal_title
from reviews.presentation.sessions.line import DISPOSITIONS
from reviews.presentation.sessions.posts import Part, Post, posts_of
from reviews.records.sessions import Session

AT_ONCE = 100  # posts that are read together
_FENCE = re.compile(r"`{3,}")


def _posts(rows: QuerySet[AgentResponse, AgentResponse]) -> Iterator[Post]:
    page = list(rows[:AT_ONCE])
    while page:
        yield from posts_of(page)
        page = list(rows.filter(pk__gt=page[-1].pk)[:AT_ONCE])


# -- JSON ------------------------------------------------------------------------------------------


def as_json(session: Session) -> Iterator[str]:
    """Write one object whose `posts` are in order, one on a line."""
    about = {"agent": session.agent.name, "team": session.agent.team.name, "session": masked_text(session.name)}
    yield json.dumps(about, ensure_ascii=False)[:-1] + ', "posts": ['
    for number, post in enumerate(_posts(session.every())):
        yield (",\n" if number else "\n") + json.dumps(_of_post(post), ensure_ascii=False)
    yield "\n]}\n"


def _of_post(post: Post) -> dict[str, Any]:
    response = post.response
    return {
        "id": post.id,
        "at": instant(post.at),
        "cycle": response.cycle,
        "text": post.text,
        "user_message": post.user_message,
        "score": response.hesitation_score,
        "signals": list(post.signals),
        "problem": post.problem,
        "approach": post.approach,
        "command": post.command,
        "command_output": post.command_output,
        "failed": post.failed,
        "errors": list(post.errors),
        "looks_at": post.looks_at or None,
        "trace": post.trace.id if post.trace else None,
        "metadata": post.metadata,
        "items": [_of_part(part) for part in post.parts],
    }


def _of_part(part: Part) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": part.kind, "disposition": part.disposition}
    if part.is_call:
        told |= {"name": part.name, "call_id": part.call_id, "arguments": part.arguments}
        told |= {"effects": list(part.effect_names), "why": part.why}
    else:
        told |= {"text": part.text}
    told |= {"approved_earlier": part.earlier or None, "held": part.held.public_id if part.held else None}
    if part.held:
        told |= {
            "state": part.held.state,
            "held_at": instant(part.held.held_at),
            "decisions": [_of_decision(each) for each in part.decisions],
            "outcome": _of_outcome(part.outcome),
        }
    return told


def _of_decision(decision: Decision) -> dict[str, Any]:
    person = decision.person or decision.changed_by
    return {
        "verdict": decision.verdict,
        "by": decision.by,
        "decided_by": person.get_username() if person else None,
        "decided_at": instant(decision.decided_at),
        "undone_at": instant(decision.undone_at) if decision.undone_at else None,
        "reason": masked_text(decision.reason),
        "text": None if decision.text is None else masked_text(decision.text),
        "arguments": masked(decision.arguments),
        "answer": masked(decision.answer),
    }


def _of_outcome(outcome: CallOutcome | None) -> dict[str, Any] | None:
    if outcome is None:
        return None
    return {
        "status": outcome.status,
        "detail": masked_text(outcome.detail),
        "result": masked(outcome.result),
        "reported_at": instant(outcome.reported_at),
    }


# -- Markdown --------------------------------------------------------------------------------------


def as_markdown(session: Session, user: User) -> Iterator[str]:
    """Write it to be read: a section for each post, what agents said in fences, which no text of theirs ends."""
    name = masked_text(session.name)
    title = gettext("Session %(name)s") % {"name": _code(name)} if name else gettext("Responses without a session")
    yield f"# {title}\n\n{_plain(session.agent.name)} · {_plain(session.agent.team.name)}\n"
    for post in _posts(session.every()):
        yield "\n" + "\n\n".join(_sections(post, user)) + "\n"


def _sections(post: Post, user: User) -> Iterator[str]:
    head = f"## {timezone.localtime(post.at):%Y-%m-%d %H:%M:%S %Z}"
    if post.response.cycle is not None:
        head += " · " + gettext("cycle %(cycle)s") % {"cycle": post.response.cycle}
    yield head
    yield f"`{post.id}`" + (" · " + gettext("Trace") + f" {_code(post.trace.id)}" if post.trace else "")
    if post.user_message:
        yield gettext("User:") + "\n\n" + _fenced(post.user_message)
    if post.text:
        yield _fenced(post.text)
    if post.signals:
        signals = ", ".join(map(signal_title, post.signals))
        yield gettext("Signals: %(which)s (score %(score)s)") % {
            "which": signals,
            "score": post.response.hesitation_score,
        }
    if post.command:
        yield gettext("Command:") + " " + _code(post.command)
    if post.command_output:
        yield _fenced(post.command_output)
    for error in post.errors:
        yield gettext("Error:") + "\n\n" + _fenced(error)
    for part in post.parts:
        yield "\n".join(_of_item(part, user))


def _of_item(part: Part, user: User) -> Iterator[str]:
    state = str(part.held.get_state_display() if part.held else DISPOSITIONS[part.disposition][0])
    if part.is_call:
        yield f"- **{_code(part.name)}** {_code(part.text)} — {state}"
    else:
        yield f"- **{_plain(part.kind)}** {_code(part.text)} — {state}"
    if part.effects:
        yield f"  - {_plain(part.effects)}"
    if part.why:
        yield f"  - {_plain(part.why)}"
    for decision in part.decisions:
        told = _plain(f"{decided(decision, user)}, {timezone.localtime(decision.decided_at):%Y-%m-%d %H:%M:%S}")
        if decision.undone_at:
            told += " " + gettext("and undone")
        if (released := _released(decision)) is not None:
            told += ": " + _code(released)
        yield f"  - {told}"
        if does := part.edited.get(decision.pk):
            yield f"    - {_plain(does)}"
        if decision.reason:
            yield f"    - {_plain(masked_text(decision.reason))}"
    if outcome := part.outcome:
        detail = f": {_plain(masked_text(outcome.detail))}" if outcome.detail else ""
        yield f"  - {outcome.get_status_display()}, {timezone.localtime(outcome.reported_at):%Y-%m-%d %H:%M:%S}{detail}"


def _released(decision: Decision) -> str | None:
    """Return what a decision put in place of what was asked for, or answered; None where it was neither."""
    if decision.verdict == DecisionVerdict.ANSWER:
        return as_text(masked(decision.answer))
    if decision.verdict != DecisionVerdict.EDIT:
        return None
    return as_text(masked(decision.arguments)) if decision.text is None else masked_text(decision.text)


def _seen(text: str) -> str:
    return str(show(text, is_revealed=True))


def _fenced(text: str) -> str:
    longest = max((len(found[0]) for found in _FENCE.finditer(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{_seen(text)}\n{fence}"


def _code(text: str) -> str:
    """Write a text on one line as code, whatever backquotes it has."""
    line = " ".join(_seen(text).split())
    ticks = "`" * (max((len(found) for found in re.findall("`+", line)), default=0) + 1)
    pad = " " if line[:1] == "`" or line[-1:] == "`" or not line else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


_MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~&]|^(?:[-+]|\d+(?=[.)]))")


def _plain(text: str) -> str:
    """Write a text on one line, in which nothing is mark-up."""
    line = " ".join(_seen(text).split())
    return _MARKUP.sub(lambda found: f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}", line)
