"""The words of a command, and what the table says of them."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from ..effect import Kind, ObjectKind


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


class Applied:
    """What the table says of one command.

    `runs` are commands that it runs, `code` the languages and words of code that it runs, `stdin` the language of
    the code it would read from its input, `cwd` where what it runs would stand. `flags` are spelled as in the table.
    """

    behind: int | None = None  # so many operands stand before "--"
    cwd: Word | None = None
    stdin = ""
    language = ""  # of the scripts that it takes
    joins = False  # the words of the command that it runs are joined and read by a shell
    remote = False  # on another machine
    runs_modules = False  # what it runs is a module of its own language, not a program
    feeds = ""  # where more words of that command come from: "input", "roots" (what is found below its operands)
    marks = False  # they stand where it says {}
    lists: list[Word] | None = None  # it prints names below these
    passes = False  # it prints lines of its input
    names = False  # it looks at names and sizes of what it reads, not at what is in it
    deep = False  # it reads everything below what it reads

    def __init__(
        self,
        program: str,
        subcommand: str = "",
        *,
        operands: list[Word] | None = None,
        wraps: bool = False,
        script: bool = False,
        elsewhere: bool = False,
    ) -> None:
        """`wraps`: it does nothing itself but run another command; `script`: its operands are one and that one's own
        words; `elsewhere`: what it works on is on other machines.
        """
        self.program, self.subcommand = program, subcommand
        self.wraps, self.script, self.elsewhere = wraps, script, elsewhere
        self.flags: list[tuple[str, Word | None]] = []
        self.operands: list[Word] = [] if operands is None else operands
        self.settings: list[Word] = []  # values of flags that say nothing of what is done with them
        self.found: list[Found] = []
        self.runs: list[list[Word]] = []
        self.code: list[tuple[str, Word]] = []
        self.assigned: list[Word] = []  # NAME=value before the command that it runs
        self.doubts: list[str] = []


def tail(word: Word, skipped: int) -> Word:
    """The word without its first letters."""
    if word.at is None:
        return word._replace(text=word.text[skipped:])
    return word._replace(text=word.text[skipped:], start=word.at + skipped, at=word.at + skipped)


def is_input(path: str) -> bool:
    """Whether a file is what a command prints or is given, not one on disk."""
    return path in {"-", "/dev/stdin"} or path.startswith(("/dev/fd/", "/proc/self/fd/"))


def is_like(word: Word, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(word.text, glob) for glob in globs)
