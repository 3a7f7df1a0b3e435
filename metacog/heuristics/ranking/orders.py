"""The orders of risk that are in force together: one of words, one of tool calls, neither of which knows the other."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Self

from .model import FORMAT, Model

_APART = 4  # the format from which on there are two models


@dataclass(frozen=True)
class Orders:
    """A model of words and one of tool calls. Before format 4 one model ranked both; then both are that one."""

    words: Model | None
    calls: Model | None

    def of(self, *, is_call: bool) -> Model | None:
        """Return what ranks words or calls; None: nothing does."""
        return self.calls if is_call else self.words

    @property
    def read_signs(self) -> bool:
        """Say how it must be seen what they rank: both were learned at one time."""
        return any(model.reads_signs for model in (self.words, self.calls) if model)

    @property
    def are_one(self) -> bool:
        """Say whether one model ranks both."""
        return self.words is self.calls

    @cached_property
    def id(self) -> str:
        """Name them after what they are, as a model is."""
        if self.words and self.are_one:
            return self.words.id
        content = json.dumps([model and model.id for model in (self.words, self.calls)], separators=(",", ":"))
        return "risk_" + sha256(content.encode()).hexdigest()[:24]

    def as_dict(self) -> dict[str, Any]:
        """Return what `from_dict` takes: about 180 KB a model as JSON."""
        if self.words and self.are_one:
            return self.words.as_dict()
        words, calls = (model and model.as_dict() for model in (self.words, self.calls))
        formats = [model.format for model in (self.words, self.calls) if model]
        return {"id": self.id, "format": max(formats, default=FORMAT), "words": words, "calls": calls}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Read what `as_dict` gave, or one model of both; ValueError says what is wrong with it."""
        if "calls" not in document:
            one = Model.from_dict(document)
            return cls(one, one)
        if document.get("format") not in range(_APART, FORMAT + 1):
            raise ValueError(f"its format is {document.get('format')!r}; this version reads formats 1 to {FORMAT}")
        words, calls = (document.get(name) and Model.from_dict(document[name]) for name in ("words", "calls"))
        found = cls(words or None, calls or None)
        if found.as_dict() != document:
            raise ValueError("its content is not what its id stands for")
        return found
