"""Say what of a tool call's arguments an edit changed."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.tool_calls.secret_shapes import is_secret
from metacog.heuristics.tool_calls.secrets import MASK, masked, masked_text, secret_words
from reviews.presentation.arguments import LONG, MOST_CODE, code
from reviews.presentation.highlight import Shown, show

MOST = 50  # changes that are shown
_GONE = object()


@dataclass(frozen=True, slots=True)
class Change:
    """One value that is another, new or gone."""

    name: str  # where, as a person reads it; "" is the whole of the arguments
    old: Shown | None = None  # None: it was not there
    new: Shown | None = None
    lines: Shown | None = None  # of a long text the lines that differ, in place of both


def changes(old: Any, new: Any) -> list[Change]:
    """Return what differs, in order, 50 places at most; secrets are masked."""
    found = _changes(old, new, (), is_named_so=False)
    return [change for change, _ in zip(found, range(MOST), strict=False)]


def _changes(old: Any, new: Any, path: tuple[str, ...], *, is_named_so: bool) -> Iterator[Change]:
    if old is not _GONE and new is not _GONE and canonical(old) == canonical(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            inner = is_named_so or is_secret(name)
            yield from _changes(old.get(name, _GONE), new.get(name, _GONE), (*path, name), is_named_so=inner)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        told = secret_words(old) | secret_words(new)
        for place, pair in enumerate(zip(old, new, strict=True)):
            inner = is_named_so or place in told
            yield from _changes(*pair, (*path, str(place)), is_named_so=inner)
    else:
        name = ".".join(path)
        before, after = _said(old, is_named_so=is_named_so), _said(new, is_named_so=is_named_so)
        if before is not None and after is not None and _is_long(before, after):
            yield Change(name, lines=_lines(before, after))
        else:
            yield Change(name, _shown(before), _shown(after))


def _said(value: Any, *, is_named_so: bool) -> str | None:
    if value is _GONE:
        return None
    if isinstance(value, str):
        return MASK if is_named_so and value else masked_text(value)
    return json.dumps(masked(value, is_named_so=is_named_so), ensure_ascii=False)


def _shown(said: str | None) -> Shown | None:
    return None if said is None else show(said, is_revealed=True)  # masked already


def _is_long(old: str, new: str) -> bool:
    return "\n" in old or "\n" in new or max(len(old), len(new)) > 4 * LONG


def _lines(old: str, new: str) -> Shown:
    """Return the lines that differ, with one around them; of what is too long for that, how the new text begins."""
    if len(old) + len(new) > 2 * MOST_CODE:
        return show(new[:MOST_CODE] + ("…" if len(new) > MOST_CODE else ""), is_revealed=True)
    told = difflib.unified_diff(old.splitlines(), new.splitlines(), n=1, lineterm="")
    return code("\n".join(list(told)[2:]), "diff")
