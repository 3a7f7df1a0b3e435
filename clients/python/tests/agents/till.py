"""An MCP server over standard input with one tool, `refund`, that writes what it did into the file that is its word."""

import json
import sys

SCHEMA = {"type": "object", "properties": {"eur": {"type": "number"}}, "required": ["eur"]}
TOOL = {"name": "refund", "description": "Refund an order.", "inputSchema": SCHEMA}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        method = asked.get("method")
        if method == "initialize":
            version = asked["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}}
            result["serverInfo"] = {"name": "till", "version": "1"}
        elif method == "tools/list":
            result = {"tools": [TOOL]}
        elif method == "tools/call":
            with open(sys.argv[1], "a") as file:
                file.write(json.dumps(asked["params"]["arguments"]))
            result = {"content": [{"type": "text", "text": "Refunded."}]}
        else:
            result = {}
        if "id" in asked:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}) + "\n")
            sys.stdout.flush()


main()
