"""Write the audit log. Every call belongs inside the transaction that makes the change."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from metacog.db.prepared import new
from metacog.heuristics.text.tags import KINDS as WORDS
from metacog.heuristics.text.tags import QUESTION, TOOL_CALL
from metacog.models import Agent, AuditEvent, Team, User

# Set by the RequestId middleware; empty in commands and tasks.
request_id: ContextVar[str] = ContextVar("request_id", default="")

KINDS = (*WORDS, TOOL_CALL, QUESTION)
MOST_IDS = 100  # that the event of an import names
Actor = User | Agent | None  # None is the system itself


def event(
    action: str,
    object_id: str,
    *,
    actor: Actor,
    team: Team | int | None,
    agent: Agent | None = None,
    before: str = "",
    after: str = "",
    **data: Any,
) -> AuditEvent:
    """Return an event, unsaved, for callers that write several at once."""
    if isinstance(actor, User):
        kind, name = AuditEvent.Actor.PERSON, actor.get_username()
    elif isinstance(actor, Agent):
        kind, name = AuditEvent.Actor.AGENT, actor.name
    else:
        kind, name = AuditEvent.Actor.SYSTEM, ""
    return new(
        AuditEvent,
        team_id=team.pk if isinstance(team, Team) else team,
        agent_id=agent.pk if agent else None,
        actor_kind=kind,
        actor=name,
        action=action,
        object_id=object_id[:60],  # an imported pattern's may be longer
        before=before,
        after=after,
        data=data,
        request_id=request_id.get(),
    )


def of_item(kind: str, done: str) -> str:
    """Name what was done about an item; of a kind that is none of ours it is just an item."""
    return f"{kind if kind in KINDS else 'item'}-{done}"


def imported(what: str, added: Sequence[str], changed: Sequence[str], import_id: str, **rest: Any) -> None:
    """Write the one event of an import of `patterns`, `threads` or `lessons`; each row has its own, too."""
    counts = {"count": len(added) + len(changed), "new": len(added), "changed": len(changed)}
    record(f"{what}-imported", import_id, ids=[*added, *changed][:MOST_IDS], **counts, **rest)


def record(action: str, object_id: str, **rest: Any) -> None:
    """Write one event; see `event` for the arguments. `data` takes digests and counts, never texts."""
    event(action, object_id, **rest).save(force_insert=True)
