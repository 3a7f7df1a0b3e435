"""What a server asks the user in the middle of its work (elicitation), answered by people in metacog.

So it is where the agent's policy says so, or whoever starts the proxy. Forms only: a page that the user is to open
(`mode: url`) is none of theirs.
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass
from typing import Any, Literal

from ..async_client import AsyncClient
from ..errors import MetacogError, NotAnswered, Refused
from ..journal import Journal, key_of
from . import wire

CREATE = "elicitation/create"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"  # in `_meta` of each request from 2026-07-28 on
MAX_ROUNDS = 10  # of questions in the middle of one call
POLICY_SECONDS = 5.0  # in which the policy is to be read
KNOWN_SECONDS = 30.0  # after which it is read again
FAILED_SECONDS = 5.0  # after which it is read again where it could not be: a server's messages wait meanwhile
# What a server is told where nobody has answered: a person's no is another thing than nobody's yes.
DECLINED, CANCELLED = {"action": "decline"}, {"action": "cancel"}


Who = Literal["agent", "people"]


@dataclass
class People:
    """Whom a server's questions are put to: people where `who` says so, or the policy where that is None."""

    client: AsyncClient
    journal: Journal
    session: str
    server: str
    wait: float
    who: Who | None = None

    _of_policy: Who | None = None  # as it was read last
    _known_until: float = 0.0

    async def whose(self) -> Who | None:
        """Say who answers; None where the policy could never be read."""
        if self.who is None and time.monotonic() > self._known_until:
            seconds = KNOWN_SECONDS
            try:
                policy = await asyncio.wait_for(self.client.policy(), POLICY_SECONDS)
                self._of_policy = policy["elicitation"]
            except (MetacogError, asyncio.TimeoutError) as error:
                if isinstance(error, Refused) and error.status == 404:  # a metacog before 1.1.0
                    self._of_policy = "agent"
                else:
                    seconds = FAILED_SECONDS
                    told = str(error) or "no answer in time"
                    print(f"metacog mcp-proxy: the policy could not be read: {told}", file=sys.stderr)
            self._known_until = time.monotonic() + seconds
        return self.who or self._of_policy

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
