"""An OpenID Connect provider that runs on this machine for a test, and whoever comes by it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from django.test import Client
from jwt.algorithms import ECAlgorithm

from metacog.runtime import oidc
from metacog.sign_in import openid

PERSON = {
    "sub": "u-1",
    "preferred_username": "dana",
    "email": "dana@example.org",
    "email_verified": True,
    "name": "Dana Wu",
}
KEYS = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("first", "second")}


class Provider(ThreadingHTTPServer):
    """Says of whoever comes what `claims` has; the rest is what may be wrong with it."""

    key = "first"  # that signs
    is_broken = False
    is_gone = False  # whoever came: their refresh token does nothing more
    refresh_token = ""  # the latest; none is given unless it is set
    nonce = ""
    keys_asked = 0

    def reset(self) -> None:
        """Be in order again."""
        self.claims: dict[str, Any] = PERSON
        self.id_token: dict[str, Any] = {}  # what its claims, its header and the discovery document have otherwise
        self.header: dict[str, Any] = {}
        self.document: dict[str, Any] = {}
        openid._kept.clear()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def token(self, claims: dict[str, Any], **header: Any) -> str:
        """Sign claims as the provider does, or as `header` says."""
        header = {"kid": self.key, "alg": "ES256"} | header
        key: Any = (
            "a secret that the client knows, of thirty-two bytes or more"
            if header["alg"] == "HS256"
            else (None if header["alg"] == "none" else KEYS[self.key])
        )
        return jwt.encode(claims, key, header["alg"], headers={k: v for k, v in header.items() if k != "alg"})


class Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        issuer = self.server.issuer
        if self.server.is_broken:
            return self.say({}, 500)
        if self.path == "/userinfo":
            return self.say(self.server.claims)
        if self.path == "/jwks":
            self.server.keys_asked += 1
            key = json.loads(ECAlgorithm.to_jwk(KEYS[self.server.key].public_key()))
            return self.say({"keys": [key | {"kid": self.server.key, "alg": "ES256", "use": "sig"}]})
        names = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
        document = {"issuer": issuer} | {name: f"{issuer}/{name.partition('_')[0]}" for name in names}
        return self.say(document | self.server.document)

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if self.server.is_broken:
            return self.say({}, 500)
        now = int(time.time())
        claims = {"iss": self.server.issuer, "aud": "metacog", "iat": now, "exp": now + 300, "nonce": self.server.nonce}
        claims = {k: v for k, v in (claims | self.server.claims | self.server.id_token).items() if v != "missing"}
        token = self.server.token(claims, **self.server.header)
        answer = {"access_token": "t", "token_type": "Bearer", "id_token": token}
        if form["grant_type"] == ["refresh_token"]:
            if self.server.is_gone or form["refresh_token"] != [self.server.refresh_token]:
                return self.say({"error": "invalid_grant"}, 400)
            del answer["id_token"]
        if self.server.refresh_token:
            self.server.refresh_token += "'"  # each works once
            answer["refresh_token"] = self.server.refresh_token
        return self.say(answer)

    def say(self, body: Any, status: int = 200) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def running(settings: Any, **env: str) -> Iterator[Provider]:
    """Run a provider that the settings name as Work ID."""
    with Provider(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        problems: list[tuple[str, str]] = []
        named = {
            "METACOG_OIDC": "work",
            "METACOG_OIDC_WORK_ISSUER": server.issuer,
            "METACOG_OIDC_WORK_CLIENT_ID": "metacog",
            "METACOG_OIDC_WORK_CLIENT_SECRET": "s",
            "METACOG_OIDC_WORK_NAME": "Work ID",
            "METACOG_OIDC_WORK_GROUPS": "eng=reviewer@Aurora; leads=owner@Aurora; eng=viewer@Nowhere",
        }
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": oidc.apps(named | env, problems)}}
        settings.HAS_PROVIDERS = True
        assert problems == []
        server.reset()
        yield server
        server.shutdown()
        thread.join()


def come(provider: Provider, client: Client | None = None, **claims: Any) -> tuple[Client, Any]:
    """Have the person of the stub, with these claims, sign in."""
    client = client or Client()
    provider.claims = PERSON | claims
    return client, back(provider, client, client.get("/sign-in/with/work/?next=/agents/")["Location"])


def back(provider: Provider, client: Client, url: str) -> Any:
    """Come back from the provider, to which one was led at `url`."""
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert url.startswith(f"{provider.issuer}/authorization?")
    assert asked["code_challenge_method"] == "S256"
    provider.nonce = asked["nonce"]
    return client.get(f"/sign-in/with/work/callback/?code=c&state={asked['state']}")
