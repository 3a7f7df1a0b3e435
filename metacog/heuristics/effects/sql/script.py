"""Where the effects of the statements of a text are gathered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import urls
from ..effect import Command, Effect, Kind, ObjectKind
from .tokens import span_of, word_of
from .words import ALONE, DOING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.tokenizer_core import Token


@dataclass(slots=True)
class Found:
    """What one dialect makes of a text. `doing` are the words in it that change something, wherever they stand."""

    effects: list[Effect]
    commands: list[Command]
    doing: frozenset[str]
    has_failed: bool = False
    is_simple: bool = False
    shape: Mapping[str, Any] | None = None


class Script:
    """The statements of a text in one dialect."""

    def __init__(self, text: str, dialect: str, tokens: list[Token]) -> None:
        self.text, self.dialect, self.tokens = text, dialect, tokens
        self.found = Found([], [], frozenset(map(word_of, tokens)) & DOING)

    def say(
        self,
        kind: Kind,
        name: str | None = None,
        span: tuple[int, int] | None = None,
        of: ObjectKind | None = None,
        detail: str = "",
    ) -> None:
        inside = False if of == "path" else None
        start, end = span or (None, None)
        self.found.effects.append(Effect(kind, name, of, inside, start, end, "", detail))

    def say_of(self, kind: Kind, names: Sequence[tuple[str, int, int]], of: ObjectKind, detail: str = "") -> None:
        """Say an effect on the first thing that is named."""
        for name, start, end in names[:1]:
            return self.say(kind, name, (start, end), of, detail)
        return self.say(kind, detail=detail)

    def fail(self, tokens: Sequence[Token], detail: str = "cannot be read") -> None:
        self.say("unknown", span=span_of(tokens), detail=detail)

    def refuse_doing(self, tokens: Sequence[Token], but: Callable[[str], bool] = lambda word: False) -> None:
        """Refuse a word that changes something where nothing is changed so: T-SQL needs no semicolon."""
        for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
            word = word_of(token)
            if word in ALONE and (after is None or word_of(after)) and before and before.text not in (".", ",", "as"):
                self.fail([token])
            if (
                word not in DOING
                or but(word)
                or (before and before.text == ".")
                or (after and after.text in ("(", "."))
            ):
                continue
            if not before or word_of(before) not in ("for", "on", "key", "then", "do", "or", "as"):
                self.fail([token])

    def file(self, kind: Kind, token: Token) -> None:
        """Say that a file, or an address, is read from or written to."""
        span = (token.start, token.end + 1)
        if address := urls.read(token.text):
            return self.say("fetch" if kind == "read" else "send", address.text, span, "url", address.detail)
        return self.say(kind, token.text, span, "path")
