"""The rules on tool calls that a policy has: its own, then those of its packs."""

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
    return Rules([*policy.rules, *unfolded(policy.packs)], policy.default_tool_call, reader=reader, trusted=trusted)
