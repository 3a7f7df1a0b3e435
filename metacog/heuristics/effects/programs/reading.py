"""What a row makes of a command: its effects with their words, what it runs, and what it prints."""

import re
from collections.abc import Sequence
from functools import cache

from ..effect import new
from .flags import NO_FLAG, PATH_EFFECTS, VALUES, Flag, Place
from .powers import effect_of
from .split import Split
from .words import Applied, Found, Word, is_input, is_like, tail

FILE = re.compile(r"~/|\.\./|/(?:home|root|Users|tmp|etc|mnt)/")  # among the names of tasks, such as Bazel's "//a:b"
FILED = frozenset({"-f", "--file"})
MARKS = frozenset({"-i", "-I", "--replace"})  # by which xargs is told where the words that it is given go
SLICE = re.compile(r"(\d*):(-?\d*)")
SLICES = {"first": slice(1), "last": slice(-1, None), "rest": slice(-1)}


class Reading(Split):
    """One command whose flags are told apart, and what follows from them."""

    def applied(self) -> Applied:
        result, row = self.result, self.row
        self._split()
        if len(self.words) == len(self.places) + 1 and self.words[-1].text.startswith("-") and self._asks_for_help():
            helped = Applied(result.program, result.subcommand)
            helped.flags, helped.found = result.flags, [Found("read", None)]
            return helped
        if row.code and not result.code and not self._is_coded():
            result.code += [(language, word) for place, language in row.code.items() for word in self._at(place)]
        if not result.code and not result.runs:
            self._files()
        if row.pipes:
            self._lists()
        if self.alone is not None:
            result.runs, result.code, result.stdin = [], [], ""
            self._add(self.alone)
            return result
        if row.cases:
            self._cases()
        self._add(row.effects if self.only is None else self.only)
        for flag, value in self.extra:
            if flag.effects:
                self._add(flag.effects, value, flag)
        if row.tasks and self.only is None:
            self._tasks()
        return result

    def _tasks(self) -> None:
        """What the names of the tasks say that it runs: `make deploy`, `npm run deploy`."""
        subcommand = self.result.subcommand.split()
        if subcommand and subcommand[0] not in {"run", "run-script", "task"}:
            return
        own = self.result.operands[self.result.behind :] if self.result.behind is not None else ()
        named = [
            found.word
            for found in self.result.found
            if found.word is not None and found.effect == "execute" and found.word not in own
        ]
        given = [self.words[at] for at in self.places] + named
        for word in given:
            effect = effect_of(word.text) if not word.loose else None
            if effect is not None:
                self.result.found.append(Found(effect, word, "name"))

    def _asks_for_help(self) -> bool:
        word = self.words[-1].text
        if word == "-V":  # alone it is the version's, where a row says nothing else of it
            return not self.places and "-V" not in self.row.flags
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
        return any(flag in FILED for flag, _ in self.result.flags)

    def _lists(self) -> None:
        """Whether it prints names, and below what."""
        result, row = self.result, self.row
        result.joins, result.remote, result.feeds = row.joins, row.remote, row.feeds
        given = {flag for flag, _ in result.flags}
        result.names, result.deep = row.names, row.deep is None or not given.isdisjoint(row.deep)
        result.marks = bool(row.feeds) and not given.isdisjoint(MARKS)
        if row.lists is not None and not given & row.lists_unless and (not row.lists_if or given & row.lists_if):
            result.lists = [*self._at(row.lists)] or [Word(".")]
        result.passes = row.passes and (row.lists is None or not self._at(row.lists))

    def _cases(self) -> None:
        given = {flag for flag, _ in self.result.flags}
        for case in self.row.cases:
            if not given.isdisjoint(case.unless) or (case.flags and given.isdisjoint(case.flags)):
                continue
            hits = [word for word in self._at(case.operand) if case.globs and is_like(word, case.globs) is not case.no]
            if case.globs and not hits:
                continue
            for place in case.effects:
                if place.place == "matching":
                    self.result.found += [Found(place.effect, word, case.objects or self.objects) for word in hits]
                else:
                    self._add((place,))
            if case.only:
                self.only = []

    def _add(self, places: Sequence[Place], value: Word | None = None, flag: Flag = NO_FLAG) -> None:
        found, detail = self.result.found, flag.detail
        for effect, place, optional, is_path in places:
            if place in VALUES:
                of = flag.objects or ("path" if effect in PATH_EFFECTS else self.objects)
                found += [Found(effect, word, of, detail) for word in value_of(value, place)]
                continue
            of = "path" if is_path else flag.objects or self.objects
            words = self._at(place)
            if words and effect == "execute" and of == "name":  # a file from elsewhere is one where others name a task
                found += [Found(effect, word, "path" if FILE.match(word.text) else of, detail) for word in words]
            elif words:
                found += [new(Found, (effect, word, of, detail)) for word in words]
            elif not optional and self.named:
                found += [Found(effect, word, of, detail) for word in self.named]
            elif not optional:
                found.append(new(Found, (effect, None, "name" if self.row.elsewhere else "path", detail)))

    def _at(self, place: str | int | None) -> Sequence[Word]:
        if place is None:
            return ()
        if place == "operands":
            return self.result.operands
        if place == "--":
            return () if self.result.behind is None else self.result.operands[self.result.behind :]
        if place == "reads":
            return [found.word for found in self.result.found if found.effect == "read" and found.word]
        return of_place(place, self.result)


@cache
def slice_of(place: str | int) -> slice | None:
    """Which of the operands a place of a row is about; None: those of a flag."""
    if isinstance(place, int) or place.isdecimal():
        return slice(int(place), int(place) + 1 or None)
    if place in SLICES:
        return SLICES[place]
    matched = SLICE.fullmatch(place)
    return slice(int(matched[1] or 0), int(matched[2]) if matched[2] else None) if matched else None


def of_place(place: str | int, applied: Applied) -> Sequence[Word]:
    """The operands of a place, or the values of the first of these flags that is there.

    "." is the working directory, "./x" what is in it, "~/x" what is in the home folder.
    """
    if place == "operands":
        return applied.operands
    some = slice_of(place)
    if some is not None:
        return applied.operands[some]
    for name in str(place).split("|"):
        values = [value for flag, value in applied.flags if flag == name and value is not None]
        if values or name.startswith((".", "~/")):
            return values or [Word(name)]
    return ()


def value_of(value: Word | None, place: str | int | None) -> list[Word | None]:
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
            file = tail(value, place + len(sign))
            return [] if file.text == "-" else [file._replace(text=file.text.partition(";")[0])]
    return []
