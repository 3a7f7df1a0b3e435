"""Python code read by Python's own grammar: what it deletes, writes, runs and sends.

Code runs (`execute`), which whoever reads it says; here is what stands out of that. What is put together at run time
(`eval`, `getattr` with a made-up name, modules passed around) is `unknown`.
"""

import ast
import json
import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

from .effect import Kind, ObjectKind

MOST_LETTERS = 8_000  # of code that is looked at closely
MOST_ROUNDS = 16  # of loops over given texts that are gone through one by one
FILE = "<code of a call>"
TEMPORARY = frozenset({"tempfile.mkdtemp", "tempfile.mkstemp", "tempfile.TemporaryDirectory"})
MOVES = frozenset({"chdir", "fchdir"})
PRIVATE = re.compile(r"(?:import|from)\s+_")
NAME = re.compile(r"[^\W\d]\w*")
STRANGE = frozenset(
    {"__subclasses__", "__globals__", "__getattribute__", "__builtins__", "__code__", "__bases__", "__mro__"}
    | {"__loader__", "__spec__", "__reduce__", "__closure__", "gi_frame", "f_globals", "f_builtins", "tb_frame"}
)
BUILTINS = frozenset({"__builtins__", "__import__", "getattr", "str"})
SAME = {"posix": "os", "nt": "os", "posixpath": "os.path", "subprocess32": "subprocess"}
INNER = frozenset({"os", "sys", "subprocess", "shutil", "builtins", "importlib", "socket"})  # held by many modules
SECRET_NAME = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)

BINDS = frozenset(
    {ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.comprehension}
    | {ast.withitem, ast.arg, ast.AugAssign, ast.ExceptHandler, ast.MatchAs, ast.MatchStar}
)

warnings.filterwarnings("ignore", module=re.escape(FILE))


class Found(NamedTuple):
    """An effect of code, with its place in code points; or a `command` that it runs: a shell's line, or its words.

    Words that are not known begin with "$".
    """

    effect: Kind = "execute"
    object: str | None = None
    of: ObjectKind | None = None
    start: int | None = None
    end: int | None = None
    detail: str = ""
    command: str | tuple[str, ...] | None = None


@cache
def _known() -> Mapping[str, Any]:
    known: dict[str, Any] = json.loads(Path(__file__).with_name("python_calls.json").read_bytes())
    return known


@cache
def _calls() -> Mapping[str, Mapping[str, Any]]:
    """What functions of the standard library and of usual packages do, by their full names."""
    return {name: row for row in _known()["rows"] for name in row["calls"].split()}


@cache
def _services() -> frozenset[str]:
    """Packages that talk to somebody else."""
    return frozenset(_known()["services"].split())


@cache
def _modules() -> frozenset[str]:
    """Modules that hold functions with effects: passed around, anything may be called."""
    return frozenset(name.rpartition(".")[0] for name in _calls() if "." in name) | {"builtins", "importlib", "ctypes"}


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """The fields of a node that may hold more than a name, a sign or a constant."""
    return tuple(
        name for name in kind._fields if name not in {"ctx", "op", "ops", "kind", "type_comment", "id", "attr"}
    )


def read(code: str) -> list[Found]:
    """What stands out of `code`, in order of place."""
    if _is_plain(code):
        return []
    if len(code) > MOST_LETTERS:
        return [Found("unknown", detail="too long")]
    try:
        tree = ast.parse(code, FILE)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [Found("unknown", detail="python that cannot be read")]
    return sorted(_Code(code, tree).effects(), key=lambda found: found.start or 0)


@cache
def _words() -> frozenset[str]:
    """Every name that can make code do more than run: code without any of them needs no further look."""
    parts = {part for name in _calls() for part in name.split(".")} | {"__import__", "getattr", "__builtins__"}
    return frozenset(parts | STRANGE | INNER | set(SAME) | _services() | {"environ", "ctypes", "cffi"}) - {""}


def _is_plain(code: str) -> bool:
    """Whether no name in `code` is one that has effects; names in other scripts fold as Python folds them."""
    if not code.isascii():
        code = unicodedata.normalize("NFKC", code)
    return _words().isdisjoint(NAME.findall(code)) and PRIVATE.search(code) is None


class _Code:
    def __init__(self, code: str, tree: ast.Module) -> None:
        self.code = code
        self.lines: list[int] | None = None
        self.binds: list[Any] = []
        self.calls: list[Any] = []
        self.mentions: list[Any] = []
        self.subscripts: list[Any] = []
        self.names: dict[str, set[str]] = {}
        self.values: dict[str, list[ast.expr | None]] = {}
        self.stars: list[str] = []
        self.used: set[int] = set()
        self.out: list[Found] = []
        self.moves = False
        self.rounds: dict[str, list[ast.expr]] = {}  # what loops over given texts give to their names, one by one
        self.chosen: dict[str, ast.expr] | None = None  # of these in the round that is looked at
        self._sort(tree)

    def _sort(self, tree: ast.Module) -> None:
        """Gather the nodes that matter, by what they are."""
        waiting: list[ast.AST] = [tree]
        while waiting:
            node = waiting.pop()
            kind: Any = type(node)
            if kind is ast.Name or kind is ast.Attribute:
                self.mentions.append(node)
            elif kind is ast.Call:
                self.calls.append(node)
            elif kind is ast.Subscript:
                self.subscripts.append(node)
            elif kind in BINDS:
                self.binds.append(node)
            for name in _fields(kind):
                child = getattr(node, name, None)
                if type(child) is list:
                    waiting += [one for one in child if isinstance(one, ast.AST)]
                elif isinstance(child, ast.AST):
                    waiting.append(child)

    def effects(self) -> list[Found]:
        self.binds.sort(key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        for node in self.binds:
            self._bind(node)
        for node in self.binds:  # once more for names that are given before what they name
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and (name := self._dotted(node.value))
            ):
                self.names.setdefault(node.targets[0].id, set()).add(name)
        self.moves |= any(isinstance(node, ast.Attribute) and node.attr in MOVES for node in self.mentions)
        for call in self.calls:
            self._call(call)
        self.used |= {id(node.value) for node in self.mentions if isinstance(node, ast.Attribute)}
        for mention in self.mentions:
            self._mention(mention)
        return list(dict.fromkeys(self.out))

    # Names

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name if alias.asname else alias.name.partition(".")[0]
                self.names.setdefault(alias.asname or top, set()).add(SAME.get(top, top))
                self._imported(alias.name, node)
        elif isinstance(node, ast.ImportFrom):
            module = SAME.get(node.module or "", node.module or "")
            self._imported(module, node)
            for alias in node.names:
                self.moves |= alias.name in MOVES
                if alias.name == "*":
                    self.stars.append(module)
                else:
                    self.names.setdefault(alias.asname or alias.name, set()).add(f"{module}.{alias.name}")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assigned(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._assigned(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._assigned(node.target, node.iter, loop=True)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._assigned(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.arg):
            self.values.setdefault(node.arg, []).append(None)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name is not None:
            self.values.setdefault(node.name, []).append(None)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self.values.setdefault(node.target.id, []).append(None)

    def _imported(self, module: str, node: ast.AST) -> None:
        if module.partition(".")[0] in _services():
            self._say(node, "unknown", detail=f"talks to a service by {module}")
        elif module in {"ctypes", "cffi"} or (module.startswith("_") and module not in {"__future__", "_pytest"}):
            self._say(node, "unknown", detail="calls into libraries")

    def _assigned(self, target: ast.expr, value: ast.expr, *, loop: bool = False) -> None:
        if not isinstance(target, ast.Name):
            if self._dotted(target) in TEMPORARY:
                self._say(target, "unknown", detail="another function by that name")
            name = _second(target) if not loop and self._dotted(value) == "tempfile.mkstemp()" else None
            for child in ast.walk(target):
                if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                    self.values.setdefault(child.id, []).append(value if child is name else None)
            return
        if not loop and (dotted := self._dotted(value)):
            self.names.setdefault(target.id, set()).add(dotted)
            self.used.add(id(value))
        if loop and (given := _given(value)):
            self.rounds[target.id] = given
        self.values.setdefault(target.id, []).append(_searched(value) if loop else value)

    def _dotted(self, node: ast.AST, depth: int = 0) -> str | None:
        """The full name of a function or module: `s` after `from os import system as s` is os.system."""
        if depth > 20:
            return None
        if isinstance(node, ast.Name):
            known = self.names.get(node.id)
            if known:
                return next((name for name in sorted(known) if self._has_effects(name)), min(known))
            for star in self.stars:
                if f"{star}.{node.id}" in _calls():
                    return f"{star}.{node.id}"
            return node.id if node.id in _calls() or node.id in BUILTINS else None
        if isinstance(node, ast.Attribute):
            base = self._dotted(node.value, depth + 1)
            inner = node.attr.lstrip("_")
            if inner in INNER:
                return inner  # glob.os, shutil.os, random._os
            return f"{base}.{node.attr}" if base else None
        if isinstance(node, ast.Call):
            return self._made(node, depth)
        if isinstance(node, ast.Subscript) and self._dotted(node.value, depth + 1) == "sys.modules":
            name = _text(node.slice)
            return name or "builtins"
        return None

    def _made(self, node: ast.Call, depth: int) -> str | None:
        """What a call gives, where that is a module or a function by its name."""
        called = self._dotted(node.func, depth + 1)
        if called in {"__import__", "importlib.import_module", "builtins.__import__"} and node.args:
            return _text(node.args[0])
        if called in {"getattr", "builtins.getattr"} and len(node.args) > 1:
            base, name = self._dotted(node.args[0], depth + 1), _text(node.args[1])
            return f"{base}.{name}" if base and name else None
        if called in {"functools.partial"} and node.args:
            return self._dotted(node.args[0], depth + 1)
        return f"{called}()" if called else None

    def _has_effects(self, name: str) -> bool:
        return name in _calls() or name in _modules()

    # Calls

    def _call(self, node: ast.Call) -> None:
        name = self._dotted(node.func)
        does = _calls().get(name) if name else None
        if name in {"getattr", "builtins.getattr"}:
            self._getattr(node)
        elif name in {"__import__", "importlib.import_module"} and (not node.args or _text(node.args[0]) is None):
            self._say(node, "unknown", detail="a module named at run time")
        elif does is None and isinstance(node.func, ast.Attribute):
            does = _calls().get("." + node.func.attr)
            if does is not None:
                if name is None or "()" in name or not does.get("of_values"):
                    self._method(node, node.func, does)
                return
        if does is not None:
            self.used.add(id(node.func))
            self._do(node, does, list(node.args))

    def _getattr(self, node: ast.Call) -> None:
        if len(node.args) > 1 and _text(node.args[1]) is None:
            base = self._dotted(node.args[0])
            if base is not None and (base in _modules() or base.startswith("__")):
                self._say(node, "unknown", detail="a name made at run time")
        elif len(node.args) > 1 and _text(node.args[1]) in STRANGE:
            self._say(node, "unknown", detail="a way around names")
        if node.args:
            self.used.add(id(node.args[0]))

    def _method(self, node: ast.Call, func: ast.Attribute, does: Mapping[str, Any]) -> None:
        """A method whose name says what it does, of something that may be anything."""
        least, most = does.get("arguments", (0, 99))
        if least <= len(node.args) <= most and not (does.get("only_positional") and node.keywords):
            self._do(node, does, [func.value, *node.args])

    def _do(self, node: ast.Call, does: Mapping[str, Any], arguments: Sequence[ast.expr]) -> None:
        if "mode" in does:
            self._open(node, does["mode"], arguments)
        if "runs" in does:
            self._run(node, does["runs"], arguments)
        for kind, place in does.get("effects", {}).items():
            for where in place if isinstance(place, list) else [place]:
                if where is None:
                    self._say(node, kind, detail=does.get("detail", ""))
                    continue
                argument = _argument(node, arguments, where, does.get("names", ()))
                if argument is not None:
                    self._on(kind, argument, does.get("objects", "path"))
                elif not does.get("optional"):
                    self._say(node, kind)

    def _on(self, kind: Kind, argument: ast.expr, of: ObjectKind) -> None:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, int):
            return
        if isinstance(argument, ast.Attribute) and argument.attr == "pid":  # of a process that the code has started
            return
        if of != "path":
            text = self._path(argument)
            if text is None and of == "name":
                text = (ast.get_source_segment(self.code, argument) or of)[:60]
            self._say(argument, kind, text, of)
            return
        for path in self._paths(argument):
            if path == ":memory:":
                continue
            if path is None:
                path = "$" + (ast.get_source_segment(self.code, argument) or "path")[:60]
            elif self.moves and not path.startswith(("/", "~", "$")):
                path = "$PWD/" + path
            self._say(argument, kind, path, "path")

    def _open(self, node: ast.Call, place: int, arguments: Sequence[ast.expr]) -> None:
        mode = _argument(node, arguments, place, ("", "mode")) if place < 9 else None
        mode = mode or next((word.value for word in node.keywords if word.arg == "mode"), None)
        text = "r" if mode is None else _text(mode)
        path = _argument(node, arguments, 0, ("file",))
        if path is not None:
            if text is None or set(text) & set("wax+"):
                self._on("write", path, "path")
            if text is None or "r" in text:
                self._on("read", path, "path")

    def _run(self, node: ast.Call, how: str, arguments: Sequence[ast.expr]) -> None:
        """Hand a command on: "shell" a line, "either" a line or words, "words" the arguments, "list" the second one."""
        first = _argument(node, arguments, int(how == "method"), ("args", "cmd", "command"))
        in_shell = how in {"shell", "method"} or any(
            word.arg == "shell" and not (isinstance(word.value, ast.Constant) and not word.value.value)
            for word in node.keywords
        )
        command: str | tuple[str, ...] | None = None
        if how == "words":
            command = self._words(arguments)
        elif how == "list" and len(arguments) > 1:
            command = self._words(arguments[1].elts) if isinstance(arguments[1], ast.List | ast.Tuple) else None
        elif isinstance(first, ast.List | ast.Tuple):
            command = self._words(first.elts)
        elif first is not None:
            command = self._line(first)
            if isinstance(command, str) and not in_shell:
                command = (command,)
        if command is None:
            self._say(node, "unknown", detail="a command made at run time")
        else:
            start, end = self._span(first or node)
            self.out.append(Found("execute", start=start, end=end, command=command))

    def _line(self, node: ast.expr) -> str | tuple[str, ...] | None:
        """A command as one text, or split into words where the code does that."""
        value = self._value(node)
        if not isinstance(value, ast.Call):
            return _text(value)
        if isinstance(value.func, ast.Attribute) and value.func.attr == "split":
            line = value.args[0] if self._dotted(value.func) == "shlex.split" and value.args else value.func.value
            text = _text(line)
            return tuple(text.split()) if text and not re.search(r"[\"'\\]", text) else None
        return None

    def _words(self, nodes: Sequence[ast.expr]) -> tuple[str, ...] | None:
        words = []
        for node in nodes:
            if self._dotted(node) == "sys.executable":
                words.append("python")
            else:
                value = self._value(node)
                words.append((_text(value) if value is not None else None) or "$word")
        return tuple(words) if words and not words[0].startswith("$") else None

    # Values

    def _value(self, node: ast.expr) -> ast.expr | None:
        """What a name was given, where it was given one thing."""
        for _ in range(5):
            if not isinstance(node, ast.Name):
                return node
            given = self.values.get(node.id)
            if given is not None and len(given) == 1 and node.id in self.rounds and self.chosen is not None:
                return self.chosen.setdefault(node.id, self.rounds[node.id][0])
            if given is None or len(given) != 1 or given[0] is None:
                return None
            node = given[0]
        return None

    def _paths(self, node: ast.expr) -> Sequence[str | None]:
        """The paths that an expression gives, one for each round of the loops whose names are in it."""
        self.chosen = {}
        made = [self._path(node)]
        names = list(self.chosen)
        if names:
            rounds = list(islice(product(*(self.rounds[name] for name in names)), MOST_ROUNDS + 1))
            made = []
            for some in rounds:
                self.chosen = dict(zip(names, some, strict=True))
                made.append(self._path(node))
        self.chosen = None
        return made if len(made) <= MOST_ROUNDS else [self._path(node)]

    def _path(self, node: ast.expr, depth: int = 0) -> str | None:
        """The path that an expression gives; parts that are not known stand as "$"."""
        value = self._value(node)
        if value is None or depth > 10:
            return None
        if isinstance(value, ast.Constant):
            return _text(value) if not isinstance(value.value, bytes) else value.value.decode("utf-8", "replace")
        if isinstance(value, ast.JoinedStr):
            return self._parts(value.values, "", depth)
        if isinstance(value, ast.FormattedValue):
            return self._path(value.value, depth + 1)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Div):
            return self._parts((value.left, value.right), "/" if isinstance(value.op, ast.Div) else "", depth)
        if isinstance(value, ast.Call):
            return self._path_of_call(value, depth)
        return None

    def _path_of_call(self, node: ast.Call, depth: int) -> str | None:
        name = self._dotted(node.func)
        if name in {"os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"}:
            return self._parts(node.args, "/", depth) if node.args else "."
        if name in {"os.getcwd", "pathlib.Path.cwd"}:
            return "."
        if name == "pathlib.Path.home":
            return "~"
        if name in TEMPORARY and _is_in_temporary(node):
            return "/tmp/tmp.XXXXXXXXXX"
        if name in {"os.path.expanduser", "os.path.abspath", "os.path.realpath", "str", "os.fspath"} and node.args:
            return self._path(node.args[0], depth + 1)
        if name in {"urllib.request.Request", "open", "io.open", "glob.glob", "glob.iglob"} and node.args:
            return self._path(node.args[0], depth + 1)
        if name in {"os.listdir", "os.scandir", "os.walk"}:
            return f"{self._path(node.args[0], depth + 1) or '$'}/**" if node.args else "**"
        if isinstance(node.func, ast.Attribute):
            return self._path_of_method(node, node.func, depth)
        return None

    def _path_of_method(self, node: ast.Call, func: ast.Attribute, depth: int) -> str | None:
        if func.attr in {"glob", "rglob", "iterdir"}:
            base = self._path(func.value, depth + 1)
            rest = self._path(node.args[0], depth + 1) if node.args else "*"
            return None if base is None or rest is None else f"{base}/{'**/' * (func.attr == 'rglob')}{rest}"
        if func.attr in {"resolve", "absolute", "expanduser", "strip", "as_posix", "open"}:
            return self._path(func.value, depth + 1)
        if func.attr == "joinpath":
            return self._parts((func.value, *node.args), "/", depth)
        return None

    def _parts(self, nodes: Sequence[ast.expr], between: str, depth: int) -> str | None:
        parts = [self._path(node, depth + 1) or "$" for node in nodes]
        path = ""
        for part in parts:
            path = part if between and part.startswith("/") else f"{path}{between}{part}" if path else part
        return path

    # Everything else

    def _mention(self, node: ast.Attribute | ast.Name) -> None:
        """Functions with effects that are named without being called, and other ways around."""
        if isinstance(node, ast.Attribute) and node.attr in STRANGE:
            self._say(node, "unknown", detail="a way around names")
        if isinstance(node, ast.Attribute) and node.attr == "__dict__" and self._dotted(node.value) in _modules():
            self._say(node, "unknown", detail="a way around names")
        if isinstance(node, ast.Name) and node.id == "__builtins__":
            self._say(node, "unknown", detail="a way around names")
        if not isinstance(node.ctx, ast.Load):
            return
        name = self._dotted(node)
        if name is None:
            return
        if name == _known()["environment"]:
            self._environ(node)
        elif name == "sys.modules":
            self._say(node, "unknown", detail="modules by name")
        elif id(node) not in self.used and name in _calls():
            self._passed(node, name)
        elif id(node) not in self.used and name in _modules():
            self._say(node, "unknown", detail=f"passes {name} on")

    def _passed(self, node: ast.expr, name: str) -> None:
        """A function that is handed on: it may be called with anything."""
        does = _calls()[name]
        if "runs" in does:
            self._say(node, "unknown", detail="a command made at run time")
        of: ObjectKind | None = "path" if does.get("objects", "path") == "path" else None
        for kind in does.get("effects", {}):
            self._say(node, kind, f"${name}", of)

    def _environ(self, node: ast.expr) -> None:
        """The environment: one variable by its name may be a secret, all of them are."""
        keys = [other.slice for other in self.subscripts if other.value is node]
        for call in self.calls:
            func = call.func
            if isinstance(func, ast.Attribute) and func.value is node and func.attr in {"get", "setdefault", "pop"}:
                keys += call.args[:1]
        name = _text(keys[0]) if keys else None
        if any(isinstance(other.ctx, ast.Store) for other in self.subscripts if other.value is node):
            if name is None or re.search(r"PATH|PRELOAD|OPT|CONFIG|_ENV$|^GIT_|PAGER|EDITOR", name):
                self._say(node, "unknown", detail="changes the environment")
            return
        if name is None or SECRET_NAME.search(name):
            self._say(node, "secret", "environment", "name")

    def _span(self, node: ast.AST) -> tuple[int | None, int | None]:
        if not isinstance(node, ast.expr | ast.stmt):
            return None, None
        end = self._point(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return self._point(node.lineno, node.col_offset), end

    def _point(self, line: int, column: int) -> int:
        if self.lines is None:
            self.lines = [0]
            for found in re.finditer(r"\r\n|\r|\n", self.code):
                self.lines.append(found.end())
        start = self.lines[min(line, len(self.lines)) - 1]
        if self.code.isascii():
            return start + column
        return start + len(self.code[start : start + column].encode()[:column].decode("utf-8", "ignore"))

    def _say(
        self, node: ast.AST, kind: Kind, name: str | None = None, of: ObjectKind | None = None, detail: str = ""
    ) -> None:
        start, end = self._span(node)
        self.out.append(Found(kind, name, of if name is not None else None, start, end, detail))


def _text(node: ast.AST | None) -> str | None:
    """A constant text, also one of parts added up."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_text(part) for part in _added(node)]
        return None if None in parts else "".join(part or "" for part in parts)
    return None


def _added(node: ast.expr) -> list[ast.expr]:
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts.append(node.right)
        node = node.left
    return [node, *reversed(parts)]


def _argument(node: ast.Call, arguments: Sequence[ast.expr], place: int | str, names: Sequence[str]) -> ast.expr | None:
    """The argument at `place`, or by its name."""
    if isinstance(place, str):
        return next((word.value for word in node.keywords if word.arg == place), None)
    if place < len(arguments):
        return arguments[place]
    name = names[place] if place < len(names) else None
    return next((word.value for word in node.keywords if word.arg is not None and word.arg == name), None)


def _second(target: ast.expr) -> ast.expr | None:
    """The second of a pair of names."""
    return target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None


def _is_in_temporary(node: ast.Call) -> bool:
    """Whether a call of `tempfile` that makes something is given no more than how its name begins and ends."""
    given = [*node.args, *(word.value for word in node.keywords)]
    names = all("/" not in (_text(one) or ("" if isinstance(one, ast.Constant) else "/")) for one in given)
    return names and len(node.args) <= 2 and all(word.arg in {"suffix", "prefix", "text"} for word in node.keywords)


def _given(node: ast.expr) -> list[ast.expr]:
    """What a loop goes through, where that is texts as they stand."""
    is_known = isinstance(node, ast.Tuple | ast.List) and all(_text(one) is not None for one in node.elts)
    return node.elts if is_known and isinstance(node, ast.Tuple | ast.List) else []


def _searched(node: ast.expr) -> ast.expr | None:
    """What a loop goes through, where it is the paths of a search; None else."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in {"glob", "iglob", "rglob", "iterdir"}:
            return node
        if name in {"sorted", "list", "set"} and len(node.args) == 1:
            return _searched(node.args[0])
    return None
