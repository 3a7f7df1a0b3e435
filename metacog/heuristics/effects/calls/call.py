"""One tool call, read: what stands in its arguments, and what is done to that."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from ...text.strict_json import pointer
from .. import paths, trials
from ..effect import KINDS, TESTS, Command, Effect, Kind, new
from ..shell.sessions import OPENS, terminals
from . import code
from .guess import language_at
from .known import Tool, plain, tools, words
from .say import say, scope_of, take_back_if_tried, take_signs
from .targets import take_amount, take_name, targets_of
from .told import MAX_PARTS, Place, Scope, Told

MAX_DEPTH = 12
_CHANGES = re.compile(  # what a task asks another agent to do
    r"\b(?:delete|remove|drop|wipe|purge|destroy|push|force|deploy|publish|release|send|upload|e?mail|pay|refund|merge|reset"
    r"|sudo|migrate|truncate|kill)\b|刪除|删除|推送|部署|發布|发布|傳送|发送",
    re.IGNORECASE,
)
_CODE = ("shell", "sql", "argv", "code", "program", "edits", "graphql", "graph", "typed")
_EDITOR: Mapping[str, Kind] = {
    "view": "read",
    **dict.fromkeys(("create", "str_replace", "insert", "undo_edit", "write", "edit"), "write"),
}
_MANY = (Mapping, list, tuple)
_PARTS = (Mapping, list)
_LOOKS = ("screenshot", "cursor_position", "wait", "zoom", "mouse_move")


_CHANGED = ("write", "delete", "irreversible")
_DATABASES = frozenset(["database", "db", "dbname", "databasename", "databaseurl", "connectionstring", "dsn"])
_HOSTS = frozenset(["host", "hostname", "server", "url", "uri", "endpoint", "cluster", "instance", "projectid"])


def _is_for_tests(arguments: Mapping[str, Any]) -> bool:
    """Whether a call names a database that is a test's, no machine but this one, and SQL that stays in it."""
    given = {plain(str(key)): value for key, value in arguments.items() if isinstance(value, str)}
    named = [value for key, value in given.items() if key in _DATABASES]
    hosts = [value for key, value in given.items() if key in _HOSTS]
    sql = [value for key, value in given.items() if key in ("sql", "query", "statement")]
    return (
        bool(named)
        and all(map(trials.is_trial, named))
        and all(map(trials.is_here, hosts))
        and bool(sql)
        and all(map(trials.stays_in, sql))
    )


def _of_tests(effect: Effect) -> Effect:
    """An effect in a test's database."""
    if effect.of not in (None, "table", "name") or effect.effect not in _CHANGED:
        return effect
    return effect._replace(detail=f"{effect.detail}, {TESTS}" if effect.detail else TESTS)


class Call(Told):
    """Reads one call's arguments."""

    def read(self, arguments: Any, own: str) -> None:
        """Read the arguments of a call of the tool whose name without its server is `own`."""
        if isinstance(arguments, _PARTS) and len(arguments) >= MAX_PARTS:
            arguments, self.left = None, 0
        if not self.settings.given:
            self.tool = self._known(arguments, own)
        if self.tool is not None:
            self.scope = Scope(self.tool.effects, True, self.scope.nouns)
            self.is_told, self.decides = True, self.tool.decides
        if isinstance(arguments, Mapping):
            self._read_named(arguments)
        else:
            self._walk(arguments, (), "", {}, self.scope)
        for scope in (self.scope, *self.scopes):
            say(self, scope)
        if self.left <= 0:
            self.effects.append(Effect("unknown", detail="too many arguments"))
            self.compound.add("")

    def _read_named(self, arguments: Mapping[str, Any]) -> None:
        """Read arguments that have names."""
        cwd, is_elsewhere = self._directory(arguments), self._is_elsewhere(arguments)
        if cwd is not None or is_elsewhere:
            room = self.settings.room._replace(cwd=cwd, is_elsewhere=is_elsewhere)
            self.settings = self.settings._replace(room=room)
        self.arguments = arguments
        self._walk(self._with_command(arguments), (), "", {}, self.scope)
        if self.tool is None:
            take_back_if_tried(self, arguments)
        if self.has_code:
            self.effects += [Effect("unknown", argument=f"/{key}", detail=OPENS) for key in terminals(arguments)]

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
            if language_at(self, (key,), key, value, arguments) == "cwd" and isinstance(value, str) and value:
                return paths.normal(value, workspace=self.settings.room.workspace)
        return None

    def _is_elsewhere(self, arguments: Mapping[str, Any]) -> bool:
        if self.tool is not None:
            return False
        there = words("commands_over_there")
        return not there.isdisjoint(self.named.words) or any(plain(key) in there for key in arguments)

    def _walk(self, value: Any, place: Place, key: str, beside: Mapping[str, Any], scope: Scope) -> None:
        self.left -= 1
        size = len(value) if not isinstance(value, str) and isinstance(value, _MANY) else 0
        if self.left <= size or len(place) > MAX_DEPTH:
            is_plain = size and isinstance(value, list | tuple) and all(isinstance(part, int | float) for part in value)
            self.left = self.left if is_plain else 0  # numbers alone, such as a vector, say nothing
            return
        language = language_at(self, place, key, value, beside)
        if language is not None and self._has_read(language, value, place, beside, scope):
            return
        if isinstance(value, Mapping):
            if self._has_called(value, place):
                return
            scope = scope_of(self, value, place, scope)
            for name, part in value.items():
                self._walk(part, (*place, str(name)), str(name), value, scope)
        elif isinstance(value, list | tuple):
            for at, part in enumerate(value):
                self._walk(part, (*place, at), key, beside, scope)
        elif self.tool is None:
            take_signs(self, key, value, scope)
            if isinstance(value, str | int) and not isinstance(value, bool):
                take_name(self, key, value, place, scope)

    def _with_command(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read a command that comes in pieces, `{"command": "destroy", "args": ["-auto-approve"]}`, as one."""
        program = self.program() if self.tool is None else ""
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
            return take_amount(self, value, place, beside, scope)
        if kind == "computer":
            self.scope.effects = ("read",) if value in _LOOKS else ("execute", "unknown")
            self.decides = True
            return True
        if not isinstance(value, str) or not value:
            return False
        effect = self._effect_of(more, beside)
        found = targets_of(self, kind, value, place)
        if found is None:
            return False
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
            isinstance(value, list)
            and language.startswith(("shell", "argv"))
            and place
            and plain(str(place[-1])) == "commands"
        ):
            return False  # a list of them
        found = code.read(language, value, self.settings.room)
        if found is None:
            return False
        if language.startswith("sql") and _is_for_tests(self.arguments):
            found = found._replace(effects=tuple(map(_of_tests, found.effects)))
        self._add(found, pointer(place))
        self.is_told |= language.startswith(("program", "edits", "graphql", "sql"))
        return True

    def _add(self, found: code.Code, argument: str) -> None:
        argument += found.argument
        at = len(self.effects)
        self.has_code = True
        self.effects += [new(Effect, (*each[:6], argument, each.detail)) for each in found.effects]
        self.commands += [
            new(Command, (argument, start, end, tuple([at + place for place in places]) if at else places))
            for _, start, end, places in found.commands
        ]
        if not found.is_simple:
            self.compound.add(argument)
        self.shapes.append(found.shape)

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

    def _take(self, inner: Told, argument: str) -> None:
        at = len(self.effects)
        self.effects += [each._replace(argument=argument + each.argument) for each in inner.effects]
        self.commands += [
            Command(argument + each.argument, each.start, each.end, tuple(at + place for place in each.effects))
            for each in inner.commands
        ]
        self.compound |= {argument + each for each in inner.compound}
        self.left, self.decides, self.is_told = inner.left, True, True
        self.scope.effects = ()
