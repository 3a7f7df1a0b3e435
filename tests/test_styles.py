"""The style sheets: what is cheap for the browser stays so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

SHEETS = Path(__file__).parent.parent / "static/metacog"
INNERMOST = re.compile(r"(:has|:is)?\(([^()]*)\)")


def selectors(sheet: str) -> Iterator[str]:
    """Give the selectors of a style sheet; of parentheses is left ! of a `:has`, .is of an `:is`, or nothing."""
    for rule in re.findall(r"[^{};]+(?=\{)", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL)):
        while INNERMOST.search(rule):
            rule = INNERMOST.sub(outside, rule)
        yield from (each.strip() for each in rule.split(","))


def outside(found: re.Match[str]) -> str:
    return (".is" if found[1] == ":is" else "") + ("!" if found[1] == ":has" or "!" in found[2] else "")


def test_what_follows_a_has_is_named() -> None:
    """After `.desk:has(X) > *` Chromium styles all that is within what any `:has` is about, whenever something changes.

    On the queue that was 400 elements instead of 60, four times a decision.
    """
    unnamed = []
    for sheet in SHEETS.glob("*.css"):
        for selector in selectors(sheet.read_text()):
            *before, last = re.split(r"\s*[>+~]\s*|\s+", selector)
            if any("!" in part for part in before) and not re.sub(r"::?[\w-]+!?|\*", "", last):
                unnamed.append(f"{sheet.name}: {selector}")
    assert unnamed == []
