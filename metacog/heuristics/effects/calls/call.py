"""One tool call while it is read: what its name says, and what stands in its arguments."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...text.strict_json import pointer
from .. import paths, urls
from ..effect import KINDS, Command, Effect, Kind, ObjectKind
from . import amounts, code, graphql, mail
from .known import Sign, Steps, Tool, language_of, plain, signs, tools, words
from .names import Named, named
from .web import done_by

MAX_DEPTH = 12
MAX_PARTS = 1_000  # of a call's arguments: values and names
MAX_OBJECTS = 200  # that one effect is said of
MAX_NAME = 300  # characters of an object's name
_PATH = re.compile(r"[~/.]|[\w.-]+[/\\]|[A-Za-z]:\\|[\w-]+\.\w{1,5}$")
_SQL = re.compile(
    r"\s*(?:--[^\n]*\n|/\*.*?\*/|\s)*(?:select|insert|update|delete|with|drop|alter|create|truncate|grant|revoke|merge|"
    r"call|explain|replace|vacuum|copy|exec|begin|show\s+\w+|describe\s+\w+|pragma)\b\s*(?![=:])",
    re.IGNORECASE | re.DOTALL,
)
_CHANGES = re.compile(  # what a task asks another agent to do
    r"\b(?:delete|remove|drop|wipe|purge|destroy|push|force|deploy|publish|release|send|upload|e?mail|pay|refund|merge|reset"
    r"|sudo|migrate|truncate|kill)\b|刪除|删除|推送|部署|發布|发布|傳送|发送",
    re.IGNORECASE,
)
_DIALECTS = (
    *("postgres", "postgresql", "pg", "mysql", "mariadb", "sqlite", "snowflake", "bigquery", "redshift", "clickhouse"),
    *("athena", "duckdb", "mssql", "sqlserver", "oracle", "databricks", "trino", "presto", "supabase", "neon", "spark"),
)
_OBJECTS: Mapping[Kind, tuple[ObjectKind, ...]] = {
    "read": ("path", "table", "name"),
    "write": ("path", "table", "url", "name"),
    "delete": ("path", "table", "url", "name"),
    "irreversible": ("path", "table", "url", "name"),
    "fetch": ("url", "host"),
    "send": ("address", "url", "host", "name"),
    "publish": ("path", "url", "name"),
    "secret": ("path", "name"),
    "privilege": ("name",),
    "execute": ("path", "name"),
    "install": ("name",),
    "pay": ("amount", "name"),
}
_CODE = ("shell", "sql", "argv", "code", "program", "edits", "graphql", "graph", "typed")
_READING: frozenset[Kind] = frozenset(["read", "fetch"])
_EDITOR: Mapping[str, Kind] = {
    "view": "read",
    **dict.fromkeys(("create", "str_replace", "insert", "undo_edit", "write", "edit"), "write"),
}
_LOOKS = ("screenshot", "cursor_position", "wait", "zoom", "mouse_move")
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

    room: code.Room
    given: Mapping[Steps, str]  # of the tool's arguments


class Call:
    """Reads one call; `effects`, `commands`, `compound` and `shapes` are what was found."""

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
        self.has_code = self.is_told = self.decides = self.is_web = False
        self.own_name = name

    def read(self, arguments: Any, own: str) -> None:
        """Read the arguments of a call of the tool whose name without its server is `own`."""
        if isinstance(arguments, Mapping | list) and len(arguments) >= MAX_PARTS:
            arguments, self.left = None, 0
        if not self.settings.given:
            self.tool = self._known(arguments, own)
        if self.tool is not None:
            self.scope = Scope(self.tool.effects, True, self.scope.nouns)
            self.is_told, self.decides = True, self.tool.decides
        if isinstance(arguments, Mapping):
            cwd = self._directory(arguments)
            if cwd is not None or self._is_elsewhere(arguments):
                room = self.settings.room._replace(cwd=cwd, is_elsewhere=self._is_elsewhere(arguments))
                self.settings = self.settings._replace(room=room)
        self._walk(self._with_command(arguments), (), "", {}, self.scope)
        if isinstance(arguments, Mapping) and self.tool is None:
            self._try_run(arguments)
        for scope in (self.scope, *self.scopes):
            self._say(scope)
        if self.left <= 0:
            self.effects.append(Effect("unknown", detail="too many arguments"))
            self.compound.add("")

    def _known(self, arguments: Any, own: str) -> Tool | None:
        tool = tools().get(own)
        if tool is None or not isinstance(arguments, Mapping) or not words("remote").isdisjoint(self.named.server):
            return None
        if tool.only and not tool.only.issuperset(arguments):
            return None
        if tool.readers and not tool.effects and not any(steps[0] in arguments for steps in tool.readers):
            return None
        return tool

    def _directory(self, arguments: Mapping[str, Any]) -> str | None:
        for key, value in arguments.items():
            if self._language((key,), key, value, arguments) == "cwd" and isinstance(value, str) and value:
                return paths.normal(value, workspace=self.settings.room.workspace)
        return None

    def _is_elsewhere(self, arguments: Mapping[str, Any]) -> bool:
        there = words("commands_over_there")
        return self.tool is None and (
            not there.isdisjoint(self.named.words) or any(plain(key) in there for key in arguments)
        )

    # What stands where

    def _walk(self, value: Any, place: Place, key: str, beside: Mapping[str, Any], scope: Scope) -> None:
        self.left -= 1
        size = len(value) if isinstance(value, Mapping | list | tuple) else 0
        if self.left <= size or len(place) > MAX_DEPTH:
            is_plain = size and isinstance(value, list | tuple) and all(isinstance(part, int | float) for part in value)
            self.left = self.left if is_plain else 0  # numbers alone, such as a vector, say nothing
            return
        language = self._language(place, key, value, beside)
        if language is not None and self._has_read(language, value, place, beside, scope):
            return
        if isinstance(value, Mapping):
            if self._has_called(value, place):
                return
            scope = self._scope_of(value, place, scope)
            for name, part in value.items():
                self._walk(part, (*place, str(name)), str(name), value, scope)
        elif isinstance(value, list | tuple):
            for at, part in enumerate(value):
                self._walk(part, (*place, at), key, beside, scope)
        elif self.tool is None:
            self._signs(key, value, scope)
            if isinstance(value, str | int) and not isinstance(value, bool):
                self._name(key, value, place, scope)

    def _language(self, place: Place, key: str, value: Any, beside: Mapping[str, Any]) -> str | None:
        readers = self.settings.given or (self.tool.readers if self.tool else {})
        for steps, language in readers.items():
            if len(steps) == len(place) and all(step in ("*", str(at)) for step, at in zip(steps, place, strict=True)):
                return language
        if self.tool is not None or not place:
            return None
        return self._guess(key, value, beside, place)

    def _guess(self, key: str, value: Any, beside: Mapping[str, Any], place: Place) -> str | None:
        """Say what an argument is by its name, its schema and how it begins."""
        name = plain(key)
        if name in words("program_keys") and (program := self._program()):
            return f"program:{program}"
        language = language_of(name)
        if language == "shell":
            is_text = self.named.verb in words("pure_verbs") or (
                (isinstance(value, str) and not value.strip()) or not isinstance(value, str | list)
            )
            return None if is_text else language
        if language == "sql":
            return self._dialect()
        if language == "query":
            return self._query(name, value)
        if language == "code":
            return self._script(value, beside)
        if language in ("action", "method", "body"):
            return None
        if language in ("path", "path?") and not isinstance(value, Mapping):
            return language
        return language or self._by_schema(place)

    def _with_command(self, arguments: Any) -> Any:
        """Read a command that comes in pieces, `{"command": "destroy", "args": ["-auto-approve"]}`, as one."""
        program = self._program() if self.tool is None and isinstance(arguments, Mapping) else ""
        pieces = [key for key in arguments if plain(key) in words("program_keys")] if program else []
        if len(pieces) < 2:
            return arguments
        text = " ".join(
            value if isinstance(value, str) else shlex.join(map(str, value)) if isinstance(value, list) else str(value)
            for value in (arguments[key] for key in pieces)
        )
        if (found := code.read(f"program:{program}", text, self.settings.room)) is not None:
            effects = tuple(each._replace(start=None, end=None) for each in found.effects)
            self._add(found._replace(effects=effects, commands=()), pointer(pieces[:1]))
        return {key: value for key, value in arguments.items() if key not in pieces}

    def _program(self) -> str:
        """Give the program that the tool is named after: `kubectl`, `run_aws_cli`."""
        left = [word for word in self.named.words if word not in words("run_words")]
        if not left:
            left = [word for word in self.named.server if word not in words("run_words")]
        names = dict(pair.split("=") for pair in words("program_names"))
        return names.get(left[0], left[0]) if len(left) == 1 and left[0] in words("programs") else ""

    def _dialect(self) -> str:
        return next((f"sql:{word}" for word in _DIALECTS if word in self.said), "sql")

    def _query(self, name: str, value: Any) -> str | None:
        if not isinstance(value, str):
            return None
        if graphql.looks_so(value):
            return "graphql"
        if not words("graph_languages").isdisjoint(self.said):
            return "graph"
        if not words("readonly_languages").isdisjoint(self.said) and not _SQL.match(value):
            self.scope.effects = tuple("read" if kind == "execute" else kind for kind in self.scope.effects)
            return None
        is_sql = _SQL.match(value) and self.named.verb not in words("pure_verbs")
        if not words("databases").isdisjoint(self.said) or is_sql or "SQL" in self.description:
            return self._dialect()
        return None

    def _script(self, value: Any, beside: Mapping[str, Any]) -> str | None:
        if not isinstance(value, str) or (self.named.is_clear and "execute" not in self.named.effects):
            return None
        said = next(
            (beside[key] for key in ("language", "lang", "runtime", "interpreter", "kernel") if key in beside), ""
        )
        language = said.lower() if isinstance(said, str) else ""
        for word in ("python", "bash", "shell", "javascript", "node", "typescript", "ruby", "sql"):
            if word in self.said or language.startswith(word):
                return "sql" if word == "sql" else f"code:{word}"
        return f"code:{language or 'any'}"

    def _by_schema(self, place: Place) -> str | None:
        """Read what the schema says of an argument: its format, or words of its description."""
        node = self.schema
        for step in place:
            if not isinstance(node, Mapping):
                return None
            below = node.get("items") if isinstance(step, int) else node.get("properties")
            node = below if isinstance(step, int) else below.get(step) if isinstance(below, Mapping) else None
        if not isinstance(node, Mapping):
            return None
        form, told = node.get("format"), node.get("description")
        if form in ("uri", "url", "iri"):
            return "url"
        if form in ("email", "idn-email"):
            return "mail"
        if isinstance(told, str) and node.get("type") == "string":
            if re.search(r"\bSQL\b", told[:500]):
                return self._dialect()
            if re.search(r"\b(?:shell|bash|terminal) (?:command|script)", told[:500], re.IGNORECASE):
                return "shell"
        return None

    # What is read as what it is

    def _has_read(self, language: str, value: Any, place: Place, beside: Mapping[str, Any], scope: Scope) -> bool:
        kind, _, more = language.partition(":")
        if kind in _CODE:
            return self._code(language, value, place)
        if kind == "text":
            return not isinstance(value, Mapping | list)
        if kind == "cwd":
            return isinstance(value, str)
        if kind == "task":
            if not isinstance(value, str) or _CHANGES.search(value):
                self.scope.effects = ("execute",)
            return True
        if kind == "amount":
            return self._amount(value, place, beside, scope)
        if kind == "computer":
            self.scope.effects = ("read",) if value in _LOOKS else ("execute", "unknown")
            self.decides = True
            return True
        if not isinstance(value, str) or not value:
            return False
        effect = self._effect_of(more, beside)
        read = {
            "mail": self._mail,
            "search": self._search,
            "url": self._url,
            "urls": self._urls,
            "host": self._host,
            "path": self._path,
        }.get(kind.rstrip("?"))
        if read is None:
            return False
        found = read(value, place, is_sure=kind != "path?")
        for target in found:
            target.effect = target.effect or effect
        scope.targets += found
        return bool(found) or kind == "mail"

    def _effect_of(self, more: str, beside: Mapping[str, Any]) -> Kind | None:
        if more == "editor":
            command = beside.get("command")
            return _EDITOR.get(command, "unknown") if isinstance(command, str) else "unknown"
        return next((kind for kind in KINDS if kind == more), None)

    def _code(self, language: str, value: Any, place: Place) -> bool:
        if (
            language.startswith(("shell", "argv"))
            and isinstance(value, list)
            and place
            and plain(str(place[-1])) == "commands"
        ):
            return False  # a list of them
        found = code.read(language, value, self.settings.room)
        if found is None:
            return False
        self._add(found, pointer(place))
        self.is_told |= language.startswith(("program", "edits", "graphql", "sql"))
        return True

    def _add(self, found: code.Code, argument: str) -> None:
        argument += found.argument
        at = len(self.effects)
        self.has_code = True
        self.effects += [effect._replace(argument=argument) for effect in found.effects]
        self.commands += [
            Command(argument, each.start, each.end, tuple(at + place for place in each.effects))
            for each in found.commands
        ]
        if not found.is_simple:
            self.compound.add(argument)
        self.shapes.append(found.shape)

    def _amount(self, value: Any, place: Place, beside: Mapping[str, Any], scope: Scope) -> bool:
        in_minor = not words("minor").isdisjoint(self.said)
        if (amount := amounts.read(value, str(place[-1]) if place else "", beside, in_minor=in_minor)) is None:
            return False
        end = len(value) if isinstance(value, str) else None
        scope.targets.append(Target(str(amount), "amount", place, None if end is None else 0, end))
        return True

    def _mail(self, value: str, place: Place, *, is_sure: bool) -> list[Target]:
        found = [
            Target(each.address, "address", place, each.start, each.end, None, each.detail) for each in mail.read(value)
        ]
        if not found and plain(str(place[-1] if place else "")) in ("to", "recipient", "recipients", "cc", "bcc"):
            found = [Target(value[:MAX_NAME], "name", place, 0, len(value))]
        return found

    def _url(self, value: str, place: Place, *, is_sure: bool) -> list[Target]:
        if address := urls.read(value):
            start = len(value) - len(value.lstrip())
            of: ObjectKind = "url"
            if address.scheme == "file":
                return self._path(value[len("file://") :], place, is_sure=True)
            return [Target(address.text, of, place, start, len(value.rstrip()), None, address.detail)]
        return self._host(value, place, is_sure=is_sure)

    def _search(self, value: str, place: Place, *, is_sure: bool) -> list[Target]:
        return [Target(value[:MAX_NAME], "name", place, 0, len(value))]

    def _urls(self, value: str, place: Place, *, is_sure: bool) -> list[Target]:
        return [
            Target(address.text, "url", place, each.start(), each.end(), None, address.detail, "fetch")
            for each in re.finditer(r"https?://[^\s\"'<>]+", value)
            if (address := urls.read(each[0]))
        ] or [Target(value[:MAX_NAME], "name", place, 0, len(value), effect="unknown")]

    def _host(self, value: str, place: Place, *, is_sure: bool) -> list[Target]:
        if not urls.is_host(value):
            return []
        name, details = urls.read_host(re.sub(r":\d{1,5}$", "", value))
        return [Target(name, "host", place, 0, len(value), None, ", ".join(details))]

    def _path(self, value: str, place: Place, *, is_sure: bool) -> list[Target]:
        if urls.read(value) or "\n" in value or (not is_sure and not _PATH.match(value)):
            return self._url(value, place, is_sure=True) if urls.read(value) else []
        if self.tool is None and not self.settings.given and self._is_remote():
            return [Target(value[:MAX_NAME], "name", place, 0, len(value), rank=1)]
        if self.is_web and place and plain(str(place[-1])) == "path":
            return [Target(value[:MAX_NAME], "name", place, 0, len(value))]
        room = self.settings.room
        name = paths.normal(value, cwd=room.cwd, workspace=room.workspace)
        inside = "\\" not in name and ":" not in name[:3] and paths.is_inside(name, [room.workspace or "."])
        is_source = plain(str(next((step for step in reversed(place) if isinstance(step, str)), ""))) in words(
            "sources"
        )
        return [Target(name[:MAX_NAME], "path", place, 0, len(value), inside, is_source=is_source)]

    def _is_remote(self) -> bool:
        return not words("remote").isdisjoint(self.said) or self.is_told

    def _name(self, key: str, value: str | int, place: Place, scope: Scope) -> None:
        """Take an argument that names what the call is about: `bucket`, `order_id`, `name`, `ids`."""
        name = plain(key).removesuffix("s")
        if place and isinstance(place[-1], int) and len(place) > 3:
            return
        if language_of(key) not in (None, "mail", "path?", "host"):
            return
        rank = None
        stem = re.sub(r"_(?:id|name|arn|identifier|key|number|slug|uuid|ref)$", "", name)
        if stem in scope.nouns or f"{stem}s" in scope.nouns:
            rank = 0
        elif name in ("id", "name", "arn", "identifier", "uuid", "key", "slug", "channel", "resource", "target"):
            rank = 1
        elif stem != name:
            rank = 2
        if rank is not None and (text := str(value)[:MAX_NAME]):
            end = len(value) if isinstance(value, str) else None
            scope.targets.append(Target(text, "name", place, None if end is None else 0, end, rank=rank))

    def _signs(self, key: str, value: Any, scope: Scope) -> None:
        """Take what single values say: `acl: public-read`, `resourceType: secret`."""
        name, said = plain(key), str(value).lower()[:40] if isinstance(value, str | bool) else ""
        for sign in signs():
            if name in sign.keys and said and (said in sign.values or "*" in sign.values):
                scope.effects = _more(scope.effects, sign)

    def _has_called(self, node: Mapping[str, Any], place: Place) -> bool:
        """Read a call that is an argument: `{"tool_name": …, "arguments": {…}}`, alone or one of several."""
        if words("wrappers").isdisjoint(self.named.words) or self.settings.given:
            return False
        names = {plain(key): key for key in node}
        tool = next((names[key] for key in (*sorted(words("tool_keys")), "name") if key in names), None)
        given = next((names[key] for key in sorted(words("argument_keys")) if key in names), None)
        if tool is None or given is None or not isinstance(node[tool], str) or len(place) > 4:
            return False
        arguments = node[given]
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                return False
        server = node.get("server_name") or node.get("server")
        name = f"{server}__{node[tool]}" if isinstance(server, str) else node[tool]
        inner = Call(name, self.settings._replace(given={}))
        inner.left = self.left
        inner.read(arguments, node[tool].rpartition(".")[2])
        self._take(inner, pointer((*place, given)))
        return True

    def _take(self, inner: Call, argument: str) -> None:
        at = len(self.effects)
        self.effects += [each._replace(argument=argument + each.argument) for each in inner.effects]
        self.commands += [
            Command(argument + each.argument, each.start, each.end, tuple(at + place for place in each.effects))
            for each in inner.commands
        ]
        self.compound |= {argument + each for each in inner.compound}
        self.left, self.decides, self.is_told = inner.left, True, True
        self.scope.effects = ()

    # What is done

    def _scope_of(self, node: Mapping[str, Any], place: Place, scope: Scope) -> Scope:
        """Give the scope of an object: its own where it says what is done, `{"op": "delete", …}`."""
        if self.tool is not None or self.settings.given:
            return scope
        if (done := done_by(node, self.said)) is not None:
            self.is_web = True
            if place or not (self.named.is_clear and words("web_words").isdisjoint(self.named.words)):
                return self._own(scope, done, place)
            scope.effects = tuple(kind for kind in KINDS if kind in {*scope.effects, *done})
            return scope
        action = next(
            (value for key, value in node.items() if language_of(key) == "action" and isinstance(value, str)), None
        )
        if action is None or len(action) > 100:
            return scope
        does = named(action)
        if not place and self.named.is_clear:
            if does.is_clear and not _READING.issuperset(does.effects):
                scope.effects = tuple(kind for kind in KINDS if kind in {*scope.effects, *does.effects})
            return scope
        if not does.is_clear and place:
            return scope
        own = self._own(scope, does.effects if does.is_clear else ("unknown",), place)
        own.nouns |= frozenset(does.words)
        return own

    def _own(self, scope: Scope, effects: tuple[Kind, ...], place: Place) -> Scope:
        if not place:
            scope.effects, scope.is_clear = effects, "unknown" not in effects
            return scope
        self.scopes.append(Scope(effects, True, scope.nouns))
        self.is_told = True
        return self.scopes[-1]

    def _try_run(self, arguments: Mapping[str, Any]) -> None:
        """Take back what the arguments say is only tried, where the tool's schema knows of that."""
        properties = self.schema.get("properties") if isinstance(self.schema, Mapping) else None
        if isinstance(properties, Mapping) and any(
            plain(key) in words("dry") and key in properties and value in (True, "client", "server", "All", "all")
            for key, value in arguments.items()
        ):
            self.scope.effects, self.scope.is_clear = ("read",), True

    def _say(self, scope: Scope) -> None:
        """Say what is done, once for each object that it may be done to."""
        given = bool(self.settings.given)
        effects = () if given and (self.has_code or not scope.is_clear) else scope.effects
        if self.has_code and scope is self.scope:
            effects = tuple(kind for kind in effects if kind not in ("execute", "read"))
        told = len(self.effects)
        for kind in effects:
            self._say_kind(kind, scope)
        for target in scope.targets:
            if target.effect:
                self._effect(target.effect, target)
            elif target.of == "path" and not _READING.issuperset(effects) and not self._fits(target, effects):
                self._effect("read", target)
        is_done = (len(self.effects) > told and scope.is_clear) or any(target.effect for target in scope.targets)
        is_done |= self.has_code and self._is_code_tool()
        if scope is self.scope and not is_done and not self.is_told and "unknown" not in effects:
            self.effects.append(Effect("unknown", detail="unknown tool"))

    def _is_code_tool(self) -> bool:
        return (
            self.named.is_clear
            or not words("shellish").isdisjoint(self.said)
            or not words("databases").isdisjoint(self.said)
            or bool(self._program())
            or self.tool is not None
            or bool(self.settings.given)
        )

    def _fits(self, target: Target, effects: Sequence[Kind]) -> bool:
        return any(target.of in _OBJECTS.get(kind, ()) for kind in effects)

    def _say_kind(self, kind: Kind, scope: Scope) -> None:
        free = [target for target in scope.targets if target.effect is None]
        fitting = [target for target in free if target.of in _OBJECTS.get(kind, ())]
        addresses = [target for target in free if target.of in ("url", "host")]
        if kind == "read" and addresses and not any(target.of == "path" for target in fitting):
            kind, fitting = "fetch", addresses
        others = [target for target in fitting if target.of != "name"]
        if not others:
            best = min((target.rank for target in fitting), default=0)
            others = [target for target in fitting if target.rank == best]
        if kind == "fetch" and not fitting and (files := [target for target in free if target.of == "path"]):
            self.effects.append(Effect("fetch"))
            kind, others = "write", files
        for target in others[:MAX_OBJECTS]:
            is_read = target.is_source and kind == "write" and self.named.verb in words("copies")
            self._effect("read" if is_read else kind, target)
        if not others:
            self.effects.append(Effect(kind))

    def _effect(self, kind: Kind, target: Target) -> None:
        self.effects.append(
            Effect(
                kind,
                target.object,
                target.of,
                target.inside,
                target.start,
                target.end,
                pointer(target.place),
                target.detail,
            )
        )
        if target.of == "path" and (paths.is_secret(target.object) or self._is_searched(kind, target)):
            self.effects.append(self.effects[-1]._replace(effect="secret"))

    def _is_searched(self, kind: Kind, target: Target) -> bool:
        """Whether a tool looks into all files below a folder that holds keys."""
        return (
            kind == "read"
            and not target.inside
            and not {"grep", "search"}.isdisjoint(self.said)
            and paths.holds_secrets(target.object)
        )


def _more(effects: tuple[Kind, ...], sign: Sign) -> tuple[Kind, ...]:
    more = set(effects)
    if not effects or _READING.issuperset(effects):
        more.update(sign.reads)
    else:
        more.update(sign.effects)
    if "delete" in effects:
        more.update(sign.deletes)
    return tuple(kind for kind in KINDS if kind in more)
