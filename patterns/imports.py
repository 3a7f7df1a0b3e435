"""What an import would do, entry by entry: shown before anything is written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

Fate = Literal["add", "change", "same", "skip"]


class BadFile(Exception):
    """A file cannot be taken and nothing was changed; `problems` says all that is wrong, by place."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Entry:
    """One entry of a file: where it stands, what it is called, what becomes of it, and why or how."""

    place: str
    name: str
    fate: Fate
    notes: Sequence[str] = ()


@dataclass
class Plan:
    """What becomes of a file's entries; `left` says what else it holds, `problem` why nothing can be taken."""

    entries: list[Entry] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    problem: str = ""

    def of(self, fate: Fate) -> list[Entry]:
        return [entry for entry in self.entries if entry.fate == fate]

    @property
    def is_possible(self) -> bool:
        """Tell whether there is anything to take."""
        return not self.problem and bool(self.of("add") or self.of("change"))

    @property
    def digest(self) -> str:
        """Name what would be done, so that what was shown can be told apart from what would be done now."""
        return hashlib.sha256(json.dumps(asdict(self), ensure_ascii=False).encode()).hexdigest()
