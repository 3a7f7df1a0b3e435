"""The flags, their values and the operands of a command, told apart by its row."""

import re
from collections.abc import Sequence
from typing import cast

from ..effect import ObjectKind
from .flags import Flag, Place
from .powers import WRITING, power_of
from .rows import Row
from .words import Applied, Word, is_like, tail

OUTSIDE = ("/", "~/", "../")  # how a path begins that may lead out of the workspace
PATH = frozenset("/.")
HEXADECIMAL = frozenset("0123456789xX")
SPARING = frozenset({"--dry-run", "--dryrun", "--dry", "--preview-only", "--snapshot", "--simulate", "--check"})
NO = frozenset({"false", "0", "no", "False"})
MADE = frozenset("$`*?[{~")  # what a word that the shell makes has in it, where what it makes is not known


class Split:
    """One command on its way through its row."""

    only: Sequence[Place] | None = None
    alone: tuple[Place, ...] | None = None
    taken_back = False  # a flag by which it would do less
    ended = False
    is_before = False  # where the subcommand stands, flags are the program's own

    def __init__(self, name: str, row: Row, base: Row, words: Sequence[Word], places: tuple[int, ...]) -> None:
        self.row, self.base, self.words, self.places = row, base, words, places
        self.open = base.open if row.open is None else row.open
        self.objects: ObjectKind = row.objects or base.objects or "path"
        self.dash_long = row.dash_long or base.dash_long
        self.named: list[Word] = []  # by flags: the objects of effects that have no place
        subcommand = " ".join([words[at].text for at in places]) if places else ""
        self.result = Applied(name, subcommand, elsewhere=row.elsewhere)
        self.extra: list[tuple[Flag, Word | None]] = []

    def _spec(self, name: str) -> Flag | None:
        first, second = (self.base, self.row) if self.is_before else (self.row, self.base)
        flag = first.flags.get(name) or second.flags.get(name)
        if flag is None and self.dash_long and name.startswith("--"):
            return self._spec(name[1:])
        return flag

    def _split(self) -> None:
        """Tell flags, their values and operands apart."""
        at, result = 0, self.result
        if self.row.old and self.words and self.words[0].exact and re.fullmatch(r"[A-Za-z]+", self.words[0].text):
            at = self._old(self.words[0].text)
        words, places, count = self.words, self.places, len(self.words)
        flags_over = False
        while at < count and not self.ended:
            word = words[at]
            text = word.text
            if at in places:
                pass
            elif text in NO and at and words[at - 1].text in SPARING and not flags_over:
                self._takes_back()
            elif flags_over or word.loose or text[:1] != "-" or text == "-":
                if word.loose and not flags_over and self._loose_matters():
                    result.doubts.append("flags made at run time")
                self._operand(word, at)
            elif text == "--" and not flags_over:
                flags_over, result.behind = True, len(result.operands)
                result.flags.append(("--", None))
            elif not word.exact and "=" not in text and not self._ends_in_value(text):
                result.doubts.append("flags made at run time")
            else:
                at = self._flag_at(at)
            at += 1

    def _old(self, letters: str) -> int:
        """tar's oldest style: flags as the first word, their values behind it in order; where the next word stands."""
        at = 1
        for letter in letters:
            name = "-" + letter
            spec = self._spec(name)
            if spec is None:
                self._strange(name, None, 0)
            elif spec.takes and at < len(self.words):
                self._give(name, spec, self.words[at])
                at += 1
            else:
                self._give(name, spec, None)
        return at

    def _operand(self, word: Word, at: int) -> None:
        """Take a word that is no flag; where the row says so, it ends the program's own words."""
        row, result, text = self.row, self.result, word.text
        if text in row.ignores:
            return
        equals = text.find("=")
        if equals > 0 and text[:equals] in row.assignments:
            self._give(text[: equals + 1], row.assignments[text[:equals]], tail(word, equals + 1))
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
        self.is_before = bool(self.places) and at < self.places[0]
        spec = self._spec(text)
        if spec is not None:
            return self._take(text, spec, at)
        equals = text.find("=")
        if text.startswith("--") or self.dash_long:
            name = text if equals < 0 else text[:equals]
            value = None if equals < 0 else tail(word, equals + 1)
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
        before: Flag | None = None
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
                return self._rest(name, [tail(word, place + 1), *self.words[at + 1 :]], at)
            elif (spec.takes or (spec.glued and not spec.digits)) and place + 1 < len(text):
                self._give(name, spec, tail(word, place + 1))
                return at
            elif spec.takes or spec.role:
                return self._take(name, spec, at)
            else:
                self._give(name, spec, None)
        return at

    def _takes_back(self) -> None:
        """Take note that a flag by which it would do less says no: `--dry-run=false`, `--no-dry-run`."""
        self.taken_back, self.only, self.alone = True, None, None
        self.result.flags = [one for one in self.result.flags if one[0] not in SPARING]

    def _strange(self, name: str, value: Word | None, at: int) -> None:
        """A flag that the row does not have: perhaps one of its own, cut short."""
        if name.startswith("--no-") and f"--{name.removeprefix('--no-')}" in SPARING:
            self._takes_back()
            return
        if name.startswith("--"):
            for full in (*self.row.long_flags, *self.base.long_flags):
                if full.startswith(name):
                    self._give(full, cast("Flag", self._spec(full)), value)
        self.result.flags.append((name, value))
        if not self.open or (self.places and at < self.places[0]):
            self.result.doubts.append(f"flag {name}")
        elif len(name) > 2:
            self._power(name, value or (self.words[at + 1] if at + 1 < len(self.words) else None), value is not None)

    def _power(self, name: str, value: Word | None, is_its_own: bool) -> None:
        """Take a flag that no row has by what its name says; the word behind it is its value if that is like a path."""
        power = power_of(name)
        if power is None:
            if value is not None and (is_its_own or value.text.startswith(OUTSIDE)):
                self.result.settings.append(value)
            return
        for glob, inner in power.by:
            if value is not None and may_be(value, glob):
                power = inner
                break
        if power is not WRITING or (value is not None and not PATH.isdisjoint(value.text) and value.text[0] != "-"):
            self.extra.append((power, value))

    def _take(self, name: str, spec: Flag, at: int) -> int:
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

    def _give(self, name: str, spec: Flag, value: Word | None) -> None:
        if value is not None and value.text in NO and name in SPARING:
            self._takes_back()
            return
        self.result.flags.append((name, value))
        if spec.role == "cwd" and value is not None:
            self.result.cwd = value
        if spec.role == "object" and value is not None:
            self.named.append(value)
        if spec.code and value is not None:
            self.result.code.append((spec.code, value))
        for glob, inner in spec.by:
            if glob == "*" if value is None else may_be(value, glob):
                spec = inner
                break
        else:
            if spec.by:
                self.result.doubts.append(f"value of {name}")
        if value is not None and self.row.runs and not spec.matters and spec.only is None and spec.alone is None:
            self.result.settings.append(value)
        if spec.only is not None and not (self.taken_back and name in SPARING):
            self.only = [*(self.only or ()), *spec.only]
        if not (self.taken_back and name in SPARING):
            self.alone = self.alone if spec.alone is None else spec.alone
        self.extra.append((spec, value))


def may_be(value: Word, glob: str) -> bool:
    """Whether a value is like a glob; one that the shell makes only where the glob is about what makes it (`$PWD*`)."""
    globs = [one for one in glob.split("|") if value.exact or "$" in one or MADE.isdisjoint(value.text)]
    return is_like(value, globs)


def _is_assignment(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and name.isidentifier()
