"""What near-duplicates differ in: which of their pieces, or which arguments of a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..text.spans import Place
from ..tool_calls.secret_shapes import secret_places
from ..tool_calls.secrets import MASK, leaves, masked_text
from .shape import Piece, pieces


@dataclass(frozen=True)
class Column:
    """One place where texts differ."""

    # A Piece's; "argument" or "type" of one of a call; "text" where they have no shape in common, "blanks" where they
    # differ in nothing else, "rest" where they differ in what was not looked at.
    kind: str
    name: str  # of an argument, its names on the way parted by dots
    values: Sequence[str]  # of each text, in order; a secret masked
    place: int = -1  # of which piece of the text


def of_texts(texts: Sequence[str]) -> list[Column]:
    """Return where texts of one shape differ, in order; of others the whole texts as one column."""
    if len(set(texts)) < 2:
        return []
    found = [[(piece.kind, text[piece.start : piece.end]) for piece in pieces(text)] for text in texts]
    if len({tuple(kind for kind, _ in each) for each in found}) > 1:
        return [Column("text", "", [*map(masked_text, texts)])]
    secrets = map(secret_places, texts)
    hidden = [[_is_secret(piece, its) for piece in pieces(text)] for text, its in zip(texts, secrets, strict=True)]
    columns = []
    for place, row in enumerate(zip(*found, strict=True)):
        values = [value for _, value in row]
        if len(set(values)) > 1:
            said = [MASK if of[place] else value for of, value in zip(hidden, values, strict=True)]
            columns.append(Column(row[0][0], "", said, place))
    return columns or [Column("blanks", "", texts)]


def _is_secret(piece: Piece, secrets: Sequence[Place]) -> bool:
    return any(start < piece.end and piece.start < end for start, end in secrets)


def of_calls(name: str, texts: Sequence[str]) -> list[Column]:
    """Return in which arguments calls of one tool differ, in order; `texts` are the items' and may end too early."""
    if len(set(texts)) < 2:
        return []
    found = [{leaf.path: leaf for leaf in leaves(text.removeprefix(name).lstrip())} for text in texts]
    columns = []
    for path in dict.fromkeys(each for arguments in found for each in arguments):
        row = [arguments.get(path) for arguments in found]
        argument = ".".join(map(str, path))
        if len({leaf and leaf.value for leaf in row}) > 1:
            said = ["" if leaf is None else MASK if leaf.is_secret else masked_text(leaf.value) for leaf in row]
            columns.append(Column("argument", argument, said))
        elif len({leaf and leaf.is_text for leaf in row}) > 1:
            columns.append(Column("type", argument, ["string" if leaf and leaf.is_text else "" for leaf in row]))
    return columns or [Column("rest", "", texts)]
