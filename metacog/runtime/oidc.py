"""The OpenID Connect providers that the environment names; read by settings.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PARTS = ("ISSUER", "CLIENT_ID", "CLIENT_SECRET", "NAME", "GROUPS", "GROUPS_CLAIM")  # each as METACOG_OIDC_ID_PART
ROLES = ("viewer", "reviewer", "curator", "owner")
_ID = re.compile(r"[a-z][a-z0-9]{0,29}")


class Grant(NamedTuple):
    """What a group of a provider may do here."""

    group: str
    role: str
    team: str  # its name


def ids(env: Mapping[str, str]) -> list[str]:
    """Return what METACOG_OIDC names, in its order."""
    return list(dict.fromkeys(name.strip() for name in env.get("METACOG_OIDC", "").split(",") if name.strip()))


def setting_names(env: Mapping[str, str]) -> set[str]:
    """Return the settings there are for these providers, without METACOG_."""
    return {f"OIDC_{name.upper()}_{part}" for name in ids(env) for part in PARTS}


def apps(env: Mapping[str, str], problems: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return django-allauth's APPS, one a provider; what is wrong with one is added to `problems` and leaves it out."""
    found = []
    for name in ids(env):
        if not _ID.fullmatch(name):
            hint = "Lower-case letters and digits, a letter first: METACOG_OIDC=keycloak,google"
            problems.append((f"METACOG_OIDC has {name!r}, which cannot be the name of a provider.", hint))
            continue
        prefix = f"METACOG_OIDC_{name.upper()}_"
        missing = [prefix + part for part in PARTS[:3] if not env.get(prefix + part)]
        issuer = urlsplit(env.get(prefix + "ISSUER", ""))
        if missing:
            problems.append(
                (f"METACOG_OIDC names {name!r}, but {missing[0]} is not set.", "docs/sign-in.md tells all.")
            )
        elif issuer.scheme not in ("https", "http") or not issuer.hostname:
            hint = "Give the address below which /.well-known/openid-configuration lies: https://id.example.org/realms/work"
            problems.append((f"{prefix}ISSUER is not an address.", hint))
        elif issuer.scheme == "http" and issuer.hostname not in ("127.0.0.1", "localhost", "::1"):
            problems.append((f"{prefix}ISSUER is not https: who is in between could sign in as anybody.", "Use https."))
        else:
            found.append(
                {
                    "provider_id": name,
                    "name": env.get(prefix + "NAME") or name.capitalize(),
                    "client_id": env[prefix + "CLIENT_ID"],
                    "secret": env[prefix + "CLIENT_SECRET"],
                    "settings": {
                        "issuer": env[prefix + "ISSUER"],
                        "server_url": env[prefix + "ISSUER"].rstrip("/"),
                        "groups_claim": env.get(prefix + "GROUPS_CLAIM") or "groups",
                        "grants": _grants(prefix + "GROUPS", env.get(prefix + "GROUPS", ""), problems),
                    },
                }
            )
    return found


def _grants(setting: str, text: str, problems: list[tuple[str, str]]) -> list[Grant]:
    grants = []
    for entry in filter(None, map(str.strip, text.split(";"))):
        group, _, given = entry.rpartition("=")
        role, _, team = given.partition("@")
        if group.strip() and role.strip() in ROLES and team.strip():
            grants.append(Grant(group.strip(), role.strip(), team.strip()))
        else:
            hint = f"GROUP=ROLE@TEAM, with ; between several. Roles are {', '.join(ROLES)}."
            problems.append((f"{setting} has {entry!r}, which gives no role.", hint))
    return grants
