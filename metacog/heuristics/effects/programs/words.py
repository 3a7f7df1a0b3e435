"""The words of a command, and what the table says of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    settings: list[Word] = field(default_factory=list)  # values of flags that say nothing of what is done with them
    behind: int | None = None  # so many operands stand before "--"
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
    elsewhere: bool = False  # what it works on is on other machines
    doubts: list[str] = field(default_factory=list)


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
