"""The effects of a call, as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal[
    "read",
    "write",
    "delete",
    "execute",
    "fetch",
    "send",
    "install",
    "publish",
    "privilege",
    "secret",
    "pay",
    "irreversible",
    "unknown",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
ObjectKind = Literal["path", "url", "host", "address", "amount", "table", "package", "program", "ref", "name"]
MADE = "made by the same command"  # of what is removed
TESTS = "a test's own"  # of what is changed or removed
BUILT = "a build's output"  # of what is removed, and made again by a tool
KEPT = "git has it"  # of what is removed, as it was committed
new = tuple.__new__  # of a named one, past the function that fills in what is left out
OBJECT_KINDS: tuple[ObjectKind, ...] = get_args(ObjectKind)


class Effect(NamedTuple):
    """One thing that a call would do.

    `object` is what it would do it to, normalised: a path is absolute where the working directory is known and relative
    to it else. `inside` says of a path whether it is in the workspace, None of anything else. `start` and `end` are
    code points of the text at the JSON Pointer `argument`, None where no part of it can be named.
    """

    effect: Kind
    object: str | None = None
    of: ObjectKind | None = None
    inside: bool | None = None
    start: int | None = None
    end: int | None = None
    argument: str = ""
    detail: str = ""  # a fact worth saying: "no WHERE", "by force", "punycode"


class Command(NamedTuple):
    """One simple command or statement in an argument: where it stands, and its effects as indexes of the reading's."""

    argument: str
    start: int
    end: int
    effects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A call as it was read.

    `readable` says that nothing in it is `unknown`. `compound` are the pointers of arguments read as shell or SQL that
    are more than one simple command, or redirect or substitute. `shape` is what a grant for "the same kind of call"
    compares, plain JSON, None where no shape is narrow enough. `commands` are in order of place.
    """

    effects: tuple[Effect, ...] = ()
    compound: frozenset[str] = frozenset()
    shape: Mapping[str, Any] | None = None
    commands: tuple[Command, ...] = ()

    @property
    def readable(self) -> bool:
        return all(effect.effect != "unknown" for effect in self.effects)
