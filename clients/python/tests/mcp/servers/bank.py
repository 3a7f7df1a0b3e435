"""An MCP server made with the SDK: a bank whose transfers are lines of a file.

`bank.py LEDGER` is spoken to by standard input and output, `bank.py LEDGER PORT` by streamable HTTP.
"""

# No `from __future__ import annotations`: the SDK makes schemas of them.
import asyncio
import json
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import SamplingMessage, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

warnings.simplefilter("ignore")  # what the newest protocol no longer has is still tried with the one before

LEDGER = Path(sys.argv[1])
bank = MCPServer("bank", instructions="Be careful with money.", version="1.2")


class Receipt(BaseModel):
    number: int
    eur: int


class Sure(BaseModel):
    sure: bool


def write(**entry: Any) -> int:
    with LEDGER.open("a") as ledger:
        ledger.write(json.dumps(entry) + "\n")
    return len(LEDGER.read_text().splitlines())


@bank.tool(annotations=ToolAnnotations(destructive_hint=True))
async def transfer(
    eur: Annotated[int, Field(le=500, json_schema_extra={"x-mcp-header": "Eur"})] = 0,
    to: Annotated[str, Field(json_schema_extra={"x-mcp-header": "To"})] = "",
) -> Receipt:
    """Send money to an account."""
    return Receipt(number=write(tool="transfer", eur=eur, to=to), eur=eur)


@bank.tool(annotations=ToolAnnotations(read_only_hint=True))
def balance() -> str:
    """Tell what is left."""
    write(tool="balance")
    return "12 EUR"


@bank.tool()
async def slowly(ctx: Context[Any, Any]) -> str:
    """Take a while, and say so."""
    write(tool="slowly")
    try:
        for step in (1, 2, 3):
            await ctx.report_progress(step, 3, f"step {step}")
        await ctx.info({"step": "done"}, logger_name="bank")
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        write(tool="slowly", cancelled=True)
        raise
    return "done"


@bank.tool()
async def ask_back(ctx: Context[Any, Any]) -> str:
    """Ask the client for all that a server may ask it for."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text="How are you?"))
    sampled = await ctx.session.create_message([message], max_tokens=10)
    elicited = await ctx.elicit("Are you sure?", Sure)
    roots = await ctx.session.list_roots()
    await ctx.report_progress(1, 1)
    await ctx.info("asked", logger_name="bank")
    await ctx.session.send_tool_list_changed()
    # The tests' client answers with a text and with what was asked for; the SDK's types allow more.
    answer = [sampled.content.text, elicited.data.sure, [str(root.uri) for root in roots.roots]]  # type: ignore[union-attr]
    return json.dumps(answer)


def is_sure(account: str) -> Elicit[Sure]:
    return Elicit(f"Close {account}?", Sure)


@bank.tool()
def close_account(account: str, answer: Annotated[Sure, Resolve(is_sure)]) -> str:
    """Close an account, after the user was asked."""
    write(tool="close_account", account=account, sure=answer.sure)
    return "closed" if answer.sure else "left open"


@bank.tool()
def overdraw(eur: int) -> str:
    """Take more than there is."""
    raise ToolError("There is not enough.")


@bank.resource("bank://terms")
def terms() -> str:
    return "Money is money."


@bank.resource("bank://account/{number}")
def account(number: str) -> str:
    return f"Account {number}"


@bank.prompt()
def reminder(name: str) -> str:
    """Remind somebody."""
    return f"Dear {name}, pay."


@bank.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Any:
    from mcp_types import Completion

    return Completion(values=[f"{argument.value}a", f"{argument.value}b"], total=2, has_more=False)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        bank.run("streamable-http", port=int(sys.argv[2]))
    else:
        bank.run("stdio")
