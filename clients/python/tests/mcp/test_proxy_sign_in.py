"""A server that wants its user to sign in, with an authorization server of its own."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from driver import INITIALIZE, Driver


@pytest.fixture
def server() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def base(self) -> str:
            # Its type allows addresses that are no pair.
            return f"http://127.0.0.1:{self.server.server_address[1]}"  # type: ignore[index]

        def say(self, told: Any, status: int = 200, **headers: str) -> None:
            body = json.dumps(told).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            asked, base = urlsplit(self.path), self.base()
            query = {name: values[0] for name, values in parse_qs(asked.query).items()}
            if asked.path.startswith("/.well-known/oauth-protected-resource"):
                self.say({"resource": f"{base}/mcp", "authorization_servers": [base]})
            elif asked.path == "/.well-known/oauth-authorization-server":
                ends = {f"{name}_endpoint": f"{base}/{name}" for name in ("authorization", "token", "registration")}
                more = {"response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"]}
                self.say({"issuer": base, **ends, **more})
            elif asked.path == "/authorization":  # the user says yes
                back = {"code": "c0de", "state": query["state"]}
                self.say({}, 302, Location=f"{query['redirect_uri']}?{urlencode(back)}")
            else:
                self.say({}, 405)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.path == "/registration":
                self.say({**json.loads(body), "client_id": "c1"}, 201)
            elif self.path == "/token":
                assert parse_qs(body.decode())["code"] == ["c0de"]
                self.say({"access_token": "t0ken", "token_type": "Bearer", "expires_in": 3600})
            elif self.headers.get("authorization") != "Bearer t0ken":
                where = f"{self.base()}/.well-known/oauth-protected-resource/mcp"
                self.say({}, 401, **{"WWW-Authenticate": f'Bearer resource_metadata="{where}"'})
            else:
                message = json.loads(body)
                info = {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "serverInfo": {"name": "s", "version": "0"},
                }
                self.say({"jsonrpc": "2.0", "id": message.get("id"), "result": info})

        def log_message(self, format: str, *args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_address[1]}/mcp"
    http.shutdown()
    http.server_close()


def test_the_user_signs_in_once(setting: Any, server: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    proxied = setting.proxied([server], "--sign-in", str(port))
    proxy = Driver(proxied, setting.environment, stderr=subprocess.PIPE)
    setting.drivers.append(proxy)
    said = proxy.ask("initialize", INITIALIZE)
    assert proxy.process.stderr
    (address,) = re.findall(rb"to sign in to .*, open (\S+)", proxy.process.stderr.readline())
    with urllib.request.urlopen(address.decode()) as page:  # what the user's browser does
        assert b"Signed in." in page.read()
    assert proxy.answer_to(said)["result"]["serverInfo"]["name"] == "s"
    (kept,) = (setting.folder / "state").rglob("sign-in-*.json")
    assert (kept.stat().st_mode & 0o777, json.loads(kept.read_text())["tokens"]["access_token"]) == (0o600, "t0ken")
    proxy.kill()
    again = setting.drive(proxied)
    assert again.request("initialize", INITIALIZE)["result"]["serverInfo"]["name"] == "s"
