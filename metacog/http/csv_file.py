"""Tables as CSV, of which a spreadsheet takes no cell for a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import category, normalize

_BEGIN_FORMULAS = "=+-@"
_BEGIN_CELLS = ";,|'\""  # the separator that another language has, and what a text stands in


def write(file: Any, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows into what takes text; every text stands in quotes, so that a semicolon in it begins no cell."""
    lines = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    for row in rows:
        lines.writerow([f"'{cell}" if isinstance(cell, str) and _is_run(cell) else cell for cell in row])


def _is_run(text: str) -> bool:
    """Tell whether a spreadsheet might run a text: some pass over what one cannot see, and read full width."""
    if text[:1] in ("\t", "\r", "\n"):
        return True
    for character in text:
        if normalize("NFKC", character) in _BEGIN_FORMULAS:
            return True
        if category(character)[0] not in "ZC" and character not in _BEGIN_CELLS:
            return False
    return False
