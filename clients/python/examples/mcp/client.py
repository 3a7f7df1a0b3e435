"""An MCP client that knows nothing of metacog either: it wants two transfers of the bank behind the proxy.

    export METACOG_URL=http://127.0.0.1:8000 METACOG_API_KEY=…
    python client.py

Decide them in the queue, whose address is printed. Killed while it waits and started again, it goes on with the same
held items.
"""

import asyncio
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

SERVER = str(Path(__file__).with_name("bank.py"))
BANK = StdioServerParameters(
    command=sys.executable,
    args=["-m", "metacog_client", "mcp-proxy", "--name", "bank", "--wait", "3600", "--", sys.executable, SERVER],
    env=dict(os.environ),
)


async def wait(progress: float, total: float | None, message: str | None) -> None:
    if not progress:
        print(message, flush=True)


async def main() -> None:
    async with Client(BANK) as client:
        for arguments in ({"to": "DE89 3704", "eur": 20}, {"to": "DE89 3704", "eur": 900}):
            result = await client.call_tool("transfer", arguments, progress_callback=wait)
            for content in result.content:
                print(f"{'error' if result.is_error else 'done'}: {getattr(content, 'text', '')}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
