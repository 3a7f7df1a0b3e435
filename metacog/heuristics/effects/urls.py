"""Addresses on the network in an argument: where they lead, and what about them is worth saying."""

import re
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

MAX_LENGTH = 8192
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_HOST = re.compile(r"(?:[\w-]+\.)+[\w-]+\.?|localhost|\[[0-9A-Fa-f:.]+\]|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+")
_PRIVATE_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa", ".corp", ".svc")


class Address(NamedTuple):
    """A URL as it was read: normalised, its host in ASCII, and facts about it ("punycode", "private address")."""

    text: str
    host: str
    scheme: str
    detail: str = ""


def read(text: str) -> Address | None:
    """Read a URL with its scheme, or `//host/…`; None: it is none, or cannot be read for certain."""
    cleaned = text.strip()
    if len(cleaned) > MAX_LENGTH or not (_URL.match(cleaned) or cleaned.startswith("//")):
        return None
    if any(character.isspace() or ord(character) < 32 for character in cleaned) or "\\" in cleaned:
        return None  # browsers and libraries disagree where it leads
    try:
        parts = urlsplit(cleaned)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if "%" in host:
        return None
    if not host:
        return Address(cleaned, "", parts.scheme.lower())
    name, details = read_host(host)
    if parts.username is not None:
        details.append("user and password in the address" if parts.password is not None else "user in the address")
    where = f"[{name}]" if ":" in name else name
    written = f"{parts.scheme.lower()}://{where}" if parts.scheme else f"//{where}"
    written += f":{port}" if port is not None else ""
    written += parts.path + (f"?{parts.query}" if parts.query else "")
    return Address(written, name, parts.scheme.lower(), ", ".join(details))


def read_host(host: str) -> tuple[str, list[str]]:
    """Give a host's name in ASCII (IDNA), and what is worth saying of it."""
    name = host.strip("[]").rstrip(".").lower()
    details = []
    if not name.isascii():
        import idna

        try:
            name = idna.encode(name, uts46=True, transitional=False).decode()
        except (idna.IDNAError, UnicodeError):
            details.append("not a valid name")
    if any(label.startswith("xn--") for label in name.split(".")):
        details.append("punycode")
    if is_private(name):
        details.append("private address")
    return name, details


def is_host(text: str) -> bool:
    """Tell whether a text is a host's name or address, with a port or without."""
    return len(text) < 256 and bool(_HOST.fullmatch(re.sub(r":\d{1,5}$", "", text)))


def is_private(host: str) -> bool:
    """Tell whether a host is inside: loopback, private, link-local (the clouds' metadata among it), or named so."""
    if host == "localhost" or host.endswith(_PRIVATE_NAMES):
        return True
    try:
        address = ip_address(_as_numbers(host))
    except ValueError:
        return "." not in host and ":" not in host and host != ""
    mapped = getattr(address, "ipv4_mapped", None)
    return not (mapped or address).is_global


def _as_numbers(host: str) -> str | int:
    """Read what `inet_aton` reads as an address: 2130706433, 0x7f.1, 0177.0.0.1."""
    parts = host.split(".")
    if len(parts) > 4 or not all(re.fullmatch(r"0x[0-9a-f]+|\d+", part) for part in parts):
        return host
    try:
        numbers = [
            int(part, 16) if part.startswith("0x") else int(part, 8) if part != "0" and part[0] == "0" else int(part)
            for part in parts
        ]
    except ValueError:
        return host
    if any(number > 255 for number in numbers[:-1]):
        return host
    value = numbers[-1] + sum(number << (8 * (3 - at)) for at, number in enumerate(numbers[:-1]))
    return value if value < 2**32 and numbers[-1] < 256 ** (5 - len(numbers)) else host
