"""Perl, Ruby, PHP and Elixir: read word by word, by lists of words that do no harm. Every other word is `unknown`.

Patterns and texts are passed over, but for the code that they may hold.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..python_code import SECRET_NAME, Found

LANGUAGES = frozenset({"perl", "ruby", "php", "elixir"})
MOST_NESTED = 20
PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
BLANK = re.compile(r"(?:\s|#[^\n]*)+")
PHP_BLANK = re.compile(r"(?:\s|#(?!\[)[^\n]*|//[^\n]*|/\*[\s\S]*?\*/)+")
NUMBER = re.compile(r"\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?|0x[\da-fA-F]+")
NAME = re.compile(r"[A-Za-z_]\w*(?:::\w+)*[?!]?(?![=~])|[A-Za-z_]\w*(?:::\w+)*")
PLAIN_NAME = re.compile(r"[A-Za-z_]\w*(?:(?:::|\\)\w+)*")
PERL_VARIABLE = re.compile(r"\$#?\{?\^?\w+\}?|\$#?\$?\w+|\$[&.,;/\\0!@_+-]|[@%](?:\w+|\{|\$\w+)")
RUBY_VARIABLE = re.compile(r"\$(?:\w+|[~&.,;/\\!@_<>0-9-])|@@?\w+|:\w+[?!=]?(?!:)")
PHP_VARIABLE = re.compile(r"\$\w+")
QUOTE = re.compile(r"(qq|qw|qr|q|m|s|tr|y)\b\s*(?!\s*(?:=>|,|;|=[^~]))([^\w\s])|(qq|qw|qr|q|m|s|tr|y)([^\w\s,;=])")
RUBY_QUOTE = re.compile(r"%([qQwWiIr]?)([(\[{<|!/])")
INTERPOLATED = re.compile(r"@\{|\$\{[^\w^]|\(\?\??\{|[$@]\w+(?:->)?[\[{](?!-?[$\w]+[\]}])")
PHP_INTERPOLATED = re.compile(r"\{\$[^}]*[(`]|\$\{")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
BEFORE_REGEX = frozenset("(,=~!&|?{;[")
BEFORE_REGEX_WORDS = frozenset(
    ["if", "unless", "and", "or", "not", "split", "grep", "map", "while", "until", "when", "x", "print", "return"]
) | {"puts", "p"}


class Unreadable(Exception):
    """Text that no token fits."""


class Token(NamedTuple):
    """`kind`: name, variable, text, sign, "run" (a command in backquotes)."""

    kind: str
    text: str
    start: int


@cache
def _known() -> Mapping[str, Any]:
    known: dict[str, Any] = json.loads(Path(__file__).with_name("words.json").read_bytes())
    return {
        language: {name: frozenset(text.split()) for name, text in known[language].items()} for language in LANGUAGES
    } | {name: frozenset(known[name].split()) for name in ("destroys", "looks", "outside")}


def read(language: str, code: str, *, is_of_project: bool = False) -> list[Found]:
    """What stands out of `code`; `is_of_project`: its classes are at hand."""
    try:
        given = list(_Tokens(language, code).all())
    except (Unreadable, IndexError):
        return [Found("unknown", detail=f"{language} that cannot be read")]
    return list(dict.fromkeys(_Words(language, given, is_of_project).read()))


class _Tokens:
    def __init__(self, language: str, code: str, shift: int = 0, depth: int = 0) -> None:
        self.language, self.code, self.shift, self.depth = language, code, shift, depth
        self.at = 0
        self.last: Token | None = None
        if depth > MOST_NESTED:
            raise Unreadable

    def all(self) -> Iterator[Token]:
        step: Callable[[], Iterator[Token]] = {"perl": self._perl, "php": self._php}.get(self.language, self._ruby)
        while self.at < len(self.code):
            blank = (PHP_BLANK if self.language == "php" else BLANK).match(self.code, self.at)
            if blank:
                self.at = blank.end()
                continue
            for token in step():
                self.last = token
                yield token

    def _token(self, kind: str, pattern: "re.Pattern[str]") -> Iterator[Token]:
        found = pattern.match(self.code, self.at)
        if found is None:
            raise Unreadable
        start, self.at = self.at, found.end()
        yield Token(kind, found[0], self.shift + start)

    def _rest(self, names: "re.Pattern[str]") -> Iterator[Token]:
        """A number, a name or a sign."""
        letter = self.code[self.at]
        if letter.isdigit():
            yield from self._token("number", NUMBER)
        elif letter.isalpha() or letter == "_":
            yield from self._token("name", names)
        elif letter.isascii() and letter not in "\\`":
            self.at += 1
            yield Token("sign", letter, self.shift + self.at - 1)
        else:
            raise Unreadable

    def _quoted(self, close: str, opens: str = "") -> str:
        """Text up to `close`, which is where it begins now."""
        start, depth = self.at, 0
        while True:
            letter = self.code[self.at]
            if letter == "\\":
                self.at += 1
            elif letter == close and depth == 0:
                break
            elif letter == close:
                depth -= 1
            elif opens and letter == opens:
                depth += 1
            self.at += 1
        self.at += 1
        return self.code[start : self.at - 1]

    def _delimited(self) -> str:
        """Text between the sign at hand and its other half."""
        sign = self.code[self.at]
        self.at += 1
        return self._quoted(PAIRS.get(sign, sign), sign if sign in PAIRS else "")

    def _text(self, text: str, start: int) -> Iterator[Token]:
        yield Token("text", text, self.shift + start)

    def _may_be_regex(self) -> bool:
        last = self.last
        if last is None:
            return True
        return last.text in (BEFORE_REGEX if last.kind == "sign" else BEFORE_REGEX_WORDS)

    # Perl

    def _perl(self) -> Iterator[Token]:
        start, letter = self.at, self.code[self.at]
        quote = QUOTE.match(self.code, self.at)
        is_key = self.last is not None and self.last.text in {"->", "{"} and self.code[self.at + 1 : self.at + 2] == "}"
        if quote is not None and not is_key and not (self.last is not None and self.last.text == "$"):
            kind = quote[1] or quote[3]
            self.at = quote.end() - 1
            yield from self._perl_quote(kind, start)
        elif letter == "'":
            yield from self._text(self._delimited(), start)
        elif letter == '"':
            yield from self._checked(self._delimited(), start)
        elif letter == "/" and self._may_be_regex():
            yield from self._checked(self._delimited(), start)
            self._flags()
        elif letter == "`":
            yield Token("run", self._delimited(), self.shift + start)
        elif letter in "$@%" and PERL_VARIABLE.match(self.code, self.at):
            yield from self._token("variable", PERL_VARIABLE)
        elif letter == "&" and self.code[self.at : self.at + 2] != "&&":
            raise Unreadable
        elif self.code.startswith("&&", self.at):
            self.at += 2
            yield Token("sign", "&", self.shift + start)
        elif self.code.startswith("<<", self.at) and re.match(r"<<[\"'~A-Z]", self.code[self.at :]):
            raise Unreadable
        elif letter == "\\":
            self.at += 1
            yield Token("sign", "\\", self.shift + start)
        else:
            yield from self._rest(NAME)

    def _flags(self) -> str:
        found = re.compile(r"[a-z]*").match(self.code, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""

    def _checked(self, text: str, start: int) -> Iterator[Token]:
        if INTERPOLATED.search(text):
            raise Unreadable
        yield from self._text(text, start)

    def _perl_quote(self, kind: str, start: int) -> Iterator[Token]:
        sign = self.code[self.at]
        text = self._delimited()
        if kind in {"q", "qw"}:
            yield from self._text(text, start)
            return
        yield from self._checked(text, start)
        if kind in {"s", "tr", "y"}:
            if sign in PAIRS:
                blank = BLANK.match(self.code, self.at)
                self.at = blank.end() if blank else self.at
                place, second = self.at, self._delimited()
            else:
                place, second = self.at, self._quoted(sign)
            flags = self._flags()
            if kind == "s" and "e" in flags:
                if flags.count("e") > 1:
                    raise Unreadable
                yield from _Tokens("perl", second, self.shift + place, self.depth + 1).all()
            else:
                yield from self._checked(second, place)
        elif kind in {"m", "qr"}:
            self._flags()

    # Ruby

    def _ruby(self) -> Iterator[Token]:
        start, letter = self.at, self.code[self.at]
        quote = RUBY_QUOTE.match(self.code, self.at)
        if quote is not None and (quote[1] or self._may_be_regex()):
            self.at = quote.end() - 1
            text = self._delimited()
            self._flags()
            yield from self._interpolated(text, start) if quote[1] not in {"q", "w", "i"} else self._text(text, start)
        elif letter == "'":
            yield from self._text(self._delimited(), start)
        elif letter == '"':
            yield from self._interpolated(self._delimited(), start)
        elif letter == "/" and self._may_be_regex():
            yield from self._interpolated(self._delimited(), start)
            self._flags()
        elif letter == "`":
            yield Token("run", self._delimited(), self.shift + start)
        elif self.code.startswith("<<", self.at) and re.match(r"<<[\"'~A-Z-]", self.code[self.at :]):
            raise Unreadable
        elif letter in "$@:" and RUBY_VARIABLE.match(self.code, self.at) and not self.code.startswith("::", self.at):
            yield from self._token("variable", RUBY_VARIABLE)
        else:
            yield from self._rest(NAME)

    def _interpolated(self, text: str, start: int) -> Iterator[Token]:
        """A text with the code that stands in it."""
        yield Token("text", text if "#{" not in text else "#", self.shift + start)
        at = 0
        while (begin := text.find("#{", at)) >= 0:
            inner = _Tokens(self.language, text, 0, self.depth + 1)
            inner.at = begin + 2
            code = inner._quoted("}", "{")
            yield from _Tokens(self.language, code, self.shift + start + begin + 3, self.depth + 1).all()
            at = inner.at

    # PHP

    def _php(self) -> Iterator[Token]:
        start, letter = self.at, self.code[self.at]
        if letter == "'":
            yield from self._text(self._delimited(), start)
        elif letter == '"':
            text = self._delimited()
            if PHP_INTERPOLATED.search(text):
                raise Unreadable
            yield from self._text(text, start)
        elif letter == "$":
            yield from self._token("variable", PHP_VARIABLE)
        elif self.code.startswith("<<<", self.at):
            raise Unreadable
        elif letter == "\\" and self.code[self.at + 1 : self.at + 2].isalpha():
            self.at += 1
        else:
            yield from self._rest(PLAIN_NAME)


class _Words:
    def __init__(self, language: str, given: list[Token], is_of_project: bool) -> None:
        self.language, self.is_of_project = language, is_of_project
        self.tokens = [*given, Token("end", "", 0), Token("end", "", 0), Token("end", "", 0)]
        known = _known()
        self.words: frozenset[str] = known[language]["words"]
        self.outside: frozenset[str] = known["outside"]
        self.libraries: frozenset[str] = known[language].get("libraries", frozenset())
        self.destroys: frozenset[str] = known["destroys"]
        self.looks: frozenset[str] = known["looks"]
        self.names: set[str] = set()

    def read(self) -> Iterator[Found]:
        if self.language != "perl":
            self._learn()
        for at, token in enumerate(self.tokens):
            if token.kind == "run":
                plain = not re.search(r"[$#@\\]", token.text)
                yield self._say(token, "execute", command=token.text) if plain else self._unknown(token, "a command")
            elif token.kind == "variable":
                yield from self._variable(at, token)
            elif token.kind == "name":
                yield from self._name(at, token)

    def _learn(self) -> None:
        """Names that the code itself gives, and whether it loads code of the project."""
        inside = False
        for at, token in enumerate(self.tokens[:-3]):
            after, before = self.tokens[at + 1].text, self.tokens[at - 1].text if at else ""
            if token.text == "|" and self.language == "ruby":
                inside = not inside if inside or before in {"{", "do"} else inside
            elif token.kind == "name":
                is_given = after == "=" and self.tokens[at + 2].text not in {"=", "~"}
                is_bound = after == "-" and self.tokens[at + 2].text == ">"  # fn x -> …
                is_given |= is_bound or before in {"def", "function", "fn"}
                if inside or is_given or (after == "," and before == ""):
                    self.names.add(token.text)
                if self.language == "ruby" and token.text in {"require", "require_relative"}:
                    self.is_of_project |= token.text == "require_relative" or after not in self.libraries
                if self.language == "php" and token.text in {"require", "require_once", "include", "include_once"}:
                    self.is_of_project = True

    def _say(self, token: Token, kind: Any, name: str | None = None, of: Any = None, **more: Any) -> Found:
        return Found(kind, name, of, token.start, token.start + len(token.text), **more)

    def _unknown(self, token: Token, detail: str) -> Found:
        return self._say(token, "unknown", detail=detail)

    def _variable(self, at: int, token: Token) -> Iterator[Found]:
        name, before, after = token.text.strip("$@%:{}"), self._text(at - 1), self._text(at + 1)
        if name in {"_ENV", "ENV", "_SERVER"}:
            key = next((one.text for one in self.tokens[at + 1 : at + 3] if one.kind in {"text", "name"}), "")
            if not key or SECRET_NAME.search(key):
                yield self._say(token, "secret", key or "environment", "name")
        elif self.language == "elixir" and token.text.startswith(":") and after == "." and name not in self.libraries:
            yield self._unknown(token, token.text)  # a module of Erlang
        elif name in {"INC", "SIG"} or "^" in token.text:
            yield self._unknown(token, name)
        elif token.text == "@ARGV" and (after == "=" or {before, self._text(at - 2)} & {"push", "unshift", "splice"}):
            yield self._unknown(token, "files that are named at run time")
        elif token.text.startswith(":") and before == "&" and not self._is_harmless(name):
            yield self._unknown(token, name)
        is_called = after == "(" if self.language == "php" else after == "-" and self._text(at + 3) == "("
        if is_called and self.language != "ruby":
            yield self._unknown(token, "a function that is not known")

    def _text(self, at: int) -> str:
        return self.tokens[at].text if at >= 0 else ""

    def _is_key(self, at: int) -> bool:
        """Whether a word of Perl is the name of a value: `$h{word}`, `word => 1`."""
        if self._text(at - 1) == "{" and self._text(at + 1) == "}" and at > 1:
            behind = self.tokens[at - 2]
            return behind.kind == "variable" or (behind.text == ">" and self._text(at - 3) == "-")
        return self._text(at + 1) == "=" and self._text(at + 2) == ">"

    def _is_method(self, at: int) -> bool:
        before = self._text(at - 1)
        if self.language in {"ruby", "elixir"}:
            return before == "."
        return before == "new" or (before == ">" and self._text(at - 2) == "-")

    def _name(self, at: int, token: Token) -> Iterator[Found]:
        text, after = token.text, self.tokens[at + 1]
        if self.language == "perl":
            is_test = self._text(at - 1) == "-" and len(text) == 1 and text in "edfrswxzl"
            is_known = text in self.words or (text == "do" and after.text == "{")
            if not (is_known or is_test or self._is_key(at)):
                yield self._unknown(token, text)
        elif text in {"require", "require_relative", "require_once", "include", "include_once"}:
            loaded = after if after.text != "(" else self.tokens[at + 2]
            if loaded.kind != "text" or "$" in loaded.text or "://" in loaded.text:
                yield self._unknown(token, "code named at run time")
        elif self.language == "ruby" and text == "ENV":
            key = self.tokens[at + 2] if after.text == "[" else None
            if key is None or key.kind != "text" or SECRET_NAME.search(key.text):
                yield self._say(token, "secret", key.text if key else "environment", "name")
        elif (self.language == "ruby" and text in {"File", "IO", "Dir", "Pathname"}) or (
            self.language == "elixir" and text == "File"
        ):
            yield from self._file(at, token)
        elif self.language == "php" and text == "file_get_contents":
            name = self.tokens[at + 2]
            if name.kind != "text" or self.tokens[at + 3].text not in {")", ","}:
                yield self._say(token, "read", "$path", "path")
            else:
                is_url = "://" in name.text
                yield self._say(name, "fetch" if is_url else "read", name.text, "url" if is_url else "path")
        elif not (text in self.words or text in self.names or self._is_label(at) or self._is_at_hand(at, text)):
            yield self._unknown(token, text)

    def _is_label(self, at: int) -> bool:
        """Whether a word of Ruby names an argument: `where(state: 1)`."""
        token, after = self.tokens[at], self.tokens[at + 1]
        is_close = after.text == ":" and after.start == token.start + len(token.text)
        return self.language in {"ruby", "elixir"} and is_close and self._text(at - 1) != "."

    def _is_at_hand(self, at: int, text: str) -> bool:
        """Whether a name is a class of the project, or a method that sounds like one that only looks."""
        if not self.is_of_project or self._destroys(text) or text.partition("::")[0] in self.outside:
            return False
        return text[:1].isupper() or (self._is_method(at) and self._looks(text))

    def _is_harmless(self, method: str) -> bool:
        """Whether a method that is named (`&:name`) is known to be."""
        return method in self.words or (self._looks(method) and not self._destroys(method))

    def _looks(self, text: str) -> bool:
        said = [word.lower() for word in WORD.findall(text)]
        return not text.endswith("!") and (text.endswith("?") or not said or said[0] in self.looks)

    def _destroys(self, text: str) -> bool:
        return bool({word.lower() for word in WORD.findall(text)} & self.destroys)

    def _file(self, at: int, token: Token) -> Iterator[Found]:
        """Ruby's files and folders: looked at, or unknown."""
        method, opening, name = self.tokens[at + 2], self.tokens[at + 3].text, self.tokens[at + 4 :][:1]
        looks = {"read", "readlines", "exist?", "file?", "directory?", "size", "glob", "foreach", "binread", "mtime"}
        looks |= {"basename", "dirname", "extname", "join", "expand_path", "children", "entries", "pwd"}
        if self.language == "elixir":
            looks = {"read", "read!", "exists?", "dir?", "regular?", "ls", "ls!", "stat", "stat!", "stream!", "cwd!"}
        if self.tokens[at + 1].text != "." or method.text not in looks:
            yield self._unknown(token, "a file")
            return
        given = self.tokens[at + 3] if opening != "(" else name[0] if name else None
        if given is not None and given.kind == "text" and "#" not in given.text:
            yield self._say(given, "read", given.text, "path")
        else:
            yield self._say(token, "read", "$path", "path")
        self.names.add(method.text)
