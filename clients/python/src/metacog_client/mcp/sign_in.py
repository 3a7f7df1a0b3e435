"""Signing in to a server at an address (OAuth) as its user, in the browser; what comes of it is kept in a file."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from ..journal import key_of

if TYPE_CHECKING:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthToken

SIGN_IN_SECONDS = 300.0
DONE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nSigned in. You can close this page.\n"


@dataclass(frozen=True)
class Kept:
    """Tokens and the client's registration with one server, in a file of the user's alone."""

    path: Path

    def _read(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self.path.read_text())
        except (OSError, ValueError):
            return {}
        return found

    def _write(self, name: str, value: Any) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({**self._read(), name: value.model_dump(mode="json", exclude_none=True)})
        new = self.path.with_suffix(f".{os.getpid()}")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        new.replace(self.path)

    async def get_tokens(self) -> OAuthToken | None:
        from mcp.shared.auth import OAuthToken

        kept = self._read().get("tokens")
        return OAuthToken.model_validate(kept) if kept else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._write("tokens", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        from mcp.shared.auth import OAuthClientInformationFull

        kept = self._read().get("client")
        return OAuthClientInformationFull.model_validate(kept) if kept else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._write("client", client_info)


@contextlib.asynccontextmanager
async def signing_in(url: str, folder: Path, port: int) -> AsyncIterator[OAuthClientProvider]:
    """Sign in where the server at `url` demands it; the browser comes back to `port` on this machine."""
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

    came: asyncio.Queue[dict[str, list[str]]] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            line = (await reader.readline()).decode("ascii", "replace").split()
            asked = urlsplit(line[1])
            if asked.path == "/callback":
                await came.put(parse_qs(asked.query))
            writer.write(DONE)
            await writer.drain()
        writer.close()

    async def show(address: str) -> None:
        print(f"metacog mcp-proxy: to sign in to {url}, open {address}", file=sys.stderr, flush=True)

    async def returned() -> AuthorizationCodeResult:
        query = await asyncio.wait_for(came.get(), SIGN_IN_SECONDS)
        first = {name: values[0] for name, values in query.items()}
        return AuthorizationCodeResult(code=first.get("code", ""), state=first.get("state"), iss=first.get("iss"))

    server = await asyncio.start_server(answer, "127.0.0.1", port)
    try:
        back = f"http://127.0.0.1:{port}/callback"
        about = OAuthClientMetadata.model_validate({"client_name": "metacog mcp-proxy", "redirect_uris": [back]})
        kept = Kept(folder / f"sign-in-{key_of(url)[:16]}.json")
        yield OAuthClientProvider(url, about, kept, show, returned)
    finally:
        server.close()
