"""JavaScript as node runs it: modules and their functions by name, and everything else by what it is made of.

Names are followed only as far as they are written: what gives a way around names (`constructor`, `eval`, a module
that is passed around, a property made up at run time and called) is `unknown`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..effect import Kind
from ..python_code import SECRET_NAME, Found

MOST_NESTED = 30
TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*[\s\S]*?\*/)|(?P<string>\"(?:[^\"\\\n]|\\[\s\S])*\"|'(?:[^'\\\n]|\\[\s\S])*')"
    r"|(?P<number>\d[\w.]*|\.\d+)|(?P<name>[A-Za-z_$#][\w$]*)"
    r"|(?P<sign>=>|\?\.|\.\.\.|[=!]==?|[<>]=?|&&|\|\||\?\?|\+\+|--|\*\*|[-+*/%&|^]=|[\s\S])"
)
REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
BEFORE_REGEX = frozenset("(,=:[!&|?{};+-*%~^<>") | {
    "=>",
    "==",
    "===",
    "!=",
    "!==",
    "&&",
    "||",
    "??",
    "return",
    "typeof",
}
FRESH = "/tmp/tmp.XXXXXXXXXX"  # a folder that `mkdtemp` has made
STRANGE = frozenset("\\`@\"'")
BUILDS = frozenset(
    {"+", "join", "concat", "reverse", "replace", "replaceAll", "fromCharCode", "Buffer", "atob", "from"}
)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Token(NamedTuple):
    kind: str
    text: str
    start: int


class Unreadable(Exception):
    """Text that no token fits."""


@cache
def _known() -> Mapping[str, Any]:
    known: dict[str, Any] = json.loads(Path(__file__).with_name("javascript.json").read_bytes())
    rows = {f"{row['of']}.{name}": row for row in known["calls"] for name in row["names"].split()}
    return {name: frozenset(text.split()) for name, text in known.items() if isinstance(text, str)} | {"calls": rows}


def read(code: str) -> list[Found]:
    """What stands out of `code`."""
    try:
        return _Script(tokens(code)).read()
    except (Unreadable, IndexError):
        return [Found("unknown", detail="JavaScript that cannot be read")]


def tokens(code: str) -> list[Token]:
    """Names, texts and signs; what a template puts in stands in brackets behind it."""
    found: list[Token] = []
    _tokens(code, 0, found, 0)
    return found


def _tokens(code: str, at: int, found: list[Token], depth: int) -> int:
    open_braces = 0
    while at < len(code):
        if code[at] == "`":
            at = _template(code, at, found, depth)
            continue
        last = found[-1].text if found else ""
        match = REGEX.match(code, at) if code[at] == "/" and (not last or last in BEFORE_REGEX) else None
        if match is not None and code[at : at + 2] not in {"//", "/*"}:
            found.append(Token("regex", match[0], at))
            at = match.end()
            continue
        match = TOKEN.match(code, at)
        if match is None or match[0] in STRANGE or (match.lastgroup == "sign" and not match[0].isascii()):
            raise Unreadable
        if match.lastgroup != "blank":
            open_braces += (match[0] == "{") - (match[0] == "}")
            if open_braces < 0 and depth:
                return match.end()
            found.append(Token(match.lastgroup or "", match[0], at))
        at = match.end()
    if depth:
        raise Unreadable
    return at


def _template(code: str, start: int, found: list[Token], depth: int) -> int:
    if depth > MOST_NESTED:
        raise Unreadable
    at, is_plain, inner = start + 1, True, []
    while code[at] != "`":
        if code[at] == "\\":
            at += 2
        elif code.startswith("${", at):
            is_plain = False
            inner.append(Token("sign", "(", at))
            at = _tokens(code, at + 2, inner, depth + 1)
            inner.append(Token("sign", ")", at))
        else:
            at += 1
    text = code[start : at + 1]
    found.append(Token("string" if is_plain else "template", f"'{text[1:-1]}'" if is_plain else text, start))
    if inner:
        found += [Token("sign", "+", start), *inner]
    return at + 1


class _Script:
    def __init__(self, given: Sequence[Token]) -> None:
        self.tokens = [*given, Token("end", "", 0)]
        self.known = _known()
        self.out: list[Found] = []
        self.modules: dict[str, str] = {}  # name -> "fs", "fs.readFile", "./x"
        self.declared: set[str] = set()
        self.fresh: set[str] = set()  # names of folders that it has made below the system's temporary one
        self.used: set[int] = set()  # places that are accounted for
        self.computed = 0
        self.is_of_project = False

    def read(self) -> list[Found]:
        for at, token in enumerate(self.tokens):
            if token.kind == "name":
                self._declare(at)
        for at, token in enumerate(self.tokens):
            if token.text == "[" and at and self._is_value(at - 1):
                self._index(at)
        for at, token in enumerate(self.tokens):
            if token.kind == "name" and at not in self.used:
                self._name(at)
            elif token.text == "(" and at and self.tokens[at - 1].text == "]" and self.computed:
                self._unknown(at, "a function that is named at run time")
        if self.computed > 1 and any(token.text in BUILDS or token.kind == "template" for token in self.tokens):
            self._unknown(0, "names made at run time")
        return list(dict.fromkeys(self.out))

    # What names stand for

    def _text(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _literal(self, at: int) -> str | None:
        token = self.tokens[at]
        return token.text[1:-1] if token.kind == "string" and "\\" not in token.text else None

    def _end(self, at: int) -> int:
        """Where the bracket at `at` is closed."""
        depth = 0
        for place in range(at, len(self.tokens)):
            text = self.tokens[place].text if self.tokens[place].kind == "sign" else ""
            depth += (text in {"(", "[", "{"}) - (text in {")", "]", "}"})
            if depth == 0:
                return place
        raise Unreadable

    def _begin(self, at: int) -> int:
        depth = 0
        for place in range(at, -1, -1):
            text = self.tokens[place].text if self.tokens[place].kind == "sign" else ""
            depth += (text in {")", "]", "}"}) - (text in {"(", "[", "{"})
            if depth == 0:
                return place
        raise Unreadable

    def _declare(self, at: int) -> None:
        text, after = self._text(at), self._text(at + 1)
        if text in {"const", "let", "var"}:
            self._bind(at + 1)
        elif text == "import" and after not in {"(", "."}:
            self._import(at)
        elif text in {"function", "class"} and self.tokens[at + 1 + (after == "*")].kind == "name":
            self.declared.add(self._text(at + 1 + (after == "*")))
        elif (after == "=" and self._text(at - 1) not in {".", "?."}) or after == "=>":
            self.declared.add(text)
        if (text == "catch" and after == "(") or self._is_defined(at):
            self.declared.add(text)
            self._declare_all(at + 1, self._end(at + 1))
        if after == ")" and self._text(at + 2) == "=>":
            self._declare_all(self._begin(at + 1), at + 1)

    def _is_defined(self, at: int) -> bool:
        """Whether a function or method begins here: `function f(a) {`, `f(a) {` in a class."""
        if self._text(at + 1) != "(" or self._text(at) in {"if", "for", "while", "switch", "with", "catch"}:
            return False
        return self._text(at) == "function" or self._text(self._end(at + 1) + 1) == "{"

    def _declare_all(self, start: int, end: int) -> None:
        self.declared.update(token.text for token in self.tokens[start:end] if token.kind == "name")

    def _bind(self, at: int) -> None:
        """`const fs = require("fs")`, `const {a, b: c} = require("x")`, `let x = …`."""
        if self._text(at) in {"{", "["}:
            end = self._end(at)
            module = self._module_at(end + 2) if self._text(end + 1) == "=" else None
            if module is None or self._text(at) == "[":
                self._declare_all(at, end)
                return
            self._bind_members(module, at, end)
            self._account(end + 2)
            return
        self.declared.add(self._text(at))
        self.used.add(at)
        if self._text(at + 1) == "=" and (module := self._module_at(at + 2)) is not None:
            place = self._account(at + 2)
            while self._text(place) == "." and self.tokens[place + 1].kind == "name":
                self.used.add(place + 1)
                module, place = f"{module}.{self._text(place + 1)}", place + 2
            if self._text(place) in {"(", "["}:  # its result: read where it stands
                self.used.difference_update(range(at + 2, place))
            else:
                self.modules[self._text(at)] = module
                if self._text(place) == ",":  # `const fs = require("fs"), os = require("os")`
                    self._bind(place + 1)

    def _bind_members(self, module: str, at: int, end: int) -> None:
        place = at + 1
        while place < end:
            name = self._text(place)
            self.used.add(place)
            if self._text(place + 1) in {":", "as"}:
                self.used.update((place + 1, place + 2))
                self.modules[self._text(place + 2)] = f"{module}.{name}"
                place += 2
            elif self.tokens[place].kind == "name":
                self.modules[name] = f"{module}.{name}"
            place += 1

    def _module_at(self, at: int) -> str | None:
        """The module that an expression gives: `require("fs")`, `await import("fs")`, `fs`."""
        if self._text(at) == "await":
            at += 1
        if self._text(at) in {"require", "import"} and self._text(at + 1) == "(" and self._text(at + 3) == ")":
            return self._literal(at + 2)
        if self._text(at) in self.modules and self._text(at + 1) != "(":
            return self.modules[self._text(at)]
        return None

    def _account(self, at: int) -> int:
        """Past the module at `at`, which is accounted for."""
        if self._text(at) == "await":
            at += 1
        is_call = self._text(at + 1) == "("
        self.used.add(at)
        if is_call:
            self._load(self._literal(at + 2) or "", at)
        return at + (4 if is_call else 1)

    def _import(self, at: int) -> None:
        end = at
        while self.tokens[end].kind not in {"string", "end"}:
            end += 1
        module = self._literal(end)
        if module is None:
            raise Unreadable
        self._load(module, at)
        self.used.update(range(at, end))
        place = at + 1
        while place < end:
            if self._text(place) == "{":
                self._bind_members(module, place, self._end(place))
                place = self._end(place)
            elif self._text(place) not in {"*", "as", "from", ","}:
                self.modules[self._text(place)] = module
            place += 1

    def _load(self, module: str, at: int) -> None:
        """Take note of a module that is loaded."""
        module = module.removeprefix("node:")
        if module.startswith((".", "/", "@/", "~/")) or module in {"fs", "child_process", "fs/promises", "process"}:
            self.is_of_project |= module.startswith((".", "/", "@/", "~/"))
            return
        top = module.lstrip("@").partition("/")[0]
        if module.endswith(".json") or top in self.known["packages"]:
            self.is_of_project = True
        elif module not in self.known["modules"]:
            self._unknown(at, f"the package {module}")

    # What is done

    def _unknown(self, at: int, detail: str) -> None:
        token = self.tokens[at]
        self.out.append(Found("unknown", start=token.start, end=token.start + len(token.text), detail=detail))

    def _is_value(self, at: int) -> bool:
        token = self.tokens[at]
        if token.kind == "name":
            return token.text not in self.known["keywords"]
        return token.kind in {"string", "template"} or token.text in {")", "]"}

    def _index(self, at: int) -> None:
        """`x[…]`."""
        end = self._end(at)
        text = self._literal(at + 1) if end == at + 2 else None
        if end == at + 2 and (self.tokens[at + 1].kind == "number" or (text and text not in self.known["never"])):
            return
        self.computed += 1
        if self._text(end + 1) == "[":
            self._unknown(at, "a name made at run time")

    def _name(self, at: int) -> None:
        text, before, after = self._text(at), self._text(at - 1), self._text(at + 1)
        if before in {".", "?."}:
            self._member(at)
        elif (text == "require" and after == "(") or (text == "import" and after == "("):
            self._required(at)
        elif text in self.known["never"]:
            self._unknown(at, text)
        elif text in self.known["keywords"] or (after == ":" and before in {"{", ","}):
            return
        elif text in self.modules:
            self._chain(self.modules[text], at + 1, at)
        elif text in self.declared:
            if after == "(" and self.computed and not self._is_defined(at):
                self._unknown(at, "a function that is not known")
        elif text in {"process", "fs", "child_process"}:
            self._chain(text, at + 1, at)
        elif text == "fetch" and after == "(":
            self._fetch(at)
        elif text == "fetch":
            self._unknown(at, "fetch passed around")
        elif text not in self.known["globals"] | self.known["modules"] and (
            after in {"(", "."} or before == "new" or self.tokens[at + 1].kind in {"string", "template"}
        ):
            self._unknown(at, f"the name {text}")

    def _member(self, at: int) -> None:
        text = self._text(at)
        if text in self.known["never"]:
            self._unknown(at, text)
        elif (
            self._text(at + 1) == "("
            and text not in self.known["methods"]
            and text not in self.declared
            and not (self.is_of_project and self._looks(text))
        ):
            self._unknown(at, f"the method {text}")

    def _looks(self, name: str) -> bool:
        """Whether a function of the project, or of a package, sounds like one that only looks or computes."""
        said = [word.lower() for word in WORD.findall(name)]
        return self.known["destroys"].isdisjoint(said) and (not said or said[0] in self.known["looks"])

    def _required(self, at: int) -> None:
        module = self._literal(at + 2) if self._text(at + 3) == ")" else None
        if module is None:
            self._unknown(at, "a module named at run time")
            return
        self._load(module, at)
        self._chain(module, at + 4, at)

    def _chain(self, module: str, at: int, start: int) -> None:
        """What is done with a module: its members by name, up to a call."""
        name = module.removeprefix("node:").replace("fs/promises", "fs")
        while self._text(at) in {".", "?."} and self.tokens[at + 1].kind == "name":
            self.used.add(at + 1)
            name, at = f"{name}.{self._text(at + 1)}", at + 2
            if self._text(at - 1) in self.known["never"]:
                self._unknown(at - 1, self._text(at - 1))
        top, _, member = name.partition(".")
        if top == "process":
            self._process(member, at, start)
        elif top in {"fs", "child_process"}:
            self._call(top, member, at, start)
        elif module.startswith((".", "/", "@/", "~/")) and self._text(at) == "(":  # a function of the project
            called = name.rpartition("/")[2].rpartition(".")[2]
            if called not in self.known["methods"] and not self._looks(called):
                self._unknown(start, f"the function {called}")

    def _process(self, member: str, at: int, start: int) -> None:
        first, _, rest = member.partition(".")
        if first == "env":
            if not rest or SECRET_NAME.search(rest):
                self._say("secret", start, rest or "environment")
        elif first not in self.known["process"]:
            self._unknown(start, f"process.{first}")

    def _call(self, module: str, member: str, at: int, start: int) -> None:
        name = member.removeprefix("promises.").removeprefix("default.").removesuffix("Sync")
        row = self.known["calls"].get(f"{module}.{name}")
        if row is None:
            if name != "constants" and not name.startswith("constants."):
                self._unknown(start, f"{module}.{member}")
            return
        if self._text(at) != "(":
            self._unknown(start, f"{module}.{member} passed around")
            return
        arguments = self._arguments(at)
        if "runs" in row:
            self._run(row["runs"], arguments, start)
        for effect, places in row.get("effects", {}).items():
            for place in places if isinstance(places, list) else [places]:
                path = self._path(arguments[place], name) if place < len(arguments) else None
                if name == "mkdtemp" and path is None and self._is_temporary(arguments[0]):
                    path = FRESH
                    self._name_fresh(start, at)
                self._say(effect, arguments[place][0] if path is not None else start, path or "$path", "path")

    def _arguments(self, at: int) -> list[list[int]]:
        """The places of the tokens of each argument of a call."""
        found: list[list[int]] = [[]]
        place, end = at + 1, self._end(at)
        while place < end:
            if self._text(place) == "," and self.tokens[place].kind == "sign":
                found.append([])
                place += 1
                continue
            last = self._end(place) if self.tokens[place].kind == "sign" and self._text(place) in "([{" else place
            found[-1] += range(place, last + 1)
            place = last + 1
        return found

    def _path(self, places: Sequence[int], of: str) -> str | None:
        """The path that an argument is: a text, a folder that was made, `path.join(folder, "a", "b")`."""
        if len(places) == 1 and self.tokens[places[0]].kind == "string":
            return self._literal(places[0])
        if of in {"rename", "link", "symlink"}:  # something else may be there then
            return None
        if len(places) == 1:
            return FRESH if self._text(places[0]) in self.fresh else None
        if not self._is_join(places) or self._text(places[4]) not in self.fresh:
            return None
        parts = [self._literal(at) for at in places[6:-1:2]]
        return None if None in parts else "/".join([FRESH, *(part or "" for part in parts)])

    def _is_join(self, places: Sequence[int]) -> bool:
        """Whether an argument is a call of `path.join` with more than one part."""
        texts = [self._text(at) for at in places]
        is_called = len(places) > 6 and self._is_module(texts[0], "path")
        return is_called and texts[1:4] == [".", "join", "("] and texts[5] == "," and set(texts[7:-1:2]) <= {","}

    def _is_temporary(self, places: Sequence[int]) -> bool:
        """Whether an argument is `path.join(os.tmpdir(), "a-")`."""
        texts = [self._text(at) for at in places]
        if len(places) != 12 or not (self._is_module(texts[0], "path") and self._is_module(texts[4], "os")):
            return False
        part = self._literal(places[10])
        return (
            texts[1:4] == [".", "join", "("]
            and texts[5:10] == [".", "tmpdir", "(", ")", ","]
            and "/" not in (part or "/")
        )

    def _is_module(self, name: str, module: str) -> bool:
        """Whether a name stands for a module wherever it stands, and nothing else is put into that."""
        if self.modules.get(name, "").removeprefix("node:") != module:
            return False
        places = [at for at in self._places(name) if self._text(at + 1) != "." or self._text(at + 3) != "("]
        return len(places) == 1 and self._text(places[0] + 1) in {"=", "from"}

    def _name_fresh(self, start: int, at: int) -> None:
        """Take note of what the folder is called that is made from `start` on, where nothing else is called so."""
        start -= self._text(start - 1) == "await"
        is_all = self._text(start - 1) == "=" and self._text(start - 3) == "const"
        others = [place for place in self._places(self._text(start - 2)) if place != start - 2]
        if is_all and self._text(self._end(at) + 1) in {";", ","} and all(map(self._is_given, others)):
            self.fresh.add(self._text(start - 2))

    def _places(self, name: str) -> list[int]:
        return [at for at, token in enumerate(self.tokens) if token.text == name and self._text(at - 1) != "."]

    def _is_given(self, at: int) -> bool:
        """Whether what stands here is the first that something is called with, and no parameter."""
        if self._text(at - 1) != "(" or self._text(at + 1) not in {",", ")"}:
            return False
        return self._text(self._end(at - 1) + 1) not in {"=>", "{"}

    def _only(self, arguments: Sequence[Sequence[int]], place: int) -> str | None:
        if place < len(arguments) and len(arguments[place]) == 1:
            return self._literal(arguments[place][0])
        return None

    def _run(self, how: str, arguments: Sequence[Sequence[int]], start: int) -> None:
        line = self._only(arguments, 0)
        command: str | tuple[str, ...] | None = line
        if line is not None and how == "words":
            given = arguments[1] if len(arguments) > 1 and self._text(arguments[1][0]) == "[" else ()
            texts = [self._literal(at) for at in given if self.tokens[at].kind != "sign"]
            command = (line, *(text if text is not None else "$word" for text in texts))
            options = arguments[1:] if not given else arguments[2:]
            if any(self._text(at) == "shell" for option in options for at in option):
                command = None
        if command is None:
            self._unknown(start, "a command made at run time")
        else:
            token = self.tokens[arguments[0][0]]
            self.out.append(
                Found("execute", start=token.start + 1, end=token.start + len(token.text) - 1, command=command)
            )

    def _fetch(self, at: int) -> None:
        arguments = self._arguments(at + 1)
        sends = len(arguments) > 1 and any(self._text(place) in {"method", "body"} for place in arguments[1])
        url = self._only(arguments, 0)
        token = self.tokens[at]
        kind: Kind = "send" if sends or (len(arguments) > 1 and self._text(arguments[1][0]) != "{") else "fetch"
        self.out.append(Found(kind, url or "$url", "url", token.start, token.start + len(token.text)))

    def _say(self, kind: Kind, at: int, name: str, of: Any = "name") -> None:
        token = self.tokens[at]
        self.out.append(Found(kind, name, of, token.start, token.start + len(token.text)))
