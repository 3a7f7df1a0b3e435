"""`metacog mcp-plugin`: metacog as ContextForge's external plugin, which that starts as a process of its own.

ContextForge sends an MCP server at an address no key, so it is spoken to by its pipes; metacog answers each message.
"""

from __future__ import annotations

import argparse
import sys

from ..client import Client
from ..errors import MetacogError, Refused
from . import wire

UNREADABLE = 422
RETRY_SECONDS = 5.0  # well below the half minute that ContextForge gives a plugin


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="metacog mcp-plugin",
        description="Answers ContextForge's hook tool_pre_invoke, by standard input and output. Reads METACOG_URL and "
        "METACOG_API_KEY. What cannot be asked about is refused.",
    )
    parser.parse_args(arguments)
    try:
        with Client(retry_seconds=RETRY_SECONDS) as client:
            for line in sys.stdin.buffer:
                if line.strip() and (answer := _answer(client, line)):
                    sys.stdout.buffer.write(wire.write(answer))
                    sys.stdout.buffer.flush()
    except MetacogError as error:
        print(f"metacog mcp-plugin: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _answer(client: Client, line: bytes) -> wire.Message | None:
    """Answer one message; a notification has no answer."""
    said = wire.id_in(line)
    try:
        message = wire.read(line)
        if said is None:
            return None
        answer: wire.Message = client.call("POST", "/guard/contextforge", message)
    except wire.Unclear as error:
        return wire.error(said, wire.INVALID_REQUEST, str(error))
    except MetacogError as error:
        is_unknown = isinstance(error, Refused) and error.status == UNREADABLE
        return wire.error(said, wire.METHOD_NOT_FOUND if is_unknown else wire.INTERNAL_ERROR, str(error))
    return answer
