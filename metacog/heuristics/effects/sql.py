"""SQL: what each statement of a text does, and to which tables.

Words and functions are data: `sql.json`. Queries and what changes rows are parsed by sqlglot; statements that only name
what they are about (DROP, GRANT, VACUUM) are read word by word. A function that is not known to do nothing but compute
is `unknown`, and so is whatever a grammar does not take.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import urls
from .effect import Command, Effect, Kind, ObjectKind

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.tokenizer_core import Token

MAX_LENGTH = 65_536  # characters
MAX_TOKENS = 4_000
MAX_SHAPED = 500  # tokens of a statement that has a shape
MAX_DEPTH = 50  # of brackets
USUAL = ("postgres", "mysql", "tsql", "sqlite")  # where nothing says which dialect it is
OTHERS = ("snowflake", "bigquery", "clickhouse", "duckdb", "oracle", "spark")
_QUERIES = frozenset(["select", "with", "values", "table", "from", "insert", "update", "delete", "merge", "replace"])
# Words that no statement has but those that do it; unquoted elsewhere they are a second statement (T-SQL needs no `;`).
_DOING = frozenset(
    ["delete", "update", "insert", "merge", "drop", "alter", "create", "grant", "revoke", "truncate", "exec", "execute"]
)
_ALONE = frozenset(["shutdown", "reconfigure", "checkpoint", "commit", "rollback"])
_EXECUTABLE = re.compile(r"/\*M?!\d*(.*?)\*/", re.DOTALL)
_NO_COMMENT = re.compile(r"--(?=[^\s\x00-\x1f])")
_PLAIN = re.compile(r"[^\\`\[\]$#\"]*")
_TOKEN = re.compile(r"\w+|[^\w\s]")
# What psql's and sqlite3's own commands that only show something look like.
_META = re.compile(
    r"\s*\\(?:d\S*|l\+?|conninfo|timing|x|\?|h|encoding|z|sf\+?)(?:\s+[\w.*\"$]+)*\s*"
    r"|\s*\.(?:tables|schema|indexes|indices|databases|headers?|mode|width|show|help|timer)(?:\s+[\w.*%']+)*\s*"
)
_NOISE = frozenset(
    [
        *("if", "not", "exists", "only", "concurrently", "temporary", "temp", "or", "replace", "unique", "external"),
        *("local", "global", "full", "verbose", "on", "to", "of", "into", "from", "using", "analyze", "transient"),
        *("unlogged", "low_priority", "quick", "ignore", "secure", "force", "final", "public", "extended", "formatted"),
    ]
)


@dataclass(frozen=True, slots=True)
class Sql:
    """SQL as it was read. `is_simple`: one statement, no query inside. `shape`: the statement without its values."""

    effects: tuple[Effect, ...] = ()
    commands: tuple[Command, ...] = ()
    is_simple: bool = False
    shape: Mapping[str, Any] | None = None


class _Words(NamedTuple):
    statements: Mapping[tuple[str, ...], Mapping[str, Any]]
    things: Mapping[tuple[str, ...], Sequence[Kind]]
    dialects: Mapping[str, str]
    functions: frozenset[str]
    pragmas: frozenset[str]
    procedures: frozenset[str]
    secret_tables: frozenset[str]


@cache
def _words() -> _Words:
    data = json.loads(Path(__file__).with_name("sql.json").read_bytes())
    return _Words(
        {tuple(words.split()): row for words, row in data["statements"].items()},
        {tuple(words.split()): effects for words, effects in data["things"].items()},
        data["dialects"],
        *(frozenset(data[name].split()) for name in ("functions", "pragmas", "procedures", "secret_tables")),
    )


def read(text: str, dialect: str | None = None) -> Sql:
    """Read SQL; `dialect` is sqlglot's or a usual name of it, None: not known, so what any of the usual ones reads."""
    try:
        return _read(text, _dialect(dialect))
    except Exception:  # sqlglot has its own errors, and raises others where a text is odd
        return _UNREAD


def is_dialect(name: str) -> bool:
    """Tell whether SQL is read by this name of a dialect."""
    from sqlglot.dialects.dialect import Dialect

    return name in _words().dialects or (name != "" and name in Dialect.classes)


def _dialect(name: str | None) -> str | None:
    plain = (name or "").lower().replace(" ", "").replace("_", "").replace("-", "")
    plain = _words().dialects.get(plain, plain)
    return plain if plain and is_dialect(plain) else None


_UNREAD = Sql((Effect("unknown", detail="cannot be read"),))


@dataclass(slots=True)
class _Found:
    """What one dialect makes of a text. `doing` are the words in it that change something, wherever they stand."""

    effects: list[Effect]
    commands: list[Command]
    doing: frozenset[str]
    has_failed: bool = False
    is_simple: bool = False
    shape: Mapping[str, Any] | None = None


def _read(text: str, dialect: str | None) -> Sql:
    if len(text) > MAX_LENGTH or "\0" in text or _depth(text) > 2 * MAX_DEPTH:
        return _UNREAD
    if sum(1 for _ in _TOKEN.finditer(text)) > MAX_TOKENS:
        return _UNREAD
    if not text.strip():
        return Sql()
    if dialect in (None, "postgres", "sqlite") and _META.fullmatch(text):
        return Sql((Effect("read", start=0, end=len(text)),), (Command("", 0, len(text), (0,)),))
    if dialect:
        return _together([_script(text, dialect)])
    if _PLAIN.fullmatch(text) and "--" not in text and "/*" not in text:
        first = None  # each dialect finds the same words in it
        for each in (*USUAL, *OTHERS):
            found = _script(text, each)
            if not found.has_failed:
                return _together([found])
            first = first or found
        return _together([first]) if first else _UNREAD
    found_by = [_script(text, each) for each in USUAL]
    if all(found.has_failed for found in found_by):
        found_by += [_script(text, each) for each in OTHERS]
    return _together(found_by)


def _depth(text: str) -> int:
    """Count how deep brackets stand in each other, those in texts and comments, too."""
    return max(accumulate((each == "(") - (each == ")") for each in text if each in "()"), default=0)


def _together(found: Sequence[_Found]) -> Sql:
    """Give the effects that any dialect sees; one that takes the text for no SQL counts only by words of its own."""
    read = [each for each in found if not each.has_failed] or found[:1]
    effects = [effect for each in read for effect in each.effects]
    doing = frozenset[str]().union(*(each.doing for each in read))
    if any(each.has_failed and not each.doing <= doing for each in found):
        effects.append(Effect("unknown", detail="dialects differ"))
    unique = sorted(dict.fromkeys(effects), key=lambda effect: effect.start or 0)
    places = {effect: place for place, effect in enumerate(unique)}
    first = read[0]
    commands = tuple(
        command._replace(effects=tuple(sorted({places[first.effects[at]] for at in command.effects})))
        for command in first.commands
    )
    is_alike = all(each.shape == first.shape for each in read) and all(each.effect != "unknown" for each in unique)
    return Sql(tuple(unique), commands, all(each.is_simple for each in read), first.shape if is_alike else None)


@lru_cache(maxsize=32)
def _tokenizer(dialect: str) -> Callable[[str], list[Token]]:
    """Give a tokenizer that takes the words after CALL or VACUUM for words, too."""
    from sqlglot.dialects.dialect import Dialect

    base = Dialect.get_or_raise(dialect)
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what it takes for a command; so do we
    own = type("Words", (base.tokenizer_class,), {"COMMANDS": set()})
    return lambda text: own(dialect=base).tokenize(text)


def _script(text: str, dialect: str) -> _Found:
    from sqlglot.errors import SqlglotError

    try:
        tokens = _tokenizer(dialect)(text)
    except SqlglotError:
        words = frozenset(re.findall(r"[a-z]+", text.lower()))
        return _Found([Effect("unknown", detail="cannot be read")], [], words & _DOING, has_failed=True)
    found = _Script(text, dialect, tokens).read()
    if dialect == "mysql":
        for other in _without_comments(text, tokens):
            more = _script(other, dialect)
            found.effects += more.effects
            found.doing |= more.doing
            found.is_simple, found.shape = False, None
    return found


def _without_comments(text: str, tokens: Sequence[Token]) -> Iterator[str]:
    """Give what MySQL runs of comments: `/*! … */`, and what follows `--` without a blank."""
    bare = text
    at = 0
    for begin, end in [(token.start, token.end + 1) for token in tokens] + [(len(text), len(text))]:
        gap = bare[at:begin]
        shown = _NO_COMMENT.sub("+ ", _EXECUTABLE.sub(_blanked, gap))
        bare = bare[:at] + shown + bare[begin:]
        at = end
    if bare != text:
        yield bare


def _blanked(comment: re.Match[str]) -> str:
    begin, end = comment.start(1) - comment.start(), comment.end(1) - comment.start()
    return " " * begin + comment[1] + " " * (len(comment[0]) - end)


class _Script:
    """The statements of a text in one dialect."""

    def __init__(self, text: str, dialect: str, tokens: list[Token]) -> None:
        self.text, self.dialect, self.tokens = text, dialect, tokens
        self.found = _Found([], [], frozenset(map(_word, tokens)) & _DOING)

    def read(self) -> _Found:
        found, depth, deepest = self.found, 0, 0
        for token in self.tokens:
            depth += token.token_type.name in _OPENS
            depth -= token.token_type.name in _CLOSES
            deepest = max(deepest, depth)
        if not self.tokens or len(self.tokens) > MAX_TOKENS or deepest > MAX_DEPTH:
            self.say("unknown", detail="cannot be read" if self.tokens else "nothing but comments")
            found.has_failed = True
            return found
        statements = list(_statements(self.tokens))
        for tokens in statements:
            at = len(found.effects)
            shape, is_simple = self.statement(tokens)
            places = tuple(range(at, len(found.effects)))
            found.commands.append(Command("", tokens[0].start, tokens[-1].end + 1, places))
            found.is_simple = is_simple and len(statements) == 1
            kinds = {effect.effect for effect in found.effects}
            found.shape = {"sql": shape, "effects": sorted(kinds)} if shape and len(statements) == 1 else None
        return found

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
        self.say("unknown", span=_span(tokens), detail=detail)

    def statement(self, tokens: list[Token]) -> tuple[str | None, bool]:
        """Say what a statement does; give its shape, and whether no other query stands in it."""
        words = [_word(token) for token in tokens[:4]]
        read = {
            "explain": self.explain,
            "describe": self.explain,
            "desc": self.explain,
            "analyze": self.explain,
            "copy": self.copy,
            "load": self.load,
            "attach": self.attach,
            "pragma": self.pragma,
            "create": self.define,
            "alter": self.define,
            "exec": self.call,
            "execute": self.call,
            "set": self.set,
            "begin": self.begin,
            "declare": self.declare,
        }.get(words[0])
        if words[0] in _QUERIES or tokens[0].text == "(":
            return self.query(tokens)
        if read is None:
            read = self.plain
        read(tokens, words)
        return None, True

    def plain(self, tokens: list[Token], words: list[str]) -> None:
        """Read a statement that says no more than its words and what it names."""
        known = _words().statements
        for length in (3, 2, 1):
            if (row := known.get(tuple(words[:length]))) is not None:
                break
        else:
            self.found.has_failed = True
            return self.fail(tokens)
        names = list[tuple[str, int, int]]()
        of: ObjectKind = "table"
        if row.get("objects") == "on":
            at = next((at for at, token in enumerate(tokens) if _word(token) == "on"), len(tokens))
            thing, names = _named(tokens[at:])
        elif row.get("objects"):
            thing, names = _named(tokens[length:])
            of = "table" if not thing or thing[-1] in ("table", "view", "index") else "name"
            if words[0] == "drop" and "privilege" in _words().things.get(thing, ()):
                self.say_of("privilege", names, of)
        for kind in row["effects"]:
            for name, start, end in names:
                self.say(kind, name, (start, end), of)
            if not names:
                self.say(kind)
        if words[0] == "vacuum" and (into := _string_after(tokens, "into")):
            self.file("write", into)
        if row.get("objects") != "on" and words[0] != "show":
            self.refuse_doing(tokens[length:])
        return None

    def begin(self, tokens: list[Token], words: list[str]) -> None:
        """Read the begin of a transaction; that of a block (T-SQL, PL/SQL) is not read."""
        if all(token.text == "," or _word(token) in _TRANSACTION for token in tokens):
            return None
        self.found.has_failed = True
        return self.fail(tokens)

    def declare(self, tokens: list[Token], words: list[str]) -> None:
        """Read the declaration of a cursor, and of a variable with a plain value."""
        bare = [_word(token) for token in tokens]
        if "cursor" in bare and "for" in bare[:-1]:
            self.query(tokens[bare.index("for") + 1 :])
        elif not tokens[1].text.startswith("@") or "(" in [token.text for token in tokens[3:]]:
            self.found.has_failed = True
            self.fail(tokens)
        else:
            self.refuse_doing(tokens)

    def refuse_doing(self, tokens: Sequence[Token], but: Callable[[str], bool] = lambda word: False) -> None:
        """Refuse a word that changes something where nothing is changed so: T-SQL needs no semicolon."""
        for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
            word = _word(token)
            if word in _ALONE and (after is None or _word(after)) and before and before.text not in (".", ",", "as"):
                self.fail([token])
            if (
                word not in _DOING
                or but(word)
                or (before and before.text == ".")
                or (after and after.text in ("(", "."))
            ):
                continue
            if not before or _word(before) not in ("for", "on", "key", "then", "do", "or", "as"):
                self.fail([token])

    def explain(self, tokens: list[Token], words: list[str]) -> None:
        """Read EXPLAIN, which runs nothing unless it says ANALYZE, and what it explains; ANALYZE alone counts rows."""
        at, depth = 1, 0
        while at < len(tokens) and (depth or _word(tokens[at]) not in _QUERIES):
            depth += (tokens[at].text == "(") - (tokens[at].text == ")")
            at += 1
        rest = tokens[at:]
        runs = "analyze" in map(_word, tokens[:at]) or "analyse" in map(_word, tokens[:at])
        if rest and runs:
            self.query(rest)
        elif words[0] == "analyze":
            self.plain(tokens, words)
        elif rest:
            self.say("read")
        else:
            _thing, names = _named(tokens[1:])
            self.say_of("read", names, "table")

    def copy(self, tokens: list[Token], words: list[str]) -> None:
        """Read PostgreSQL's COPY, and Snowflake's COPY INTO."""
        depth = 0
        for at, token in enumerate(tokens):
            depth += (token.text == "(") - (token.text == ")")
            word = _word(token) if depth == 0 else ""
            if word in ("from", "to") and at:
                break
        else:
            return self.fail(tokens)
        table, other = tokens[1:at], tokens[at + 1 :]
        if not other:
            return self.fail(tokens)
        is_in = word == "from"
        if words[1] == "into":
            if names := _named(tokens[1:at])[1]:
                self.say_of("write", names, "table")
                return self.say("fetch")
            self.say("send")  # to a stage or an address
            return self.say("read")
        if table and table[0].text == "(":
            self.query(table[1:-1])
        else:
            _thing, names = _named(table)
            self.say_of("write" if is_in else "read", names, "table")
        target = _word(other[0])
        if target == "program":
            self.say("execute", span=_span(other[:2]))
            self.fail(other[:2], "runs a program")
        elif _is_string(other[0]):
            self.file("read" if is_in else "write", other[0])
        elif target not in ("stdin", "stdout", "pstdin", "pstdout"):
            self.fail(tokens)
        return None

    def load(self, tokens: list[Token], words: list[str]) -> None:
        """Read LOAD DATA of MySQL and Hive."""
        if words[1] not in ("data", "xml"):
            self.found.has_failed = True
            return self.fail(tokens)
        if file := next((token for token in tokens if _is_string(token)), None):
            self.file("read", file)
        at = next((at for at, token in enumerate(tokens) if _word(token) == "table"), len(tokens))
        _thing, names = _named(tokens[at:])
        self.say_of("write", names, "table")
        return None

    def attach(self, tokens: list[Token], words: list[str]) -> None:
        if file := next((token for token in tokens if _is_string(token)), None):
            return self.file("write", file)
        return self.fail(tokens)

    def pragma(self, tokens: list[Token], words: list[str]) -> None:
        name = next((_word(token) for token in reversed(tokens[1:4]) if _word(token) in _words().pragmas), "")
        is_read = bool(name) and not any(token.text == "=" for token in tokens)
        self.say("read" if is_read or len(tokens) == 2 else "write", span=_span(tokens))
        return None

    def define(self, tokens: list[Token], words: list[str]) -> None:
        """Read CREATE and ALTER."""
        things, bare = _words().things, [_word(token) for token in tokens]
        thing, names = _named(tokens[1:])
        if not thing:
            self.found.has_failed = True
            return self.fail(tokens)
        if thing[-1] in ("system", "privileges", "session"):
            names = []  # there is but one
        of: ObjectKind = "table" if thing[-1] in ("table", "view", "index") else "name"
        self.say_of("write", names, of)
        for kind in things[thing]:
            self.say_of(kind, names, of, "runs later" if kind == "unknown" else "")
        is_replaced = thing[-1] == "table" and bare[:3] == ["create", "or", "replace"]
        is_cut = bare[0] == "alter" and not {"drop", "truncate"}.isdisjoint(bare)
        if is_replaced or is_cut:
            self.say_of("delete", names, of)
            self.say_of("irreversible", names, of)
        if bare[0] == "alter" and (("owner", "to") in pairwise(bare) or {"security", "superuser"} & set(bare)):
            self.say_of("privilege", names, of)
        at = bare.index("as") + 1 if bare[0] == "create" and of == "table" and "as" in bare else len(bare)
        if at < len(bare) and (bare[at] in _QUERIES or tokens[at].text == "("):
            self.query(tokens[at:])
        elif "unknown" not in things[thing]:
            self.refuse_doing(tokens[1:], lambda word: "privilege" in things[thing] or word in ("drop", "truncate"))
        return None

    def call(self, tokens: list[Token], words: list[str]) -> None:
        """Read a call of a stored procedure: what it does is not said here."""
        if words[0].startswith("exec") and words[1] in _words().procedures and not {"select", "("} & set(words):
            return self.say("read", tokens[1].text, _span(tokens[1:2]), "name")
        self.say("execute", span=_span(tokens))
        return self.fail(tokens)

    def set(self, tokens: list[Token], words: list[str]) -> None:
        if "(" in [token.text for token in tokens]:
            return self.fail(tokens)
        if "@@global" in self.text[tokens[0].start : tokens[-1].end + 1].replace(" ", "").lower():
            words = ["set", "global"]
        return self.plain(tokens, words)

    def file(self, kind: Kind, token: Token) -> None:
        """Say that a file, or an address, is read from or written to."""
        span = (token.start, token.end + 1)
        if address := urls.read(token.text):
            return self.say("fetch" if kind == "read" else "send", address.text, span, "url", address.detail)
        return self.say(kind, token.text, span, "path")

    def query(self, tokens: list[Token]) -> tuple[str | None, bool]:
        """Read a query, or what changes rows."""
        tokens = self._without_outfile(tokens)
        if _word(tokens[0]) == "replace":
            tokens = [_as_insert(tokens[0]), *tokens[1:]]
        try:
            tree = _parsed(tokens, self.text, self.dialect)
        except Exception:  # ParseError, and RecursionError or ValueError where a text is odd
            tree = None
        if tree is None:
            self.found.has_failed = True
            self.fail(tokens)
            return None, False
        return _Query(self, tree, tokens).read()

    def _without_outfile(self, tokens: list[Token]) -> list[Token]:
        for at in range(len(tokens) - 2):
            if _word(tokens[at]) == "into" and _word(tokens[at + 1]) in ("outfile", "dumpfile"):
                self.file("write", tokens[at + 2])
                return tokens[:at] + tokens[at + 3 :]
        return tokens


_TRANSACTION = frozenset(
    [
        *("begin", "transaction", "work", "tran", "read", "only", "write", "isolation", "level", "serializable"),
        *("repeatable", "committed", "uncommitted", "deferrable", "not", "immediate", "exclusive", "deferred"),
    ]
)
_OPENS, _CLOSES = ("L_PAREN", "L_BRACKET", "L_BRACE"), ("R_PAREN", "R_BRACKET", "R_BRACE")


def _parsed(tokens: list[Token], text: str, dialect: str) -> exp.Expr | None:
    """Parse one statement; None: not as a query or a change of rows."""
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

    kinds = (exp.Query, exp.Values, exp.Insert, exp.Update, exp.Delete, exp.Merge)
    (tree,) = Dialect.get_or_raise(dialect).parser().parse(tokens, text)
    return tree if isinstance(tree, kinds) else None


def _as_insert(token: Token) -> Token:
    """Read REPLACE as the INSERT that it is; sqlglot takes it for a command."""
    from sqlglot.tokenizer_core import Token, TokenType

    return Token(TokenType.INSERT, "INSERT", token.line, token.col, token.start, token.end)


def _statements(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Cut at each semicolon, and at GO on a line of its own."""
    statement: list[Token] = []
    for at, token in enumerate(tokens):
        is_go = (
            _word(token) == "go"
            and (not at or tokens[at - 1].line < token.line)
            and (at + 1 == len(tokens) or tokens[at + 1].line > token.line)
        )
        if token.token_type.name == "SEMICOLON" or is_go:
            if statement:
                yield statement
            statement = []
        else:
            statement.append(token)
    if statement:
        yield statement


def _word(token: Token) -> str:
    """Give an unquoted word in small letters, "" for anything else."""
    name = token.token_type.name
    return "" if name == "IDENTIFIER" or _is_string(token) or not token.text[:1].isalpha() else token.text.lower()


def _is_string(token: Token) -> bool:
    return token.token_type.name.endswith("STRING")


def _span(tokens: Sequence[Token]) -> tuple[int, int]:
    return tokens[0].start, tokens[-1].end + 1


def _named(tokens: Sequence[Token]) -> tuple[tuple[str, ...], list[tuple[str, int, int]]]:
    """Read `TABLE IF EXISTS a, s.b`: what kind of thing, and the names."""
    at, thing = 0, tuple[str, ...]()
    things = _words().things
    while at < len(tokens) and (word := _word(tokens[at])):
        pair = (word, _word(tokens[at + 1])) if at + 1 < len(tokens) else (word,)
        if not thing and (pair in things or (word,) in things):
            thing = pair if pair in things else (word,)
            at += len(thing)
        elif word in _NOISE:
            at += 1
        else:
            break
    names = list[tuple[str, int, int]]()
    while at < len(tokens) and (_word(tokens[at]) or tokens[at].token_type.name == "IDENTIFIER"):
        parts = [tokens[at]]
        while at + 2 < len(tokens) and tokens[at + 1].text == ".":
            at += 2
            parts.append(tokens[at])
        names.append((".".join(part.text for part in parts), parts[0].start, parts[-1].end + 1))
        at += 1
        if at < len(tokens) and tokens[at].text == ",":
            at += 1
        else:
            break
    return thing, names


def _string_after(tokens: Sequence[Token], word: str) -> Token | None:
    return next((second for first, second in pairwise(tokens) if _word(first) == word and _is_string(second)), None)


class _Query:
    """One query or change of rows, parsed."""

    def __init__(self, script: _Script, tree: exp.Expr, tokens: Sequence[Token]) -> None:
        self.script, self.tree, self.tokens = script, tree, tokens

    def read(self) -> tuple[str | None, bool]:
        from sqlglot import exp

        script, tree = self.script, self.tree
        changed, effects, begin = set[int](), script.found.effects, len(script.found.effects)
        for node in tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Into, exp.Lock):
            changed.update(self._change(node))
        names = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
        for table in tree.find_all(exp.Table):
            if id(table) not in changed:
                self._table(table, names)
        if len(effects) == begin or (
            isinstance(tree, exp.Query) and not any(effect.effect == "read" for effect in effects[begin:])
        ):
            script.say("read")
        inner = tree.find_all(exp.Query, exp.Insert, exp.Update, exp.Delete, exp.Merge)
        self._functions()
        kinds = {"delete": exp.Delete, "update": exp.Update, "insert": exp.Insert, "merge": exp.Merge}
        script.refuse_doing(self.tokens, lambda word: word in kinds and tree.find(kinds[word]) is not None)
        shape = None
        is_read = not any(effect.effect == "unknown" for effect in effects[begin:])
        if is_read and len(self.tokens) <= MAX_SHAPED:
            shape = _shape(tree, script.dialect)
        return shape, all(node is tree for node in inner)

    def _change(self, node: exp.Expr) -> Iterator[int]:
        from sqlglot import exp

        script = self.script
        if isinstance(node, exp.Lock):
            return script.say("write", detail="locks rows")
        if isinstance(node.parent, exp.When):
            return None  # a part of MERGE
        targets = list[exp.Table]()
        for part in [*(node.args.get("tables") or ()), node.this]:
            if (table := part if isinstance(part, exp.Table) else part.find(exp.Table) if part else None) is not None:
                targets.append(table)
        no_where = "" if isinstance(node, exp.Insert | exp.Merge | exp.Into) or _is_limited(node) else "no WHERE"
        kinds: list[Kind] = ["write"]
        if isinstance(node, exp.Delete):
            kinds = ["delete", "irreversible"] if no_where else ["delete"]
            yield id(targets[-1])
            targets = targets[:-1] or targets
        elif isinstance(node, exp.Insert) and node.args.get("overwrite"):
            kinds = ["write", "delete", "irreversible"]
        elif isinstance(node, exp.Merge):
            deletes = any(
                isinstance(then := when.args.get("then"), exp.Var) and then.name.lower() == "delete"
                for when in node.find_all(exp.When)
            )
            kinds = ["write", "delete"] if deletes else ["write"]
        for table in targets:
            for kind in kinds:
                name, span = _table_name(table)
                script.say(kind, name, span, "table" if name else None, no_where)
            if not isinstance(table.this, exp.Identifier) or not _table_name(table)[0]:
                script.fail(self.tokens, "the table is not named")
            yield id(table)
        if not targets:
            for kind in kinds:
                script.say(kind, detail=no_where)
        return None

    def _table(self, table: exp.Table, names: set[str]) -> None:
        from sqlglot import exp

        script = self.script
        if isinstance(table.this, exp.Func):
            return  # `_functions` sees it
        name, span = _table_name(table)
        if not isinstance(table.this, exp.Identifier) or not name:
            if not isinstance(table.this, exp.Parameter):  # T-SQL: a variable that holds a table
                script.fail(self.tokens, "the table is not named")
            return
        if not table.db and name.lower() in names:
            return
        if address := urls.read(name):
            return script.say("fetch", address.text, span, "url", address.detail)
        if "/" in name:
            return script.say("read", name, span, "path")
        script.say("read", name, span, "table")
        if name.lower() in _words().secret_tables or name.lower().rpartition(".")[2] in _words().secret_tables:
            script.say("secret", name, span, "table")

    def _functions(self) -> None:
        """Say of each function that is not known to do nothing but compute that it is unknown."""
        from sqlglot import exp

        script = self.script
        for node in self.tree.find_all(exp.Func, exp.Command, exp.QueryTransform):
            if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
                name = node.name if isinstance(node.this, str) else node.this.name
                if not _is_pure(_qualified(node, name)):
                    span = _span_of(node) or _span(self.tokens)
                    script.say("unknown", name, span, "name", "function")
            elif (
                isinstance(node, exp.Command | exp.QueryTransform)
                or type(node).__name__ in _DOES
                or (isinstance(node.parent, exp.Dot) and node.parent.expression is node and not _is_system(node.parent))
            ):
                script.fail(self.tokens, "function")


# sqlglot's own functions that do more than compute: they move a sequence, read files, or have a model write.
_DOES = frozenset(
    [
        *("NextValueFor", "ReadCSV", "ReadParquet", "DynamicIdentifier", "Secret", "ToFile", "Predict", "MLForecast"),
        *("MLTranslate", "GenerateEmbedding", "GenerateTable", "GenerateText", "GenerateBool", "GenerateDouble"),
        *("GenerateInt", "FeaturesAtTime", "AIAgg", "AIClassify", "AIEmbed", "AIForecast", "AIGenerate"),
        *("AISimilarity", "AISummarizeAgg", "Apply"),
    ]
)


def _is_pure(name: str) -> bool:
    plain = name.lower()
    return plain in _words().functions or plain.removeprefix("pg_catalog.") in _words().functions


def _qualified(node: exp.Expr, name: str) -> str:
    from sqlglot import exp

    parent = node.parent
    if isinstance(parent, exp.Dot) and parent.expression is node:
        return f"{parent.this.sql()}.{name}"
    if isinstance(parent, exp.Table) and parent.db:
        return f"{parent.db}.{name}"
    return name


def _is_system(dot: exp.Expr) -> bool:
    return str(dot.this.name).lower() in ("pg_catalog", "safe", "net")


def _table_name(table: exp.Table) -> tuple[str, tuple[int, int] | None]:
    parts = table.parts
    name = ".".join(part.name for part in parts)
    spans = [span for part in parts if (span := _span_of(part))]
    return name, (spans[0][0], spans[-1][1]) if spans else None


def _span_of(node: exp.Expr) -> tuple[int, int] | None:
    meta = node.meta
    return (meta["start"], meta["end"] + 1) if "start" in meta else None


def _is_limited(node: exp.Expr) -> bool:
    """Tell whether a WHERE is there that leaves any row out."""
    where = node.args.get("where")
    return where is not None and _truth(where.this) is not True


def _truth(node: exp.Expr) -> bool | None:
    """Say what an expression is of every row; None: that depends on the row, or cannot be told."""
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return _truth(node.this)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return node.this not in ("0", "", "0.0", "f", "false")
    if isinstance(node, exp.Not):
        inner = _truth(node.this)
        return None if inner is None else not inner
    if isinstance(node, exp.And | exp.Or):
        sides = (_truth(node.left), _truth(node.right))
        decisive = isinstance(node, exp.Or)
        return decisive if decisive in sides else None if None in sides else not decisive
    if isinstance(node, exp.EQ | exp.NullSafeEQ | exp.GTE | exp.LTE | exp.Is):
        if node.left == node.right:
            return True
        if isinstance(node.left, exp.Literal) and isinstance(node.right, exp.Literal):
            return None if isinstance(node, exp.GTE | exp.LTE) else False
    if isinstance(node, exp.NEQ | exp.GT | exp.LT) and all(
        isinstance(side, exp.Literal) for side in (node.left, node.right)
    ):
        return node.left != node.right
    if isinstance(node, exp.Like | exp.ILike) and isinstance(node.expression, exp.Literal):
        return True if set(node.expression.name) == {"%"} else None
    return None


def _shape(tree: exp.Expr, dialect: str) -> str:
    """Write a statement with `?` for each value that only says which row, or what a row is set to."""
    from sqlglot import exp

    is_query = isinstance(tree, exp.Query)
    plain = tree.copy()
    for many in list(plain.find_all(exp.In)):
        if len(many.expressions) > 1 and all(isinstance(each, exp.Literal) for each in many.expressions):
            many.set("expressions", [exp.Placeholder()])
    for literal in list(plain.find_all(exp.Literal)):
        parent = literal.parent
        is_compared = isinstance(parent, exp.EQ) and isinstance(parent.left, exp.Column) and parent.right is literal
        if is_query or is_compared or isinstance(parent, exp.Tuple | exp.In):
            literal.replace(exp.Placeholder())
    return plain.sql(dialect=dialect, comments=False)
