"""The table of programs: what a program, its subcommand and its flags make of the words of a command.

Rows are data: those of `table/*.json`, and a policy's own before them. docs/effects.md tells their format.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from .effect import KINDS, Kind, ObjectKind

Row = Mapping[str, Any]
PATH_EFFECTS = frozenset(
    {"read", "write", "delete", "execute", "secret"}
)  # of a flag's value: a path unless it says otherwise
FLAG_KEYS = frozenset({"only", "alone", "by", "takes", "glued", "objects", "code", "detail"})
HEXADECIMAL = frozenset("0123456789xX")
VALUES = frozenset({"value", "@value", "value:"})  # places in the value of a flag
GLOBS = frozenset("*?[")
MADE = frozenset("$`*?[{~")  # what a word that the shell makes has in it, where what it makes is not known
SLICE = re.compile(r"(\d*):(-?\d*)")


class Word(NamedTuple):
    """One word of a command as the program would get it, as far as that is known.

    `exact` says that `text` is what it gets, letter by letter. Else it stands as it was written ("$X/a", "*.py").
    `loose` says that it may turn out as anything: a flag, several words, none. `at` is where `text` stands
    letter by letter in the text that was read, None where quoting or expansion changed it.
    """

    text: str
    start: int | None = None
    end: int | None = None
    exact: bool = True
    loose: bool = False
    at: int | None = None


class Found(NamedTuple):
    """An effect of a command, on one of its words."""

    effect: Kind
    word: Word | None = None
    of: ObjectKind = "path"
    detail: str = ""


@dataclass(slots=True)
class Applied:
    """What the table says of one command.

    `runs` are commands that it runs, `code` the languages and words of code that it runs, `stdin` the language of
    the code it would read from its input, `cwd` where what it runs would stand. `flags` are spelled as in the table.
    """

    program: str
    subcommand: str = ""
    flags: list[tuple[str, Word | None]] = field(default_factory=list)
    operands: list[Word] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    runs: list[list[Word]] = field(default_factory=list)
    code: list[tuple[str, Word]] = field(default_factory=list)
    cwd: Word | None = None
    assigned: list[Word] = field(default_factory=list)  # NAME=value before the command that it runs
    stdin: str = ""
    language: str = ""  # of the scripts that it takes
    script: bool = False  # its operands are a script and the script's own words
    wraps: bool = False  # it does nothing itself but run another command
    joins: bool = False  # the words of that command are joined and read by a shell
    remote: bool = False  # on another machine
    runs_modules: bool = False  # what it runs is a module of its own language, not a program
    feeds: str = ""  # where more words of that command come from: "input", "roots" (what is found below its operands)
    marks: bool = False  # they stand where it says {}
    lists: list[Word] | None = None  # it prints names below these
    passes: bool = False  # it prints lines of its input
    names: bool = False  # it looks at names and sizes of what it reads, not at what is in it
    deep: bool = False  # it reads everything below what it reads
    doubts: list[str] = field(default_factory=list)


class Programs:
    """The rows of a policy, then those of the package; a program's rows are made ready when it is first met."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._own: dict[str, list[_Row]] = {}
        self._met: dict[str, _Program] = {}
        for row in rows:
            ready = _Row(row)
            for name in _names(row):
                self._own.setdefault(name, []).append(ready)

    def __contains__(self, name: str) -> bool:
        return name in self._own or name in table()

    def is_of_a_project(self, name: str) -> bool:
        """Whether a file of that name is this program, by a path of its own or handed to an interpreter (manage.py)."""
        return any(row.project for row in self._own.get(name, ())) or name in _projects()

    def apply(self, name: str, words: Sequence[Word]) -> Applied | None:
        """What `name` does with `words` (without its own), None when no row names it."""
        if name not in self:
            return None
        program = self._met.get(name)
        if program is None:
            program = self._met[name] = _Program([*self._own.get(name, ()), *_ready(name)])
        row, places = program.row_for(words)
        if row is None:
            return None
        if row.stands_for and places:
            renamed = words[places[-1]]._replace(text=row.stands_for)
            return Applied(name, row.stands_for, runs=[[renamed, *words[places[-1] + 1 :]]], wraps=True)
        return _Reading(name, row, program.base, words, places).applied()


class _Program:
    """The rows of one program, found by one word of their subcommands and its place."""

    def __init__(self, rows: Sequence["_Row"]) -> None:
        self.plain = next((row for row in rows if () in row.subcommands), None)
        self.base = self.plain or _Row({})
        self._longest = max((len(words) for row in rows for words in row.subcommands), default=0)
        self._by_word: dict[tuple[int, str], list[_Subcommand]] = {}
        self._globs: list[_Subcommand] = []
        for row in rows:
            for words in filter(None, row.subcommands):
                subcommand = _Subcommand(words, row)
                place = subcommand.plainest
                kept = self._globs if place is None else self._by_word.setdefault((place, words[place]), [])
                kept.append(subcommand)

    def row_for(self, words: Sequence[Word]) -> tuple["_Row | None", tuple[int, ...]]:
        """The row whose subcommand asks for most of `words`, else the one without, and where that stands."""
        if not self._longest:
            return self.plain, ()
        places = _operand_places(self.base, words, self._longest)
        given = [words[at].text.lower() if self.base.fold else words[at].text for at in places if words[at].exact]
        best: _Subcommand | None = None
        for some in (self._globs, *(self._by_word.get(key, ()) for key in enumerate(given))):
            for subcommand in some:
                if (best is None or subcommand.size > best.size) and subcommand.fits(given):
                    best = subcommand
        return (best.row, tuple(places[: len(best.words)])) if best is not None else (self.plain, ())


class _Subcommand:
    """Words that may be globs. `size` is how many letters they ask for, then how many words."""

    __slots__ = ("plainest", "row", "size", "words")

    def __init__(self, words: Sequence[str], row: "_Row") -> None:
        self.words = [_Glob(word) if _is_glob(word) else word for word in words]
        self.row = row
        self.size = (sum(len(word) - word.count("*") for word in words), len(words))
        plain = [place for place, word in enumerate(words) if not _is_glob(word)]
        self.plainest = max(plain, key=lambda place: len(words[place]), default=None)

    def fits(self, given: Sequence[str]) -> bool:
        if len(self.words) > len(given):
            return False
        return all(
            word == text if isinstance(word, str) else word.fits(text)
            for word, text in zip(self.words, given, strict=False)
        )


class _Glob:
    """A glob; one with a single star is looked at without a regular expression."""

    __slots__ = ("head", "pattern", "tail")

    def __init__(self, pattern: str) -> None:
        head, _, tail = pattern.partition("*")
        self.head, self.tail = head, tail
        self.pattern = pattern if _is_glob(head) or _is_glob(tail) else ""

    def fits(self, text: str) -> bool:
        if self.pattern:
            return fnmatchcase(text, self.pattern)
        return text.startswith(self.head) and text.endswith(self.tail) and len(text) >= len(self.head) + len(self.tail)


def _is_glob(word: str) -> bool:
    return not GLOBS.isdisjoint(word)


class _Row:
    """A row with its flags and places made ready."""

    __slots__ = (
        "assignments",
        "assigns",
        "bare",
        "cases",
        "code",
        "dash_long",
        "deep",
        "effects",
        "elsewhere",
        "feeds",
        "files",
        "flags",
        "fold",
        "ignores",
        "joins",
        "lists",
        "lists_if",
        "lists_unless",
        "long_flags",
        "names",
        "objects",
        "old",
        "open",
        "passes",
        "project",
        "remote",
        "stands_for",
        "stdin",
        "stops",
        "subcommands",
        "wraps",
    )

    def __init__(self, row: Row) -> None:
        subcommands = row.get("subcommand", "")
        self.subcommands: list[tuple[str, ...]] = [
            tuple(words.split()) for words in ([subcommands] if isinstance(subcommands, str) else subcommands)
        ]
        self.stands_for = str(row.get("as", ""))
        self.project = bool(row.get("project", False))
        self.elsewhere = bool(row.get("elsewhere", False))
        self.fold = bool(row.get("fold", False))
        self.effects = _effects(row.get("effects", {}))
        self.objects: ObjectKind | None = row.get("objects")
        self.flags = {flag: _flag(spec) for flag, spec in row.get("flags", {}).items()}
        self.flags |= {flag: _Flag(takes=1) for flag in row.get("values", ())}
        self.long_flags = [flag for flag, spec in self.flags.items() if flag.startswith("--") and spec.matters]
        self.open: bool | None = row.get("open")
        self.wraps: int | None = row.get("wraps")
        self.assigns = bool(row.get("assigns", False))
        self.files = _effects({row["files"]: "first"} if isinstance(row.get("files"), str) else row.get("files", {}))
        self.stops = bool(row.get("stops", False)) or self.wraps is not None or bool(self.files)
        self.bare = _effects(row["bare"]) if "bare" in row else None
        self.stdin = str(row.get("stdin", ""))
        self.assignments = {name: _flag(spec) for name, spec in row.get("assignments", {}).items()}
        self.cases = [_Case(case) for case in row.get("cases", ())]
        self.ignores = frozenset(row.get("ignores", ()))
        self.joins = bool(row.get("joins", False))
        code = row.get("code", {})
        self.code: Mapping[str, str] = {"first": code} if isinstance(code, str) else code
        self.old = bool(row.get("old", False))
        self.remote = bool(row.get("remote", False))
        self.feeds = str(row.get("feeds", ""))
        lists = row.get("lists")
        self.lists: str | None = lists["place"] if isinstance(lists, Mapping) else lists
        self.lists_if = frozenset(lists.get("if", ())) if isinstance(lists, Mapping) else frozenset()
        self.lists_unless = frozenset(lists.get("unless", ())) if isinstance(lists, Mapping) else frozenset()
        self.passes = bool(row.get("passes", False))
        self.names = bool(row.get("names", False))
        deep = row.get("deep", ())
        self.deep: frozenset[str] | None = None if deep is True else frozenset(deep)
        self.dash_long = row.get("dash") == "long"


class _Place(NamedTuple):
    effect: Kind
    place: str | int | None
    optional: bool


class _Case:
    """Effects that a row has only where an operand looks like one of `globs`, or a flag is there, or is not."""

    __slots__ = ("effects", "flags", "globs", "no", "objects", "only", "operand", "unless")

    def __init__(self, case: Mapping[str, Any]) -> None:
        globs = case.get("glob", ())
        self.globs: list[str] = [globs] if isinstance(globs, str) else list(globs)
        self.no = bool(case.get("not", False))
        self.operand: str | int = case.get("operand", "operands")
        self.flags = frozenset(case.get("flag", ()))
        self.unless = frozenset(case.get("unless", ()))
        self.objects: ObjectKind | None = case.get("objects")
        self.only = "only" in case
        self.effects = _effects(case.get("only", case.get("effects", {})))


@dataclass(frozen=True, slots=True)
class _Flag:
    effects: tuple[_Place, ...] = ()
    takes: int = 0  # so many words behind it are its value; the last is the one that counts
    glued: bool = False  # a value stands only right behind it
    digits: bool = False  # and is only of digits: other flags may follow (`perl -l012ne`)
    only: tuple[_Place, ...] | None = None
    alone: tuple[_Place, ...] | None = None
    by: tuple[tuple[str, "_Flag"], ...] = ()
    code: str = ""
    role: str = ""  # "cwd", "command", "run", "object"
    objects: ObjectKind | None = None
    detail: str = ""

    @property
    def harms(self) -> bool:
        return bool(self.by or self.code or self.role) or any(place.effect != "read" for place in self.effects)

    @property
    def matters(self) -> bool:
        return bool(self.effects or self.by or self.code or self.role)


NO_FLAG = _Flag()


def _flag(spec: Any) -> _Flag:
    if isinstance(spec, str):
        if spec.startswith("code:"):
            return _Flag(takes=1, code=spec[5:])
        return _Flag(takes=spec != "command", role=spec)
    if not isinstance(spec, Mapping):
        return _Flag(takes=int(spec))
    effects = _effects({key: place for key, place in spec.items() if key not in FLAG_KEYS})
    by = tuple((glob, _flag(inner)) for glob, inner in spec.get("by", {}).items())
    only = _effects(spec["only"]) if "only" in spec else None
    alone = _effects(spec["alone"]) if "alone" in spec else None
    places = [place for _, place, _ in (*effects, *(only or ()), *(alone or ()))]
    glued, digits = bool(spec.get("glued", False)), spec.get("glued") == "digits"
    takes = not glued and (bool(by) or "code" in spec or any(place in VALUES for place in places))
    return _Flag(
        effects,
        int(spec.get("takes", takes)),
        glued,
        digits,
        only,
        alone,
        by,
        str(spec.get("code", "")),
        objects=spec.get("objects"),
        detail=str(spec.get("detail", "")),
    )


def _effects(spec: Mapping[str, Any]) -> tuple[_Place, ...]:
    places = []
    for name, where in spec.items():
        effect = name.removesuffix("?")
        if effect not in KINDS:
            raise ValueError(f"no effect is called {effect}")
        for place in where if isinstance(where, list) else (where,):
            places.append(_Place(effect, place, name.endswith("?")))
    return tuple(places)


def _names(row: Row) -> Sequence[str]:
    program = row["program"]
    return [program] if isinstance(program, str) else program


@cache
def table() -> dict[str, list[Row]]:
    """The package's own rows by program, as they are written."""
    rows: dict[str, list[Row]] = {}
    for path in sorted((Path(__file__).parent / "table").glob("*.json")):
        file = json.loads(path.read_bytes())
        for row in file["rows"]:
            for name in _names(row):
                rows.setdefault(name, []).append(row | {"elsewhere": True} if file.get("elsewhere") else row)
    return rows


@cache
def _projects() -> frozenset[str]:
    return frozenset(name for name, rows in table().items() if any(row.get("project") for row in rows))


@cache
def _ready(name: str) -> tuple[_Row, ...]:
    return tuple(map(_Row, table().get(name, ())))


def _operand_places(base: _Row, words: Sequence[Word], most: int) -> list[int]:
    """Where the first operands stand, by the flags that go before a subcommand."""
    places: list[int] = []
    at = 0
    while at < len(words) and len(places) < most:
        word = words[at]
        if not word.text.startswith("-") or word.text == "-":
            if word.loose:
                break
            places.append(at)
        else:
            flag = base.flags.get(word.text)
            at += flag.takes if flag is not None else 0
        at += 1
    return places


class _Reading:
    """One command on its way through its row."""

    def __init__(self, name: str, row: _Row, base: _Row, words: Sequence[Word], places: tuple[int, ...]) -> None:
        self.row, self.base, self.words, self.places = row, base, words, places
        self.open = base.open if row.open is None else row.open
        self.objects: ObjectKind = row.objects or base.objects or "path"
        self.dash_long = row.dash_long or base.dash_long
        self.named: list[Word] = []  # by flags: the objects of effects that have no place
        self.result = Applied(name, " ".join(words[at].text for at in places))
        self.only: list[_Place] | None = None
        self.alone: tuple[_Place, ...] | None = None
        self.extra: list[tuple[_Flag, Word | None]] = []
        self.ended = False
        self.left: list[Word] = []

    def applied(self) -> Applied:
        result, row = self.result, self.row
        self._split()
        if len(self.words) == len(self.places) + 1 and self._asks_for_help(self.words[-1].text):
            result.doubts.clear()
            return Applied(result.program, result.subcommand, result.flags, found=[Found("read", None)])
        if not result.code and not self._is_coded():
            result.code += [(language, word) for place, language in row.code.items() for word in self._at(place)]
        if not result.code and not result.runs:
            self._files()
        self._lists()
        if self.alone is not None:
            result.runs, result.code, result.stdin = [], [], ""
            self._add(self.alone)
            return result
        self._cases()
        self._add(row.effects if self.only is None else self.only)
        for flag, value in self.extra:
            self._add(flag.effects, value, flag)
        return result

    def _asks_for_help(self, word: str) -> bool:
        return word in {"--help", "--version"} or (word in {"-h", "-help"} and bool(self.places))

    def _files(self) -> None:
        """A script, code from the input, or nothing at all."""
        result, row = self.result, self.row
        if row.wraps is not None:
            self._add(row.bare or () if self.only is None else ())
        elif row.files and result.operands and not is_input(result.operands[0].text):
            if self.only is None:
                result.script, result.language = True, row.stdin
                self._add(row.files)
        elif row.stdin and self.only is None and (row.files or not self._is_coded()):
            result.stdin = row.stdin
        elif row.bare is not None and self.only is None and not result.operands:
            self._add(row.bare)

    def _is_coded(self) -> bool:
        """Whether a flag says where the code is."""
        return any(flag in {"-f", "--file"} for flag, _ in self.result.flags)

    def _lists(self) -> None:
        """Whether it prints names, and below what."""
        result, row = self.result, self.row
        result.joins, result.remote, result.feeds = row.joins, row.remote, row.feeds
        names = {flag for flag, _ in result.flags}
        result.names, result.deep = row.names, row.deep is None or not names.isdisjoint(row.deep)
        result.marks = not names.isdisjoint({"-i", "-I", "--replace"})
        if row.lists is not None and not names & row.lists_unless and (not row.lists_if or names & row.lists_if):
            result.lists = list(self._at(row.lists)) or [Word(".")]
        result.passes = row.passes and (row.lists is None or not list(self._at(row.lists)))

    def _spec(self, name: str) -> _Flag | None:
        flag = self.row.flags.get(name) or self.base.flags.get(name)
        return self._spec(name[1:]) if flag is None and self.dash_long and name.startswith("--") else flag

    def _split(self) -> None:
        """Tell flags, their values and operands apart."""
        at, result = 0, self.result
        if self.row.old and self.words and self.words[0].exact and re.fullmatch(r"[A-Za-z]+", self.words[0].text):
            self._old(self.words[0].text)
            at = len(self.words) - len(self.left)
        words = self.words
        flags_over = False
        while at < len(words) and not self.ended:
            word = words[at]
            text = word.text
            if at in self.places:
                pass
            elif word.loose or flags_over or len(text) < 2 or text[0] != "-":
                if word.loose and not flags_over and self._loose_matters():
                    result.doubts.append("flags made at run time")
                self._operand(word, at)
            elif text == "--" and not flags_over:
                flags_over = True
                result.flags.append(("--", None))
            elif not word.exact and "=" not in text and not self._ends_in_value(text):
                result.doubts.append("flags made at run time")
            else:
                at = self._flag_at(at)
            at += 1

    def _old(self, letters: str) -> None:
        """tar's oldest style: flags as the first word, without a dash, their values behind it in order."""
        self.left = list(self.words[1:])
        for letter in letters:
            name = "-" + letter
            spec = self._spec(name)
            if spec is None:
                self._strange(name, None, 0)
            else:
                self._give(name, spec, self.left.pop(0) if spec.takes and self.left else None)

    def _operand(self, word: Word, at: int) -> None:
        """Take a word that is no flag; where the row says so, it ends the program's own words."""
        row, result, text = self.row, self.result, word.text
        if text in row.ignores:
            return
        equals = text.find("=")
        if equals > 0 and text[:equals] in row.assignments:
            self._give(text[: equals + 1], row.assignments[text[:equals]], _tail(word, equals + 1))
        elif row.assigns and _is_assignment(text):
            result.assigned.append(word)
        elif row.wraps is not None and len(result.operands) >= row.wraps:
            result.runs.append(list(self.words[at:]))
            result.wraps = self.ended = True
        elif row.stops:
            result.operands.extend(self.words[at:] if row.wraps is None else (word,))
            self.ended = row.wraps is None
        else:
            result.operands.append(word)

    def _loose_matters(self) -> bool:
        return not self.open or any(flag.harms for flag in self.row.flags.values())

    def _ends_in_value(self, text: str) -> bool:
        """Whether only the value of a short flag is made at run time: `-j$(nproc)`."""
        spec = self._spec(text[:2]) if text[2:3] == "$" else None
        return spec is not None and bool(spec.takes or spec.glued) and not spec.role

    def _flag_at(self, at: int) -> int:
        """Take the flag at `at`; where its last word stands."""
        word = self.words[at]
        text = word.text
        spec = self._spec(text)
        if spec is not None:
            return self._take(text, spec, at)
        equals = text.find("=")
        if text.startswith("--") or self.dash_long:
            name = text if equals < 0 else text[:equals]
            value = None if equals < 0 else _tail(word, equals + 1)
            spec = self._spec(name)
            if spec is not None:
                self._give(name, spec, value)
            else:
                self._strange(name, value, at)
            return at
        return self._cluster(word, at)

    def _cluster(self, word: Word, at: int) -> int:
        """Short flags behind one dash; the last may have its value right behind it or as the next word."""
        text = word.text
        before: _Flag | None = None
        for place in range(1, len(text)):
            name = "-" + text[place]
            spec = self._spec(name)
            if before is not None and before.digits and text[place] in HEXADECIMAL:
                continue
            before = spec
            if spec is None:
                if text[1:].isdigit() and self.open:
                    return at
                self._strange(name, None, at)
            elif spec.role == "run" and place + 1 < len(text):
                return self._rest(name, [_tail(word, place + 1), *self.words[at + 1 :]], at)
            elif (spec.takes or (spec.glued and not spec.digits)) and place + 1 < len(text):
                self._give(name, spec, _tail(word, place + 1))
                return at
            elif spec.takes or spec.role:
                return self._take(name, spec, at)
            else:
                self._give(name, spec, None)
        return at

    def _strange(self, name: str, value: Word | None, at: int) -> None:
        """A flag that the row does not have: perhaps one of its own, cut short."""
        if name.startswith("--"):
            for full in (*self.row.long_flags, *self.base.long_flags):
                if full.startswith(name):
                    self._give(full, cast("_Flag", self._spec(full)), value)
        self.result.flags.append((name, value))
        if not self.open or (self.places and at < self.places[0]):
            self.result.doubts.append(f"flag {name}")

    def _take(self, name: str, spec: _Flag, at: int) -> int:
        """Take a flag whose value is the next word, or the rest of the command."""
        if spec.role == "command":
            return self._command_at(name, at)
        if spec.role == "run":
            return self._rest(name, list(self.words[at + 1 :]), at)
        if not spec.takes:
            self._give(name, spec, None)
            return at
        last = min(at + spec.takes, len(self.words) - 1)
        self._give(name, spec, self.words[last] if last > at else None)
        return last

    def _rest(self, name: str, command: list[Word], at: int) -> int:
        """Everything behind this flag is a command."""
        self.ended = True
        self.result.flags.append((name, None))
        self.result.runs_modules = name in {"-m", "--module"}
        if command:
            self.result.runs.append(command)
        return at

    def _command_at(self, name: str, at: int) -> int:
        """A command between this flag and `;` or `+`."""
        end = at + 1
        while end < len(self.words) and self.words[end].text not in {";", "+"}:
            end += 1
        self.result.flags.append((name, None))
        command = list(self.words[at + 1 : end])
        if command:
            self.result.runs.append(command)
        return end

    def _give(self, name: str, spec: _Flag, value: Word | None) -> None:
        self.result.flags.append((name, value))
        if spec.role == "cwd" and value is not None:
            self.result.cwd = value
        if spec.role == "object" and value is not None:
            self.named.append(value)
        if spec.code and value is not None:
            self.result.code.append((spec.code, value))
        for glob, inner in spec.by:
            if glob == "*" if value is None else _may_be(value, glob):
                spec = inner
                break
        else:
            if spec.by:
                self.result.doubts.append(f"value of {name}")
        if spec.only is not None:
            self.only = [*(self.only or ()), *spec.only]
        self.alone = self.alone if spec.alone is None else spec.alone
        self.extra.append((spec, value))

    def _cases(self) -> None:
        given = {flag for flag, _ in self.result.flags}
        for case in self.row.cases:
            if not given.isdisjoint(case.unless) or (case.flags and given.isdisjoint(case.flags)):
                continue
            hits = [word for word in self._at(case.operand) if case.globs and _is_like(word, case.globs) is not case.no]
            if case.globs and not hits:
                continue
            for place in case.effects:
                if place.place == "matching":
                    self.result.found += [Found(place.effect, word, case.objects or self.objects) for word in hits]
                else:
                    self._add((place,))
            if case.only:
                self.only = []

    def _add(self, places: Sequence[_Place], value: Word | None = None, flag: _Flag = NO_FLAG) -> None:
        for effect, place, optional in places:
            if place in VALUES:
                of = flag.objects or ("path" if effect in PATH_EFFECTS else self.objects)
                for word in _value(value, place):
                    self.result.found.append(Found(effect, word, of, flag.detail))
                continue
            words = list(self._at(place))
            named = isinstance(place, str) and (
                place[0] == "." or ((place[0] == "-" or place[-1] == "=") and effect in PATH_EFFECTS)
            )
            of = "path" if named else flag.objects or self.objects
            self.result.found += [Found(effect, word, of, flag.detail) for word in words]
            if not words and not optional:
                of = of if self.named else "name" if self.row.elsewhere else "path"
                self.result.found += [Found(effect, word, of, flag.detail) for word in self.named or (None,)]

    def _at(self, place: str | int | None) -> Iterator[Word]:
        operands = self.result.operands
        if isinstance(place, int) or (place and place.isdecimal()):
            place = f"{int(place)}:{int(place) + 1 or ''}"
        match place:
            case None:
                return iter(())
            case "operands":
                return iter(operands)
            case "first":
                return iter(operands[:1])
            case "last":
                return iter(operands[-1:])
            case "rest":
                return iter(operands[:-1])
            case "reads":
                return iter([found.word for found in self.result.found if found.effect == "read" and found.word])
        matched = SLICE.fullmatch(place)
        if matched is None:
            return self._of_flags(place.split("|"))
        first, last = matched.groups()
        return iter(operands[int(first or 0) : int(last) if last else None])

    def _of_flags(self, names: Sequence[str]) -> Iterator[Word]:
        """The values of the first of these flags that is there; "." is the working directory, "./x" what is in it."""
        for name in names:
            values = [value for flag, value in self.result.flags if flag == name and value is not None]
            if values or name.startswith("."):
                return iter(values or [Word(name)])
        return iter(())


def _value(value: Word | None, place: str | int | None) -> list[Word | None]:
    """A flag's value, or the part of it that `place` asks for: what it names behind "@", what stands before ":"."""
    if place == "value":
        return [value]
    if value is None:
        return []
    if place == "value:":
        return [value._replace(text=value.text.partition(":")[0])]
    for sign in ("@", "=@", "=<"):
        place = 0 if sign == "@" and value.text.startswith("@") else value.text.find(sign) if sign != "@" else -1
        if place >= 0:
            file = _tail(value, place + len(sign))
            return [] if file.text == "-" else [file._replace(text=file.text.partition(";")[0])]
    return []


def _tail(word: Word, skipped: int) -> Word:
    """The word without its first letters."""
    if word.at is None:
        return word._replace(text=word.text[skipped:])
    return word._replace(text=word.text[skipped:], start=word.at + skipped, at=word.at + skipped)


def is_input(path: str) -> bool:
    """Whether a file is what a command prints or is given, not one on disk."""
    return path in {"-", "/dev/stdin"} or path.startswith(("/dev/fd/", "/proc/self/fd/"))


def _may_be(value: Word, glob: str) -> bool:
    """Whether a value is like a glob; one that the shell makes only where the glob is about what makes it (`$PWD*`)."""
    globs = [one for one in glob.split("|") if value.exact or "$" in one or MADE.isdisjoint(value.text)]
    return _is_like(value, globs)


def _is_like(word: Word, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(word.text, glob) for glob in globs)


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.isidentifier()
