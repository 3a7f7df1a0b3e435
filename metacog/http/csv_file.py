"""Tables as CSV, of which a spreadsheet takes no cell for a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any

# Spreadsheets pass over blanks and what one cannot see, and over the separator that another language has.
_FORMULA = re.compile(r"[\s\u00ad\u200b-\u200f\u2060\ufeff;,|'\"]*[=+\-@＝＋－＠]|[\t\r\n]")


def write(file: Any, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows into what takes text; every text stands in quotes, so that a semicolon in it begins no cell."""
    lines = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
    for row in rows:
        lines.writerow([f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell for cell in row])
