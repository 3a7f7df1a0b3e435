"""`metacog-client COMMAND …`; each is imported only when it is called, since a hook has to be quick."""

from __future__ import annotations

import sys
from importlib import import_module

COMMANDS = {"hook": ".hooks", "mcp": ".mcp", "mcp-plugin": ".mcp.plugin", "mcp-proxy": ".mcp.proxy"}


def run(command: str, arguments: list[str]) -> int:
    module = import_module(COMMANDS[command], __package__)
    status: int = module.main(arguments)
    return status


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: metacog-client {'|'.join(COMMANDS)} …")
    sys.exit(run(sys.argv[1], sys.argv[2:]))


if __name__ == "__main__":
    main()
