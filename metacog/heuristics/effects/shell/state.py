"""What is known of a shell while its commands are read in order."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import paths
from ..programs import Word

if TYPE_CHECKING:
    from tree_sitter import Node

    from .walk import Text

WHOLE = re.compile(r"/[\w./@+-]*")  # a directory that is known letter by letter
ELSEWHERE = "$PWD"  # a working directory that is not known
NUMBER = "[0-9]*"  # a number that is not known
LAST_JOB = "%+"  # as the shell names it
NUMBERS = frozenset({"?", "#", "$", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "BASHPID", "COLUMNS", "LINES"})
PLAIN = frozenset(
    {
        "HOME",
        "OLDPWD",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "HOSTNAME",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "GITHUB_WORKSPACE",
        "SHELL",
    }
)  # variables of the environment that begin with a letter or "/", and hold no blank


class Given(NamedTuple):
    """What a command gets as its input: `text` where that is known, `roots` the paths that it names."""

    text: Word | None = None
    roots: tuple[Word, ...] = ()
    by: str = ""  # the program that prints it
    file: Word | None = None  # that is read


NOTHING_GIVEN = Given()


@dataclass(slots=True)
class State:
    """The working directory, the variables given in the text (None: to something unknown), functions and aliases."""

    cwd: str | None = None
    variables: dict[str, Word | None] = field(default_factory=dict)
    functions: dict[str, tuple["Text", "Node"]] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    blind: bool = False  # a variable may have changed under another name
    given: Mapping[str, Word | None] = field(default_factory=dict)  # to programs, by the text; never changed in place
    made: frozenset[str] = frozenset()  # what was not there before, if this is reached
    strict: bool = False  # set -e

    def copy(self) -> "State":
        return State(
            self.cwd,
            dict(self.variables),
            dict(self.functions),
            set(self.aliases),
            self.blind,
            self.given,
            self.made,
            self.strict,
        )

    def value(self, name: str) -> Word | None:
        """What `$name` is, None when that is unknown."""
        if name == "PWD" and name not in self.variables:
            return Word(self.cwd or ".", exact=WHOLE.fullmatch(self.cwd or "") is not None)
        if name in self.variables:
            return None if self.blind else self.variables[name]
        if name == "PPID":  # of whoever runs the text
            return None
        if name in NUMBERS:
            return Word(NUMBER, exact=False)
        if name == "!":
            return Word(LAST_JOB, exact=False)
        if name.endswith("PID"):  # of a process that an earlier call has started
            return Word(NUMBER, exact=False)
        if name in PLAIN:
            return Word("$" + name, exact=False)
        return None

    def join(self, others: Sequence["State"], room: Sequence[str]) -> None:
        """Go on where this state, or any of `others`, may be what came of it."""
        for other in others:
            for name in {*self.variables, *other.variables}:
                if self.variables.get(name, self) != other.variables.get(name, self):
                    self.variables[name] = None
            self.functions = {name: node for name, node in self.functions.items() if name in other.functions}
            self.aliases |= other.aliases
            self.blind |= other.blind
            self.made &= other.made
            self.strict &= other.strict
            if self.given != other.given:
                names = {*self.given, *other.given}
                self.given = {name: _common(name, self.given, other.given) for name in names}
            self.cwd = either(self.cwd, other.cwd, room)


def either(before: str | None, after: str | None, room: Sequence[str]) -> str | None:
    """The working directory where a move from `before` to `after` may have failed."""
    if before == after or (_is_in(before, room) and _is_in(after, room)):
        return after
    return ELSEWHERE


def _is_in(cwd: str | None, room: Sequence[str]) -> bool:
    return paths.is_inside(cwd or ".", room)


def _common(name: str, one: Mapping[str, Word | None], other: Mapping[str, Word | None]) -> Word | None:
    return one.get(name) if name in one and one.get(name) == other.get(name) else None


def forget(state: State, names: Any) -> None:
    for name in names:
        state.variables[name] = None
        if name in state.given:
            state.given = {**state.given, name: None}
