"""A row of the table with its flags and places made ready."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..effect import ObjectKind
from .flags import Flag, effects_of, flag_of

FIELDS = frozenset(
    [
        *("program", "subcommand", "as", "project", "fold", "source"),
        *("effects", "objects", "cases", "assignments", "bare", "code", "files", "stdin", "wraps", "joins", "remote"),
        *("flags", "values", "open", "dash", "old", "stops", "ignores", "assigns"),
        *("feeds", "lists", "passes", "deep", "names"),
    ]
)
RUNNING = frozenset({"execute", "install"})
Written = Mapping[str, Any]  # a row as it stands in a file or a policy


class Row:
    """A row; docs/programs.md says what each of its keys means."""

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
        "pipes",
        "project",
        "remote",
        "runs",
        "stands_for",
        "stdin",
        "stops",
        "subcommands",
        "tasks",
        "wraps",
    )

    def __init__(self, row: Written) -> None:
        subcommands = row.get("subcommand", "")
        self.subcommands: list[tuple[str, ...]] = [
            tuple(words.split()) for words in ([subcommands] if isinstance(subcommands, str) else subcommands)
        ]
        self.stands_for = str(row.get("as", ""))
        self.project = bool(row.get("project", False))
        self.elsewhere = bool(row.get("elsewhere", False))
        self.fold = bool(row.get("fold", False))
        self.effects = effects_of(row.get("effects", {}))
        self.objects: ObjectKind | None = row.get("objects")
        self.flags = {flag: Flag(takes=1) for flag in row.get("values", ())}
        self.flags |= {flag: flag_of(spec) for flag, spec in row.get("flags", {}).items()}
        self.long_flags = [flag for flag, spec in self.flags.items() if flag.startswith("--") and spec.matters]
        self.open: bool | None = row.get("open")
        self.wraps: int | None = row.get("wraps")
        self.assigns = bool(row.get("assigns", False))
        self.files = effects_of({row["files"]: "first"} if isinstance(row.get("files"), str) else row.get("files", {}))
        self.stops = bool(row.get("stops", False)) or self.wraps is not None or bool(self.files)
        self.bare = effects_of(row["bare"]) if "bare" in row else None
        self.stdin = str(row.get("stdin", ""))
        self.assignments = {name: flag_of(spec) for name, spec in row.get("assignments", {}).items()}
        self.cases = [Case(case) for case in row.get("cases", ())]
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
        says = (self.joins, self.remote, self.feeds, self.names, self.passes, self.lists is not None)
        self.pipes = any(says) or self.deep != frozenset()
        given = [self.effects, *(case.effects for case in self.cases)]
        self.runs = bool(self.files) or any(place.effect in RUNNING for places in given for place in places)
        self.tasks = self.objects == "name" and any(place[:2] == ("execute", "operands") for place in self.effects)
        self.dash_long = row.get("dash") == "long"


class Case:
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
        self.effects = effects_of(case.get("only", case.get("effects", {})))


def names_of(row: Written) -> Sequence[str]:
    program = row["program"]
    return [program] if isinstance(program, str) else program
