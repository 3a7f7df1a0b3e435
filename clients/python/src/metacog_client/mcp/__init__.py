"""metacog for MCP clients: `metacog mcp` serves its tools, `metacog mcp-proxy` stands before another server's."""

from __future__ import annotations


def main(arguments: list[str]) -> int:
    """Run `metacog mcp`; the SDK is imported only then."""
    from .serving import main as serve

    return serve(arguments)
