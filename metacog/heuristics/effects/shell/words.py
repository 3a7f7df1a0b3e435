"""The words of a command as its program would get them: quotes, backslashes, braces and variables."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..effect import new
from ..programs import Word
from .out import Out
from .state import NUMBER, State

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_WORDS = 64  # that one word may become, by braces
SHORT = frozenset({"word", "number", "command_name", "raw_string", "string"})
PLAIN = re.compile(r"[\w./:@%+=,-]+")
UNEXPANDED = re.compile(r"\"[^$`\\\"]+\"")
GLOB = re.compile(r"[*?\[]")
BACKSLASH = re.compile(r"\\(\n|[\s\S])")
TORN = re.compile(r"(?<!\\)\s|\n.")  # a blank within a word that should end it
IN_QUOTES = re.compile(r"\\(\n|[$`\"\\])")
ANSI = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.)|([\s\S]))")
ANSI_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
ANSI_WHOLE = re.compile(r"\$'(?:[^'\\]|\\[\s\S])*'")
VARIABLE = re.compile(r"\$(?:\w+|[?#$!@*_-])|\$\{\w+\}")
RUNS_VALUE = re.compile(r"\$\{!|@[PEAK]\}$")
DEFAULT = re.compile(r"\$\{(\w+):?-")
TEMPORARY = re.compile(r"\$\{TMPDIR:[-=](?:/tmp|/var/tmp)/?\}")
SHORTENED = re.compile(r"\$\{(\w+)%%?(\.[\w.-]+)\}")
RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?\d+)?")
CODE = re.compile(r"\$\(|`")


class Piece(NamedTuple):
    """A part of a word: `quoted` from expansion by the shell, `known`, and `loose` where it may be anything."""

    text: str
    quoted: bool = False
    known: bool = True
    loose: bool = False


class Reader(Protocol):
    """The text that a word stands in."""

    out: Out

    def source(self, node: "Node") -> str: ...
    def piece(self, node: "Node") -> tuple[str, int | None, int | None]: ...
    def between(self, start: int, end: int) -> str: ...
    def span(self, node: "Node") -> tuple[int | None, int | None]: ...
    def substitutions(self, node: "Node", state: State) -> None: ...
    def output(self, node: "Node", state: State) -> Word | None: ...


def words(reader: Reader, nodes: Sequence["Node"], state: State) -> list[Word]:
    """The words that `nodes` become; what is run to make them is read on the way."""
    made: list[Word] = []
    piece = reader.piece
    for node in nodes:
        kind = node.type
        source, start, end = piece(node)
        if kind not in SHORT:
            made += _long(reader, node, state, start, end)
        elif kind == "raw_string" or (kind == "string" and UNEXPANDED.fullmatch(source)):  # most words, the short way
            at = None if start is None else start + 1
            made.append(new(Word, (source[1:-1], start, end, True, False, at)))
        elif kind != "string" and PLAIN.fullmatch(source):
            made.append(new(Word, (source, start, end, True, False, start)))
        else:
            made += _long(reader, node, state, start, end)
    reader.out.step(len(nodes))
    return made


def _long(reader: Reader, node: "Node", state: State, start: int | None, end: int | None) -> list[Word]:
    """The words that `node` becomes, put together from its pieces."""
    pieces: list[Piece] = []
    _pieces(reader, node, state, pieces, quoted=False)
    if len(pieces) == 1 and pieces[0].quoted and pieces[0].known:
        return [Word(pieces[0].text, start, end, at=_verbatim(reader, node, pieces[0].text, start))]
    made = []
    for some in _braced(pieces):
        made += _word(some, start, end)
    if len(made) == 1 and made[0].exact:
        return [made[0]._replace(at=_verbatim(reader, node, made[0].text, start))]
    return made


def _verbatim(reader: Reader, node: "Node", text: str, start: int | None) -> int | None:
    """Where `text` stands in the source of `node`, letter by letter."""
    source = reader.source(node)
    if start is None or not text:
        return start if source == text else None
    if source == text:
        return start
    return start + 1 if source[1:-1] == text and source[0] in "'\"" else None


def _word(pieces: list[Piece], start: int | None, end: int | None) -> list[Word]:
    text, exact, loose, is_quoted = "", True, False, False
    for part, quoted, known, is_loose in pieces:
        exact = exact and known and (quoted or not GLOB.search(part))
        loose = loose or (is_loose and (not quoted or (part != "" and not text)))
        is_quoted = is_quoted or quoted
        text += part
    if not text and not is_quoted:
        return []
    if text[:1] == "~" and not pieces[0].quoted:
        exact = False
    return [new(Word, (text, start, end, exact, loose, None))]


def _pieces(reader: Reader, node: "Node", state: State, pieces: list[Piece], *, quoted: bool) -> None:
    """Add what `node` is made of."""
    reader.out.step()
    kind = node.type
    if kind in {"word", "number", "test_operator", "variable_name", "regex", "{", "}", "$", "extglob_pattern"}:
        source = reader.source(node)
        if TORN.search(source):
            reader.out.add("unknown", span=reader.span(node), detail="a line that ends elsewhere")
        if node.named_child_count and kind == "number":
            _unknown(reader, node, state, pieces, quoted)
        elif "\\" in source:
            _escaped(source, pieces)
        elif "$$" in source:  # the shell's own number, which the grammar leaves in a word
            pieces.append(Piece(source.replace("$$", NUMBER), known=False))
        else:
            pieces.append(Piece(source))
    elif kind == "raw_string":
        pieces.append(Piece(reader.source(node)[1:-1], quoted=True))
    elif kind == "string":
        _string(reader, node, state, pieces)
    elif kind == "ansi_c_string":
        _ansi(reader, node, pieces)
    elif kind == "translated_string":
        for child in node.named_children:
            _pieces(reader, child, state, pieces, quoted=True)
    elif kind in {"concatenation", "command_name"}:
        _concatenation(reader, node, state, pieces)
    elif kind in {"simple_expansion", "expansion"}:
        _variable(reader, node, state, pieces, quoted)
    elif kind == "command_substitution":
        output = reader.output(node, state)
        if output is not None:
            pieces.append(Piece(output.text, quoted, output.exact, output.loose))
        else:
            pieces.append(Piece(_shown(reader.source(node)), quoted, known=False, loose=True))
    elif kind == "process_substitution":
        reader.substitutions(node, state)
        pieces.append(Piece("/dev/fd/63", quoted=True, known=False))
    elif kind == "arithmetic_expansion":
        reader.out.arithmetic = True
        reader.substitutions(node, state)
        pieces.append(Piece("$((…))", quoted=True, known=False))
    elif kind == "brace_expression":
        pieces.append(Piece(reader.source(node), known=False))
    else:
        _unknown(reader, node, state, pieces, quoted)


def _unknown(reader: Reader, node: "Node", state: State, pieces: list[Piece], quoted: bool) -> None:
    reader.substitutions(node, state)
    pieces.append(Piece(_shown(reader.source(node)), quoted, known=False, loose=True))


def _shown(source: str) -> str:
    """What is put together at run time, as it is shown: it begins with "$", like everything that is not known."""
    return (
        "$(" + source.strip("`") + ")" if source.startswith("`") else source if source.startswith("$") else "$" + source
    )


def _escaped(source: str, pieces: list[Piece]) -> None:
    """A bare word with backslashes."""
    at = 0
    for match in BACKSLASH.finditer(source):
        if match.start() > at:
            pieces.append(Piece(source[at : match.start()]))
        if match[1] != "\n":
            pieces.append(Piece(match[1], quoted=True))
        at = match.end()
    if at < len(source):
        pieces.append(Piece(source[at:]))


def _string(reader: Reader, node: "Node", state: State, pieces: list[Piece]) -> None:
    """Text in double quotes, with what is expanded in it."""
    inner: list[Piece] = []
    at = node.start_byte + 1
    for child in node.named_children:
        if child.type == "string_content":
            continue
        _plain(reader, at, child.start_byte, inner)
        _pieces(reader, child, state, inner, quoted=True)
        at = child.end_byte
    _plain(reader, at, node.end_byte - 1, inner)
    if all(piece.known for piece in inner):
        inner = [Piece("".join(piece.text for piece in inner), quoted=True)]
    pieces += [piece._replace(quoted=True) for piece in inner] or [Piece("", quoted=True)]


def _plain(reader: Reader, start: int, end: int, pieces: list[Piece]) -> None:
    if end > start:
        text = reader.between(start, end)
        pieces.append(Piece(IN_QUOTES.sub(lambda found: "" if found[1] == "\n" else found[1], text), quoted=True))


def _ansi(reader: Reader, node: "Node", pieces: list[Piece]) -> None:
    """Text in $'…'."""
    source = reader.source(node)
    if ANSI_WHOLE.fullmatch(source) is None:
        reader.out.add("unknown", span=reader.span(node), detail="quotes that may end elsewhere")
    text = ANSI.sub(_ansi_letter, source[2:-1])
    pieces.append(Piece(text.partition("\0")[0], quoted=True))


def _ansi_letter(found: "re.Match[str]") -> str:
    octal, *hexes, control, letter = found.groups()
    if octal:
        return chr(int(octal, 8) & 255)
    for digits in hexes:
        if digits:
            return chr(min(int(digits, 16), 0x10FFFF))
    if control:
        return chr(ord(control) & 31)
    return ANSI_LETTERS.get(letter, letter if letter in "\\'\"?" else "\\" + letter)


def _concatenation(reader: Reader, node: "Node", state: State, pieces: list[Piece]) -> None:
    at = node.start_byte
    for child in node.children:
        if child.start_byte != at:  # something stands between that the grammar passed over
            pieces.append(Piece("$", known=False, loose=True))
        at = child.end_byte
        if child.type == "``":
            reader.out.add("unknown", span=reader.span(node), detail="backquotes that may belong elsewhere")
            continue
        _pieces(reader, child, state, pieces, quoted=False)
    if at != node.end_byte:
        pieces.append(Piece("$", known=False, loose=True))


def _variable(reader: Reader, node: "Node", state: State, pieces: list[Piece], quoted: bool) -> None:
    source = reader.source(node)
    if RUNS_VALUE.search(source):
        reader.out.arithmetic = True
        if source.endswith(("@P}", "@E}")):
            reader.out.add("unknown", span=reader.span(node), detail="a value that is run")
    if VARIABLE.fullmatch(source):
        value = state.value(source.strip("${}") or "$")
        if value is None:
            if SECRET_NAME.fullmatch(name := source.strip("${}")):
                reader.out.add("secret", f"${name}", "name", span=reader.span(node))
            pieces.append(Piece(source, quoted and source != "$@", known=False, loose=True))
            return
        _value(value, pieces, quoted)
        return
    if TEMPORARY.fullmatch(source) and "TMPDIR" not in {*state.variables, *state.given}:
        pieces.append(Piece("/tmp", quoted, known=False))
        return
    if (shortened := _shortened(source, state)) is not None:
        _value(shortened, pieces, quoted)
        return
    if node.type == "simple_expansion":
        reader.out.add("unknown", span=reader.span(node), detail="a line that ends elsewhere")
    reader.out.arithmetic |= "[" in source or ":" in source
    reader.substitutions(node, state)
    pieces.append(Piece(_shown(source), quoted, known=False, loose=not source.startswith("${#")))


def _shortened(source: str, state: State) -> Word | None:
    """`${name%.in}` of a value that is known to end so."""
    found = SHORTENED.fullmatch(source)
    value = state.value(found[1]) if found is not None else None
    if found is None or value is None or value.loose or not value.text.endswith(found[2]):
        return None
    return value._replace(text=value.text.removesuffix(found[2]), at=None) if value.text != found[2] else None


def _value(value: Word, pieces: list[Piece], quoted: bool) -> None:
    """What a variable holds, put in its place; unquoted, blanks and globs in it count."""
    if quoted or not re.search(r"\s", value.text):
        pieces.append(Piece(value.text, quoted, value.exact, value.loose))
        return
    for at, part in enumerate(value.text.split()):
        if at:
            pieces.append(Piece(SPLIT))
        pieces.append(Piece(part, known=value.exact, loose=value.loose))


# Names of the environment that hold secrets, as programs and services document them.
SECRET_NAME = re.compile(
    r"[A-Z\d_]*(?:SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|(?:ACCESS|PRIVATE|SIGNING|ENCRYPTION)_KEY|CREDENTIALS?|TOKEN)"
    r"(?:_KEY|_BASE|_VALUE)?"
)
SPLIT = "\0"  # between two words that one variable becomes; no word holds it


def _braced(pieces: list[Piece]) -> list[list[Piece]]:
    """The pieces of each word that braces and the blanks of values make of `pieces`."""
    texts = [piece.text for piece in pieces]
    if SPLIT not in texts and "{" not in "".join(texts):  # as most are
        return [pieces]
    found = _expanded(pieces) if any(not piece.quoted and "{" in piece.text for piece in pieces) else [pieces]
    made: list[list[Piece]] = []
    for some in found:
        made.append([])
        for piece in some:
            if piece.text == SPLIT:
                made.append([])
            else:
                made[-1].append(piece)
    return made


def _expanded(pieces: list[Piece]) -> list[list[Piece]]:
    """Brace expansion, {a,b} and {1..3}; where that becomes too much, one word that may be anything."""
    letters = [
        Piece(letter, piece.quoted, piece.known, piece.loose)
        for piece in pieces
        for letter in (piece.text if not piece.quoted and piece.known and piece.text != SPLIT else (piece.text,))
    ]
    made = [letters]
    at = 0
    while at < len(made):
        parts = _first_brace(made[at])
        if parts is None:
            at += 1
            continue
        made[at : at + 1] = parts
        if len(made) > MOST_WORDS or sum(map(len, made)) > 20_000:
            return [[Piece("$" + "".join(piece.text for piece in pieces), known=False, loose=True)]]
    return made


def _first_brace(letters: list[Piece]) -> list[list[Piece]] | None:
    """`letters` once for each choice of their first braces, None where there are none."""
    for start, letter in enumerate(letters):
        if letter.quoted or letter.text != "{":
            continue
        depth, cuts = 0, [start]
        for at in range(start, len(letters)):
            text = "" if letters[at].quoted else letters[at].text
            depth += (text == "{") - (text == "}")
            if text == "," and depth == 1:
                cuts.append(at)
            if depth == 0:
                choices = _choices(letters, cuts, at)
                if choices is not None:
                    return [letters[:start] + choice + letters[at + 1 :] for choice in choices]
                break
    return None


def _choices(letters: list[Piece], cuts: list[int], end: int) -> list[list[Piece]] | None:
    if len(cuts) > 1:
        return [letters[a + 1 : b] for a, b in zip(cuts, [*cuts[1:], end], strict=True)]
    inner = "".join(piece.text for piece in letters[cuts[0] + 1 : end])
    if RANGE.fullmatch(inner):
        return [[Piece("{" + inner + "}", quoted=True, known=False)]]
    return None
