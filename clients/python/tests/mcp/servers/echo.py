"""An MCP server without a library: it writes down each line that comes, and answers with what it was sent.

What it is asked to `test/say` it says, whatever it is. Everything that it received is in the file that it is given.
Its list of tools has two pages; `echo.py FILE refused` lists none, and `echo.py FILE endless` has always one page more.
"""

import json
import os
import sys
from pathlib import Path

SAYS = os.environ.get("ECHO_SAYS", "Send money")
SCHEMA = {"type": "object", "properties": {"eur": {"type": "number", "maximum": 500}}}
TOOLS = [
    {"name": "transfer", "description": SAYS, "inputSchema": SCHEMA, "annotations": {"readOnlyHint": False}},
    {"name": "look", "description": "Read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
]


LISTING = sys.argv[2] if len(sys.argv) > 2 else "whole"


def say(message: object) -> None:
    print(message if isinstance(message, str) else json.dumps(message), flush=True)


with Path(sys.argv[1]).open("ab", buffering=0) as received:
    for line in sys.stdin.buffer:
        received.write(line)
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if method == "test/say":
            for each in params["messages"]:
                say(each)
        if "id" not in message or method is None:
            continue
        if method == "test/fail" or (method == "tools/list" and LISTING == "refused"):
            say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32001, "message": "No.", "data": [1, None]}})
        elif method == "tools/list" and LISTING == "endless":
            say({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [], "nextCursor": "1"}})
        elif method == "tools/list":
            # A page each, so that whoever reads them reads on.
            at = int(params.get("cursor", 0))
            more = {"nextCursor": str(at + 1)} if at + 1 < len(TOOLS) else {}
            say({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": TOOLS[at : at + 1], **more}})
        elif method == "test/end":
            sys.exit(7)
        else:
            content = [{"type": "text", "text": "done"}]
            say({"jsonrpc": "2.0", "id": message["id"], "result": {"content": content, "echo": message, "é": "\u2028"}})
