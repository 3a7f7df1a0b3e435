"""An MCP server that knows nothing of metacog: a bank that prints its transfers.

Behind the proxy it is started by `metacog mcp-proxy --name bank -- python bank.py`; it needs the package mcp.
"""

import sys

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

bank = MCPServer("bank")


@bank.tool(annotations=ToolAnnotations(destructive_hint=True))
def transfer(to: str, eur: float) -> str:
    """Send money to an account."""
    print(f"The bank sends {eur:g} EUR to {to}.", file=sys.stderr, flush=True)
    return f"{eur:g} EUR are on their way to {to}."


if __name__ == "__main__":
    bank.run("stdio")
