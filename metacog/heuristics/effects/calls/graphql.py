"""GraphQL documents: queries, mutations and subscriptions, and what the names of their fields say."""

import re
from collections.abc import Iterator

from ..effect import KINDS, Kind
from .names import named

MAX_LENGTH = 65_536
_IGNORED = re.compile(r'#[^\n]*|"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"')
_WORD = re.compile(r"[A-Za-z_]\w*|\.\.\.|[{}()\[\]:!@$=|&,]")


def looks_so(text: str) -> bool:
    """Tell whether a text begins as a GraphQL document does."""
    return bool(
        re.match(r"\s*(?:#[^\n]*\s*)*(?:(?:query|mutation|subscription|fragment)\b[^;]*\{|\{\s*\w+[\s({}:@])", text)
    )


def read(text: str) -> tuple[Kind, ...] | None:
    """Give the effects of a document: a query fetches, a mutation sends and does what its fields say; None: unread."""
    if len(text) > MAX_LENGTH:
        return None
    found = set[Kind]()
    fields = list(_fields(text))
    if not fields:
        return None
    for kind, field in fields:
        if kind == "mutation":
            found |= {"send", *_done(field)}
        elif kind in ("query", "subscription"):
            found.add("fetch")
        else:
            return None
    return tuple(kind for kind in KINDS if kind in found)


def _done(field: str) -> tuple[Kind, ...]:
    said = named(field)
    if not said.is_clear:
        return ("write", "unknown")
    return tuple(kind for kind in said.effects if kind != "read") or ("write",)


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """Give the outermost fields, each with the kind of operation that it is of."""
    depth = round_depth = 0
    kind, before = "query", ""
    tokens = _WORD.findall(_IGNORED.sub(" ", text))
    for at, token in enumerate(tokens):
        if token == "(":
            round_depth += 1
        elif token == ")":
            round_depth -= 1
        elif round_depth:
            continue
        elif token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            kind = "query" if depth == 0 else kind
        elif depth == 0 and token in ("query", "mutation", "subscription", "fragment"):
            kind = token
        elif depth == 1 and kind != "fragment":
            is_alias = tokens[at + 1 : at + 2] == [":"]
            if token == "...":
                yield (kind, "") if kind == "mutation" else (kind, "get")
            elif (token[0].isalpha() or token[0] == "_") and not is_alias and before not in ("@", "..."):
                yield kind, token
        before = token
