"""What a server asks the user in the middle of its work (elicitation), answered by people in metacog.

So it is where the client cannot ask anybody, and where whoever starts the proxy wants it so. Forms only: a page that
the user is to open (`mode: url`) is none of theirs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from ..async_client import AsyncClient
from ..errors import MetacogError, NotAnswered
from ..journal import Journal, key_of
from . import wire

CREATE = "elicitation/create"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"  # in `_meta` of each request from 2026-07-28 on
MAX_ROUNDS = 10  # of questions in the middle of one call
# What a server is told where nobody has answered: a person's no is another thing than nobody's yes.
DECLINED, CANCELLED = {"action": "decline"}, {"action": "cancel"}


@dataclass(frozen=True)
class People:
    """Whom a server's questions are put to; `always`: although the client could ask its user."""

    client: AsyncClient
    journal: Journal
    session: str
    server: str
    wait: float
    always: bool = False

    def takes_over(self, capabilities: Any) -> bool:
        """Say whether questions are for people, by what the client can do."""
        return (
            self.always or not isinstance(capabilities, dict) or not isinstance(capabilities.get("elicitation"), dict)
        )

    async def answer(self, params: Any) -> wire.Message:
        """Ask people, and give the result of an elicitation."""
        message, schema = params.get("message"), params.get("requestedSchema")
        key = key_of(self.client.url, self.session, self.server, wire.canonical([CREATE, message, schema]))
        call_id = self.journal.open(key)
        try:
            answer = await self.client.ask(
                str(message),
                schema=schema if isinstance(schema, dict) else {"type": "object"},
                call_id=call_id,
                session=self.session,
                metadata={"via": "mcp-proxy", "server": self.server[:200]},
                deadline=self.wait,
            )
        except NotAnswered as none:
            if none.verdict != "pending":
                self.journal.settle(key, call_id)
            return DECLINED if none.verdict == "reject" else CANCELLED
        except MetacogError as error:
            print(f"metacog mcp-proxy: people could not be asked: {error}", file=sys.stderr)
            return CANCELLED
        if not self.journal.settle(key, call_id):
            return await self.answer(params)  # the same was asked at the same time: this is the answer to that
        return {"action": "accept", "content": answer}


def is_form(request: Any) -> bool:
    """Say whether this is a question with a form."""
    params = request.get("params") if isinstance(request, dict) and request.get("method") == CREATE else None
    return isinstance(params, dict) and params.get("mode", "form") == "form" and isinstance(params.get("message"), str)


def forms_in(result: wire.Message) -> dict[str, Any] | None:
    """Give the questions that a server has before it goes on with a call; None where it wants anything else, too."""
    asked = result.get("inputRequests")
    if not isinstance(asked, dict) or not asked or not all(map(is_form, asked.values())):
        return None
    return asked


def with_elicitation(capabilities: Any) -> wire.Message:
    own = capabilities if isinstance(capabilities, dict) else {}
    return {**own, "elicitation": {"form": {}}}
