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
FLAG_KEYS = frozenset({"only", "by", "takes", "glued", "objects", "code", "detail"})
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
    script: bool = False  # its operands are a script and the script's own words
    wraps: bool = False  # it does nothing itself but run another command
    joins: bool = False  # the words of that command are joined and read by a shell
    remote: bool = False  # on another machine
    feeds: str = ""  # where more words of that command come from: "input", "roots" (what is found below its operands)
    marks: bool = False  # they stand where it says {}
    lists: list[Word] | None = None  # it prints names below these
    passes: bool = False  # it prints lines of its input
    doubts: list[str] = field(default_factory=list)


class Programs:
    """The rows of a policy, then those of the package, by program."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._by_name: dict[str, list[_Row]] = {}
        for row in rows:
            for name in _names(row):
                self._by_name.setdefault(name, []).append(_Row(row))
        for name, own in table().items():
            self._by_name.setdefault(name, []).extend(own)
        self._bases: dict[str, _Row] = {name: _base(of) for name, of in self._by_name.items()}
        self._longest = {name: max(len(row.subcommand) for row in of) for name, of in self._by_name.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def apply(self, name: str, words: Sequence[Word]) -> Applied | None:
        """What `name` does with `words` (without its own), None when no row names it."""
        rows = self._by_name.get(name)
        if rows is None:
            return None
        base = self._bases[name]
        row: _Row | None = base
        places: tuple[int, ...] = ()
        if self._longest[name]:
            row, places = _row_for(rows, base, words)
        if row is None:
            return None
        return _Reading(name, row, base, words, places).applied()


class _Row:
    """A row with its flags and places made ready."""

    __slots__ = (
        "assignments",
        "assigns",
        "bare",
        "cases",
        "code",
        "dash_long",
        "effects",
        "feeds",
        "files",
        "flags",
        "ignores",
        "joins",
        "lists",
        "lists_if",
        "lists_unless",
        "long_flags",
        "objects",
        "old",
        "open",
        "passes",
        "patterns",
        "remote",
        "stdin",
        "stops",
        "subcommand",
        "wraps",
    )

    def __init__(self, row: Row) -> None:
        self.subcommand: tuple[str, ...] = tuple(str(row.get("subcommand", "")).split())
        self.patterns = any(character in "*?[" for word in self.subcommand for character in word)
        self.effects = _effects(row.get("effects", {}))
        self.objects = cast("ObjectKind", row.get("objects", "path"))
        self.flags = {flag: _flag(spec) for flag, spec in row.get("flags", {}).items()}
        self.flags |= {flag: _Flag(takes=True) for flag in row.get("values", ())}
        self.long_flags = [flag for flag, spec in self.flags.items() if flag.startswith("--") and spec.matters]
        self.open = bool(row.get("open", False))
        self.wraps: int | None = row.get("wraps")
        self.assigns = bool(row.get("assigns", False))
        self.files = _effects({row["files"]: "first"} if isinstance(row.get("files"), str) else row.get("files", {}))
        self.stops = bool(row.get("stops", False)) or self.wraps is not None or bool(self.files)
        self.bare = _effects(row["bare"]) if "bare" in row else None
        self.stdin = str(row.get("stdin", ""))
        self.assignments = {name: _effects(spec) for name, spec in row.get("assignments", {}).items()}
        self.cases = [_Case(case) for case in row.get("cases", ())]
        self.ignores = frozenset(row.get("ignores", ()))
        self.joins = bool(row.get("joins", False))
        self.code = str(row.get("code", ""))
        self.old = bool(row.get("old", False))
        self.remote = bool(row.get("remote", False))
        self.feeds = str(row.get("feeds", ""))
        lists = row.get("lists")
        self.lists: str | None = lists["place"] if isinstance(lists, Mapping) else lists
        self.lists_if = frozenset(lists.get("if", ())) if isinstance(lists, Mapping) else frozenset()
        self.lists_unless = frozenset(lists.get("unless", ())) if isinstance(lists, Mapping) else frozenset()
        self.passes = bool(row.get("passes", False))
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
    takes: bool = False
    glued: bool = False  # a value stands only right behind it
    only: tuple[_Place, ...] | None = None
    by: tuple[tuple[str, "_Flag"], ...] = ()
    code: str = ""
    role: str = ""  # "cwd", "command", "run"
    objects: ObjectKind | None = None
    detail: str = ""

    @property
    def matters(self) -> bool:
        return bool(self.effects or self.by or self.code or self.role)


NO_FLAG = _Flag()


def _flag(spec: Any) -> _Flag:
    if isinstance(spec, str):
        if spec.startswith("code:"):
            return _Flag(takes=True, code=spec[5:])
        return _Flag(takes=spec != "command", role=spec)
    if not isinstance(spec, Mapping):
        return _Flag(takes=bool(spec))
    effects = _effects({key: place for key, place in spec.items() if key not in FLAG_KEYS})
    by = tuple((glob, _flag(inner)) for glob, inner in spec.get("by", {}).items())
    only = _effects(spec["only"]) if "only" in spec else None
    places = [place for _, place, _ in (*effects, *(only or ()))]
    glued = bool(spec.get("glued", False))
    takes = not glued and (bool(by) or "code" in spec or any(place in {"value", "@value"} for place in places))
    return _Flag(
        effects,
        bool(spec.get("takes", takes)),
        glued,
        only,
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


def _base(rows: Sequence[_Row]) -> _Row:
    return next((row for row in rows if not row.subcommand), _Row({}))


@cache
def table() -> dict[str, list[_Row]]:
    """The package's own rows by program."""
    rows: dict[str, list[_Row]] = {}
    for path in sorted((Path(__file__).parent / "table").glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
            ready = _Row(row)
            for name in _names(row):
                rows.setdefault(name, []).append(ready)
    return rows


def _row_for(rows: Sequence[_Row], base: _Row, words: Sequence[Word]) -> tuple[_Row | None, tuple[int, ...]]:
    """The row whose subcommand matches most words, else the one without, and where the subcommand stands."""
    places = _operand_places(base, words, max(len(row.subcommand) for row in rows))
    best: _Row | None = None
    for row in rows:
        size = len(row.subcommand)
        if not size or size > len(places) or (best is not None and not _beats(row, best)):
            continue
        if all(_is_word(pattern, words[at]) for pattern, at in zip(row.subcommand, places, strict=False)):
            best = row
    if best is not None:
        return best, tuple(places[: len(best.subcommand)])
    return next((row for row in rows if not row.subcommand), None), ()


def _beats(row: _Row, best: _Row) -> bool:
    return len(row.subcommand) > len(best.subcommand) or (
        len(row.subcommand) == len(best.subcommand) and best.patterns and not row.patterns
    )


def _is_word(pattern: str, word: Word) -> bool:
    return word.exact and (word.text == pattern or fnmatchcase(word.text, pattern))


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
            at += flag is not None and flag.takes
        at += 1
    return places


class _Reading:
    """One command on its way through its row."""

    def __init__(self, name: str, row: _Row, base: _Row, words: Sequence[Word], places: tuple[int, ...]) -> None:
        self.row, self.base, self.words, self.places = row, base, words, places
        self.result = Applied(name, " ".join(words[at].text for at in places))
        self.only: list[_Place] | None = None
        self.extra: list[tuple[_Flag, Word | None]] = []
        self.ended = False
        self.left: list[Word] = []

    def applied(self) -> Applied:
        result, row = self.result, self.row
        self._split()
        if len(self.words) == len(self.places) + 1 and self.words[-1].text in {"--help", "--version"}:
            result.doubts.clear()
            return Applied(result.program, result.subcommand, result.flags, found=[Found("read", None)])
        if not result.code and not result.runs:
            self._files()
        self._lists()
        if row.code and result.operands and not result.code and not self._is_coded():
            result.code.append((row.code, result.operands[0]))
        self._cases()
        self._add(row.effects if self.only is None else self.only)
        for flag, value in self.extra:
            self._add(flag.effects, value, flag)
        return result

    def _files(self) -> None:
        """A script, code from the input, or nothing at all."""
        result, row = self.result, self.row
        if row.wraps is not None:
            self._add(row.bare or ())
        elif result.operands and not is_input(result.operands[0].text):
            result.script = bool(row.files)
            self._add(row.files)
        elif row.stdin:
            result.stdin = row.stdin
        elif row.bare is not None and not result.operands:
            self._add(row.bare)

    def _is_coded(self) -> bool:
        """Whether a flag says where the code is."""
        return any(flag in {"-f", "--file"} for flag, _ in self.result.flags)

    def _lists(self) -> None:
        """Whether it prints names, and below what."""
        result, row = self.result, self.row
        result.joins, result.remote, result.feeds = row.joins, row.remote, row.feeds
        names = {flag for flag, _ in result.flags}
        result.marks = not names.isdisjoint({"-i", "-I", "--replace"})
        if row.lists is not None and not names & row.lists_unless and (not row.lists_if or names & row.lists_if):
            result.lists = list(self._at(row.lists)) or [Word(".")]
        result.passes = row.passes and (row.lists is None or not list(self._at(row.lists)))

    def _spec(self, name: str) -> _Flag | None:
        flag = self.row.flags.get(name)
        return flag if flag is not None or self.base is self.row else self.base.flags.get(name)

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
            elif text == "--":
                flags_over = True
            elif not word.exact and "=" not in text:
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
            self.extra.append((_Flag(row.assignments[text[:equals]]), _tail(word, equals + 1)))
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
        return not self.row.open or any(flag.matters for flag in self.row.flags.values())

    def _flag_at(self, at: int) -> int:
        """Take the flag at `at`; where its last word stands."""
        word = self.words[at]
        text = word.text
        spec = self._spec(text)
        if spec is not None:
            return self._take(text, spec, at)
        equals = text.find("=")
        if text.startswith("--") or self.row.dash_long or self.base.dash_long:
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
        for place in range(1, len(text)):
            name = "-" + text[place]
            spec = self._spec(name)
            if spec is None:
                if text[1:].isdigit() and self.row.open:
                    return at
                self._strange(name, None, at)
            elif spec.role == "run" and place + 1 < len(text):
                return self._rest(name, [_tail(word, place + 1), *self.words[at + 1 :]], at)
            elif (spec.takes or spec.glued) and place + 1 < len(text):
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
        if not self.row.open or (self.places and at < self.places[0]):
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
        if at + 1 >= len(self.words):
            self._give(name, spec, None)
            return at
        self._give(name, spec, self.words[at + 1])
        return at + 1

    def _rest(self, name: str, command: list[Word], at: int) -> int:
        """Everything behind this flag is a command."""
        self.ended = True
        self.result.flags.append((name, None))
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
        if spec.code and value is not None:
            self.result.code.append((spec.code, value))
        for glob, inner in spec.by:
            if value is not None and value.exact and _is_like(value, glob.split("|")):
                spec = inner
                break
        else:
            if spec.by:
                self.result.doubts.append(f"value of {name}")
        if spec.only is not None:
            self.only = [*(self.only or ()), *spec.only]
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
                    self.result.found += [Found(place.effect, word, case.objects or self.row.objects) for word in hits]
                else:
                    self._add((place,))
            if case.only:
                self.only = []

    def _add(self, places: Sequence[_Place], value: Word | None = None, flag: _Flag = NO_FLAG) -> None:
        for effect, place, optional in places:
            if place in {"value", "@value"}:
                of = flag.objects or ("path" if effect in PATH_EFFECTS else self.row.objects)
                for word in _value(value, place == "@value"):
                    self.result.found.append(Found(effect, word, of, flag.detail))
                continue
            words = list(self._at(place))
            named = isinstance(place, str) and place.startswith("-") and effect in PATH_EFFECTS
            of = "path" if named else flag.objects or self.row.objects
            self.result.found += [Found(effect, word, of, flag.detail) for word in words]
            if not words and not optional:
                self.result.found.append(Found(effect, None, of, flag.detail))

    def _at(self, place: str | int | None) -> Iterator[Word]:
        operands = self.result.operands
        if isinstance(place, int):
            place = f"{place}:{place + 1 or ''}"
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
        """The values of the first of these flags that is there; "." is the working directory."""
        for name in names:
            values = [value for flag, value in self.result.flags if flag == name and value is not None]
            if values or name == ".":
                return iter(values or [Word(".")])
        return iter(())


def _value(value: Word | None, at_sign: bool) -> list[Word | None]:
    """A flag's value; with `at_sign`, the file that it names behind "@" (curl -d @file, -F a=@file), or nothing."""
    if not at_sign:
        return [value]
    if value is None:
        return []
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


def _is_like(word: Word, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(word.text, glob) for glob in globs)


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.isidentifier()
