"""Mail addresses in an argument: each with its domain, and what about it is worth saying."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..urls import read_host

MOST = 200  # addresses of one argument
_MAIL = re.compile(r"[^\s@,;<>\"'()\[\]:]+@(?:[\w-]+\.)*[\w-]+", re.UNICODE)


class Mail(NamedTuple):
    """One address: normalised, where it stands, and facts about it ("punycode")."""

    address: str
    domain: str
    start: int
    end: int
    detail: str = ""


def read(text: str) -> Iterator[Mail]:
    """Give the addresses of a text in order: alone, in a list, after a display name in `<…>`, in a `mailto:`."""
    for number, found in enumerate(_MAIL.finditer(text)):
        if number == MOST:
            return
        local, _, domain = found[0].rpartition("@")
        name, details = read_host(domain)
        yield Mail(f"{local}@{name}", name, found.start(), found.end(), ", ".join(details))


def has_more(text: str) -> bool:
    """Tell whether something in a list of addresses is none: a name, a group, a variable."""
    rest = _MAIL.sub("", re.sub(r'"[^"]*"\s*<|[^,;<>"]*<', "<", text))
    return bool(re.sub(r"[\s<>,;]|mailto:", "", rest))
