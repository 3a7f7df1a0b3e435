"""Read a call's arguments for the page: where its effects stand in them, and how its commands are laid out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from metacog.db.prepared import written_once
from metacog.heuristics.effects.calls.reader import Reader
from metacog.heuristics.effects.pointers import at, names_of
from metacog.heuristics.text.spans import Place
from metacog.heuristics.text.tags import ToolCall
from metacog.heuristics.tool_calls.gate import effect_part
from metacog.heuristics.tool_calls.laid_out import Line, of_shell, of_sql
from metacog.heuristics.tool_calls.pack import workspace_of
from metacog.heuristics.wire.assessment import EffectPart
from metacog.models import Policy
from reviews.held.grants import call_of
from reviews.models import AgentResponse, Decision, DecisionVerdict, HeldCall, HeldItem
from reviews.presentation.arguments import SQL, Known
from reviews.presentation.effects import marks


class Edited(NamedTuple):
    """A call as it was approved with edits, and what it would do."""

    call: ToolCall
    effects: list[EffectPart]


def edited_of(decisions: Iterable[Decision]) -> dict[int, Edited]:
    """Read the calls that these decisions edited, by the decision's key: two queries where there are any."""
    edits = [each.pk for each in decisions if each.verdict == DecisionVerdict.EDIT]
    if not edits:
        return {}
    rows = Decision.objects.filter(pk__in=edits, held__kind=HeldItem.Kind.TOOL_CALL)
    rows = rows.select_related("held__call", "held__response").defer("held__text", *_UNREAD)
    found = [each for each in rows if each.arguments is not None]  # they may be erased
    readers = readers_of(each.held.response for each in found)
    return {each.pk: _edited(each, readers) for each in found}


_UNREAD = [f"held__response__{name}" for name in ("body", "verdict", "history", "fingerprint")]


def _edited(decision: Decision, readers: Mapping[tuple[int, int], Reader]) -> Edited:
    call, response = call_of(decision.held, decision.arguments), decision.held.response
    reader = readers[response.agent_id, response.policy_version]
    reading = reader.read(call.name, call.arguments, schema=call.schema, description=call.description, hints=call.hints)
    return Edited(call, [*map(effect_part, reading.effects)])


def readers_of(responses: Iterable[AgentResponse]) -> dict[tuple[int, int], Reader]:
    """Return what reads calls as the policies of these responses say, by agent and version; one query."""
    wanted = {(each.agent_id, each.policy_version) for each in responses}
    if not wanted:
        return {}
    rows = _readers([*{agent for agent, _ in wanted}], [*{version for _, version in wanted}])
    return {
        (agent, version): Reader(readers=readers, programs=programs, workspace=workspace_of(packs), trusted=trusted)
        for agent, version, readers, programs, packs, trusted in rows
    }


@written_once
def _readers(agents: Any, versions: Any) -> QuerySet[Policy, tuple[int, int, Any, Any, Any, Any]]:
    rows = Policy.objects.filter(agent__in=agents, version__in=versions).order_by()
    return rows.values_list("agent", "version", "readers", "programs", "packs", "trusted_servers")


def reader_of(response: AgentResponse) -> Reader:
    return readers_of([response])[response.agent_id, response.policy_version]


def known_of(call: HeldCall | ToolCall, effects: Sequence[Mapping[str, Any]], reader: Reader) -> Known:
    """Return what is known of a call's arguments; nothing of a call from before there were effects."""
    found = marks(effects)
    return Known(found, _laid_out(call, found, reader)) if found else Known()


def _laid_out(call: HeldCall | ToolCall, marked: Iterable[str], reader: Reader) -> dict[str, list[Line]]:
    """Return the lines of the arguments that are commands or SQL, of those in which there are effects."""
    texts = {argument: at(call.arguments, names_of(argument) or ())[1] for argument in marked}
    lines = {argument: of_sql(text) for argument, text in texts.items() if _is_sql(text)}
    if any(isinstance(text, str) and argument not in lines for argument, text in texts.items()):
        commands: dict[str, list[Place]] = {}
        for each in reader.read(call.name, call.arguments, schema=call.schema, description=call.description).commands:
            commands.setdefault(each.argument, []).append((each.start, each.end))
        for argument, places in commands.items():
            if argument not in lines:
                lines[argument] = of_shell(texts.get(argument, ""), places)
    return {argument: found for argument, found in lines.items() if found}


def _is_sql(text: Any) -> bool:
    return isinstance(text, str) and SQL.match(text) is not None
