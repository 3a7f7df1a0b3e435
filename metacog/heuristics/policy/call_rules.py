"""The rules on tool calls that a policy has: those of its agent's team, its own, then those of its packs."""

from ..effects.calls.reader import Reader
from ..tool_calls.pack import unfolded, workspace_of
from ..tool_calls.rules import Rules
from .policy import Policy


def rules_of(policy: Policy) -> Rules:
    """Build what decides about tool calls under a policy."""
    trusted = policy.trusted_servers
    reader = Reader(
        readers=policy.readers,
        programs=policy.programs,
        workspace=workspace_of(policy.packs),
        trusted=trusted,
    )
    rules = [*policy.team_rules, *policy.rules, *unfolded(policy.packs)]
    return Rules(rules, policy.default_tool_call, reader=reader, trusted=trusted)
