"""The shape of a text: what stays when numbers, dates, addresses, ids and quoted names are stood for.

Two texts of one shape are near-duplicates. Words stay as they are, so that "do" and "do not" are never one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..tool_calls.secrets import leaves

MOST = 20_000  # characters that are looked at; the rest counts as it stands

# What may differ, by kind, the wider first. No repetition meets what another beside it could match too.
_STANDS = re.compile(
    r"(?P<url>\bhttps?://[^\s<>\"'`）」』]{1,2000})"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"
    r"|(?P<quote>\"[^\s\"]{1,64}\"|“[^\s”]{1,64}”|「[^\s」]{1,64}」|『[^\s』]{1,64}』|`[^\s`]{1,64}`|(?<!\w)'[^\s']{1,64}'(?!\w))"
    r"|(?P<date>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|(?<![\d.])\d{1,2}[./]\d{1,2}[./]\d{2,4}(?![\d.])|\d{2,4}\s?年(?:\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日號号])?)?"
    r"|\d{1,2}\s?月\s?\d{1,2}\s?[日號号]|(?<![\d:])\d{1,2}:\d\d(?::\d\d)?(?![\d:])"
    r"|\b\d{1,2}\.? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b(?: \d{4})?"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6} \d{1,2}\b(?:, \d{4})?)"
    r"|(?P<id>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|(?<![A-Za-z0-9_])(?:[A-Za-z]{1,12}[-_#]){1,3}\d[A-Za-z0-9_-]{0,63}"
    r"|(?<![A-Za-z0-9_])(?=[A-Za-z_]{0,63}\d)(?=\d{0,63}[A-Za-z_])[A-Za-z0-9_]{2,128})"
    r"|(?P<number>\d{1,30}(?:[.,]\d{1,30}){0,10}%?)",
    re.ASCII,
)
_NUMBER = re.compile(r"-?\d{1,40}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,4})?")
_BLANKS = re.compile(r"\s+")


class Piece(NamedTuple):
    """A piece of a text that may be another in a near-duplicate."""

    kind: str  # url, mail, quote, date, id or number
    start: int
    end: int


def pieces(text: str) -> Iterator[Piece]:
    """Give what of a text's beginning (MOST characters) may differ, in order."""
    for found in _STANDS.finditer(text[:MOST]):
        yield Piece(found.lastgroup or "", found.start(), found.end())


def shape(text: str) -> str:
    """Return a text with what may differ stood for by its kind, each run of blanks as one."""
    beginning = _STANDS.sub(lambda found: f"\x00{found.lastgroup}\x00", text[:MOST])
    return _BLANKS.sub(" ", beginning).strip() + text[MOST:]


def shape_of_call(name: str, text: str) -> str:
    """Return the shape of a tool call: its name, the names of its arguments and the shape of each value.

    `text` is the item's: the name and canonical arguments. Of a value only numbers, dates, addresses and ids are stood
    for; a command or a path that has other words is another, and so is the text "1" in the place of the number.
    """
    parts = [
        f"{json.dumps(leaf.path)}\x01{leaf.is_text:d}{_shape_of_value(leaf.value)}"
        for leaf in leaves(text[: len(name) + MOST][len(name) :])
    ]
    return "\x02".join([name, *parts, text[len(name) + MOST :]])


def _shape_of_value(value: str) -> str:
    return "\x00number\x00" if _NUMBER.fullmatch(value) else shape(value)


def key_of(agent: int, kind: str, tool: str | None, score: int, text: str, effects: int = 0) -> int:
    """Return what an item has in common with its near-duplicates, as a signed 64-bit number.

    The score is of it, so that no order by score parts them, and what a tool call would do: `effects` are its bits, and
    `tool` is its name.
    """
    own = shape(text) if tool is None else shape_of_call(tool, text)
    read = "\x03".join([str(agent), kind, str(score), own, *([str(effects)] if effects else [])])
    return int.from_bytes(hashlib.sha256(read.encode(errors="surrogatepass")).digest()[:8], "big", signed=True)
