"""A tool call while it is read: what its name says, and what was found in its arguments so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..effect import Command, Effect, Kind, ObjectKind
from .code import Room
from .known import Steps, Tool, words
from .names import Named, named

MAX_PARTS = 1_000  # of a call's arguments: values and names
READING: frozenset[Kind] = frozenset(["read", "fetch"])
Place = tuple[str | int, ...]


@dataclass(slots=True)
class Target:
    """Something that an argument names, which the call's effects are on; `effect` where the argument itself says it."""

    object: str
    of: ObjectKind
    place: Place
    start: int | None = None
    end: int | None = None
    inside: bool | None = None
    detail: str = ""
    effect: Kind | None = None
    rank: int = 0  # of a name: the lower, the likelier it is the one that the call is about
    is_source: bool = False


@dataclass(slots=True)
class Scope:
    """What is done, and to what: a call's, or that of one operation in a list of them."""

    effects: tuple[Kind, ...] = ()
    is_clear: bool = False
    nouns: frozenset[str] = frozenset()
    targets: list[Target] = field(default_factory=list)


class Settings(NamedTuple):
    """What a policy says, for all calls."""

    room: Room
    given: Mapping[Steps, str]  # of the tool's arguments


class Told:
    """One call; `effects`, `commands`, `compound` and `shapes` are what was found."""

    def __init__(self, name: str, settings: Settings, schema: Any = None, description: str = "") -> None:
        self.named: Named = named(name)
        self.settings = settings
        self.schema, self.description = schema, description or ""
        self.said = frozenset(self.named.words) | frozenset(self.named.server)
        self.tool: Tool | None = None
        self.effects: list[Effect] = []
        self.commands: list[Command] = []
        self.compound: set[str] = set()
        self.shapes: list[Mapping[str, Any] | None] = []
        self.scope = Scope(self.named.effects, self.named.is_clear, frozenset(self.named.words))
        self.scopes: list[Scope] = []
        self.left = MAX_PARTS
        self.arguments: Mapping[str, Any] = {}
        self.has_code = self.is_told = self.decides = self.is_web = False

    def program(self) -> str:
        """Give the program that the tool is named after: `kubectl`, `run_aws_cli`."""
        left = [word for word in self.named.words if word not in words("run_words")]
        if not left:
            left = [word for word in self.named.server if word not in words("run_words")]
        names = dict(pair.split("=") for pair in words("program_names"))
        return names.get(left[0], left[0]) if len(left) == 1 and left[0] in words("programs") else ""
