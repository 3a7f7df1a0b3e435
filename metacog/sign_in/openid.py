"""What is believed of an OpenID Connect provider: its own issuer, its keys, and tokens that answer what was asked.

Everything a provider sends is checked here, whether it comes by the browser, by its token endpoint, by a refresh or by
a back-channel logout. What is wrong with it raises Refused, and what cannot be reached requests.RequestException.
"""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any
from urllib.parse import quote

import jwt
from allauth.socialaccount.adapter import _build_apps_from_settings, get_adapter
from allauth.socialaccount.app_settings import UID_MAX_LENGTH
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from jwt.algorithms import get_default_algorithms
from requests import RequestException, Response
from requests.auth import HTTPBasicAuth

# Signed with a key that the provider alone has: with HS256 whoever knows the client's secret could sign.
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
LEEWAY_SECONDS = 60  # how far the provider's clock may be from ours
KEPT_SECONDS = 600  # what a provider says of itself
LOOK_AGAIN_SECONDS = 10  # for a key that is not known, however many ask for one


class Refused(OAuth2Error):  # type: ignore[misc]  # allauth has no types
    """A provider's answer that is not believed."""


class Ended(Refused):
    """The provider does not renew what it gave: who it was for is signed out there, or gone."""


class OtherIssuer(Refused):
    """Whoever answers at the configured address calls itself otherwise."""

    def __init__(self, app: Any, said: Any) -> None:
        name = f"METACOG_OIDC_{app.provider_id.upper()}_ISSUER"
        super().__init__(f"{name} is {app.settings['issuer']}, but the provider there calls itself {said}.")


@dataclass
class _Kept:
    """What one provider said of itself, in this process."""

    document: dict[str, Any] = field(default_factory=dict)
    document_at: float = -inf
    keys: list[dict[str, Any]] = field(default_factory=list)
    keys_at: float = -inf
    looked_at: float = -inf  # when a key was asked for that was not among them


_kept: dict[str, _Kept] = {}


def apps() -> list[Any]:
    """Return the providers that the environment names."""
    found: list[Any] = _build_apps_from_settings(provider="openid_connect").get("openid_connect", [])
    return found


def discovered(app: Any) -> dict[str, Any]:
    """Return what the provider says of itself. Raises Refused where it is not the issuer that was configured."""
    issuer = app.settings["issuer"]
    kept = _kept.setdefault(issuer, _Kept())
    if time.monotonic() - kept.document_at > KEPT_SECONDS:
        document = _json(_asked("GET", app.settings["server_url"] + "/.well-known/openid-configuration"))
        if document.get("issuer") != issuer:
            raise OtherIssuer(app, document.get("issuer"))
        kept.document, kept.document_at = document, time.monotonic()
    return kept.document


def scope(config: Mapping[str, Any]) -> str:
    """Return what is asked for: what lets the provider be asked again later, too, where it can be."""
    offered = config.get("scopes_supported") or ()
    return " ".join(["openid", "profile", "email", *(name for name in ("offline_access",) if name in offered)])


def exchanged(app: Any, **grant: str) -> dict[str, Any]:
    """Return what the token endpoint gives for a grant. Raises Ended where that holds no longer."""
    config = discovered(app)
    methods = config.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]  # as the standard has it
    ways: list[tuple[dict[str, str], HTTPBasicAuth | None]] = []  # what is offered may not be what we registered for
    if "client_secret_post" in methods:
        ways.append((grant | {"client_id": app.client_id, "client_secret": app.secret}, None))
    if "client_secret_basic" in methods or not ways:
        ways.append((grant, HTTPBasicAuth(quote(app.client_id, safe=""), quote(app.secret, safe=""))))
    for data, auth in ways:
        response = _asked("POST", config["token_endpoint"], data=data, auth=auth)
        if response.status_code not in (400, 401):
            break
        error = _json(response, 400, 401).get("error")
        if error == "invalid_grant":
            raise Ended("the provider answered invalid_grant")
        if error != "invalid_client":
            break
    return _json(response)


def refresh_token(answer: Mapping[str, Any]) -> str:
    """Return by what the provider can be asked again; "" where it cannot."""
    token = answer.get("refresh_token")
    return token if isinstance(token, str) else ""


def has_second_factor(data: Mapping[str, Any]) -> bool:
    """Say whether the provider asked for more than one factor (RFC 8176), by what is `told`."""
    used = data["id_token"].get("amr")
    return isinstance(used, list) and "mfa" in used


def claims_of(app: Any, answer: Mapping[str, Any], nonce: str | None) -> dict[str, Any]:
    """Return what a provider tells of somebody: {"id_token", "userinfo"}, claims by name.

    `nonce` is the one that was sent; None after a refresh, where none is due.
    """
    found: dict[str, Any] = {}
    if nonce is not None or answer.get("id_token"):
        found["id_token"] = claims = verified(app, answer.get("id_token"))
        _check_subject(claims.get("sub"))
        if nonce is not None and not hmac.compare_digest(_text(claims.get("nonce")), nonce.encode()):
            raise Refused("the ID token has another nonce than was sent")
    if endpoint := discovered(app).get("userinfo_endpoint"):
        token = answer.get("access_token")
        if not isinstance(token, str):
            raise Refused("there is no access token")
        response = _asked("GET", endpoint, headers={"Authorization": f"Bearer {token}"})
        if response.status_code in (401, 403):
            raise Ended(f"the provider tells nothing of the person: {response.status_code}")
        found["userinfo"] = _json(response)
        _check_subject(found["userinfo"].get("sub"))
    if len({claims["sub"] for claims in found.values()}) != 1:
        raise Refused("the ID token and the user info are of different people, or there is neither")
    return found


def verified(app: Any, token: Any, *, typ: str = "") -> dict[str, Any]:
    """Return the claims of a token that the provider signed for us, and that holds now."""
    config = discovered(app)
    try:
        header = jwt.get_unverified_header(token)
        if typ and header.get("typ", typ).lower().removeprefix("application/") != typ:
            raise Refused(f"the token is a {header['typ']}")
        claims: dict[str, Any] = jwt.decode(
            token,
            _key(config, header.get("alg"), header.get("kid")),
            algorithms=[header["alg"]],
            audience=app.client_id,
            issuer=app.settings["issuer"],
            leeway=LEEWAY_SECONDS,
            options={"require": ["iss", "aud", "iat", *([] if typ else ["sub", "exp"])]},
        )
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError) as error:
        raise Refused(f"the token is not in order: {error}") from error
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if (several or "azp" in claims) and claims.get("azp") != app.client_id:
        raise Refused("the token was given to another client")
    _check_storable(claims)
    return claims


def _key(config: dict[str, Any], alg: Any, kid: Any) -> Any:
    """Return the provider's key that a token names; a key that is not known yet has the provider asked again."""
    if alg not in ALGORITHMS:
        raise Refused(f"the token is signed with {alg!r}, which is not taken")
    kept = _kept[config["issuer"]]
    for is_again in (False, True):
        now = time.monotonic()
        if now - kept.looked_at > LOOK_AGAIN_SECONDS if is_again else now - kept.keys_at > KEPT_SECONDS:
            keys = _json(_asked("GET", config["jwks_uri"])).get("keys")
            kept.keys = [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []
            kept.keys_at, kept.looked_at = now, now if is_again else kept.looked_at
        candidates = [
            key
            for key in kept.keys
            if key.get("use", "sig") == "sig" and key.get("alg", alg) == alg and kid in (None, key.get("kid"))
        ]
        if len(candidates) == 1:
            return get_default_algorithms()[alg].from_jwk(json.dumps(candidates[0]))
    raise Refused("the token names no key of the provider")


def person(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of what is `told`; of the user info where both have one.

    An address and whether it is verified come from the same of the two.
    """
    id_token, userinfo = data.get("id_token") or {}, data.get("userinfo") or {}
    address = userinfo if userinfo.get("email") else id_token
    pair = {name: address.get(name) for name in ("email", "email_verified")}
    texts = {name: value for name, value in (id_token | userinfo).items() if isinstance(value, str)}
    return texts | {"email": pair["email"] if isinstance(pair["email"], str) else None,
                    "email_verified": is_true(pair["email_verified"])}  # fmt: skip


def is_true(value: Any) -> bool:
    """Say whether a claim is true; some providers send it as a text."""
    return value is True or value == "true"


def _check_subject(sub: Any) -> None:
    if not (isinstance(sub, str) and 0 < len(sub) <= UID_MAX_LENGTH and sub.isprintable()):
        raise Refused(f"the subject is not a text of 1 to {UID_MAX_LENGTH} characters")


def _check_storable(claims: Any) -> None:
    """Refuse what PostgreSQL cannot keep: NUL, lone surrogates, numbers that are none."""
    try:
        text = json.dumps(claims, ensure_ascii=False, allow_nan=False)
        text.encode()
    except ValueError as error:
        raise Refused("the claims hold what is no text") from error
    if "\\u0000" in text:
        raise Refused("the claims hold a NUL character")


def _asked(method: str, url: str, **options: Any) -> Response:
    with get_adapter().get_requests_session() as session:
        response: Response = session.request(method, url, allow_redirects=False, **options)
    if response.status_code >= 500:
        raise RequestException(f"{url} answered {response.status_code}")
    return response


def _json(response: Response, *statuses: int) -> dict[str, Any]:
    if response.status_code not in (statuses or (200, 201)):
        raise Refused(f"{response.url} answered {response.status_code}: {response.text[:200]!r}")
    found = response.json()  # its error is a RequestException
    if not isinstance(found, dict):
        raise Refused(f"{response.url} answered no object")
    _check_storable(found)
    return found


def _text(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else b""
