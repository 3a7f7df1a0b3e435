"""The server that a tool's name is of, and whether a policy trusts it."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

_SERVER = re.compile(r"(?:mcp__)?(.+)(?:__|::|[/:#])[^/:#]", re.DOTALL)


def server_of(tool: str) -> str:
    """Give "github" of `mcp__github__list_issues` and `github:list_issues`; "" of a name without a server.

    What stands before the last separator, so that no server can take a trusted one's name for the beginning of its own.
    """
    found = _SERVER.match(tool)
    return found[1] if found and found[1] != "mcp" else ""


def is_trusted(tool: str, trusted: Sequence[str]) -> bool:
    """Tell whether the tool is of one of these servers, each a name with `*` for any characters."""
    server = server_of(tool)
    return bool(server) and any(fnmatchcase(server, name) for name in trusted)
