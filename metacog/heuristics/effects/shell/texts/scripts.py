"""Scripts of sed and awk: what they write, read and run beside changing text."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

MOST_LETTERS = 20_000


class Step(NamedTuple):
    """A file that a script reads or writes, or a command that it runs ("unknown": one that is made at run time)."""

    does: Literal["read", "write", "run", "unknown"]
    text: str = ""
    start: int = 0


# sed

ADDRESS = re.compile(r"\s*(?:\d+(?:~\d+)?|\$|[+~]\d+|/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n]*\])*/[IM]*)\s*")
OTHER_ADDRESS = re.compile(r"\s*\\(.)")
ADDRESS_FLAGS = re.compile(r"[IM]*\s*")
SED_BLANKS = re.compile(r"[\s;]*")
LABEL = re.compile(r"\s*[^\n;}]*")
SPACE = re.compile(r"[ \t]*")
SPACE_OR_NOT = re.compile(r"[\s!]*")
S_FLAGS = re.compile(r"[gpiImM0-9]*")
SET = re.compile(r"\[\^?\]?(?:\[[:.=]\w+[:.=]\]|[^\]\n])*\]")
TEXT = re.compile(r"(?:\\\n|\\.|[^\n\\])*")
NUMBER = re.compile(r"\s*\d*")


CLEARS = re.compile(r"\s*(?:(?:1\s*,\s*\$\s*)?d|s(.)(?:\^?\.\*\$?)\1\1g?)\s*;?\s*")


CLEARS_LINES = re.compile(  # of perl and ruby
    r"\s*(?:\$_\s*=\s*(?:\"\"|''|undef|nil)|undef\s*\(?\$_\)?|s(.)(?:\^?\.\*\$?)\1\1\w*)\s*;?\s*"
)
PRINTS = re.compile(r"[pPwWl=]")  # of sed with -n
PRINTS_LINES = re.compile(r"\b(?:print|printf|say|puts|p|write)\b")


CODE = re.compile(  # files that programs run or load
    r"\.(?:py|rb|rake|gemspec|p[lm]|t|php|go|rs|[cm]?[jt]sx?|java|kts?|scala|groovy|gradle|exs?|lua|swift|cs|c|cc|cpp|jl|R)$"
    r"|(?:^|/)(?:Rakefile|Gemfile|[Jj]ustfile|\.justfile|[Tt]askfile\.ya?ml|package\.json|(?:docker-)?compose\.ya?ml)$"
    r"|(?:^|/)(?:\.?bin|Scripts)/[^/.]+$"
)
POWER = re.compile(  # words of running commands, and of deleting more than a file
    r"(?<![.\w>])(?:exec|system|popen|passthru|shell_exec|proc_open)\s*\(|\bos\.(?:system|popen|exec\w*|spawn\w*|removedirs)\b"
    r"|\bsubprocess\b|\bchild_process\b|\bexecSync\b|\bspawnSync\b|\brmtree\b|\brm_rf?\b|\bremove_(?:dir_all|entry)\b"
    r"|\bRemoveAll\b|\brmSync\b|\brmdirSync\b|\bunlinkSync\b|\bexec\.Command|\bCommand::new\b|\bProcessBuilder\b|getRuntime\("
    r"|\bProcess\.Start\b|\bSystem\.cmd\b|\bKernel\.(?:system|exec|spawn)\b|\bsh\s+[\"']|(?:[\"']|-\s+)/:/\w"
    r"|\brm\s+(?:-\w+\s+)*-\w*[rR]\w*\s+(?!(?:-\w+\s+)*(?:\./)?(?:dist|build|out|coverage|node_modules|target|lib|\.\w+|tmp)\b)"
)


def recipes(makefile: str) -> str:
    """What the recipes of a makefile give to a shell; its variables as the shell's."""
    lines = re.findall(r"(?:^\t|;)[ \t]*[@+-]*[ \t]*((?:.*\\\n)*.*)", makefile, re.MULTILINE)
    return "\n".join(re.sub(r"\$\((\w+)\)", r"${\1}", line).replace("$$", "$") for line in lines)


def clears(program: str, flags: Collection[str], scripts: Sequence[str]) -> bool:
    """Whether an editor of streams leaves nothing of the files that it edits in place."""
    is_quiet = "-n" in flags and bool(scripts)
    if program in {"sed", "gsed"}:
        prints = any(PRINTS.search(script) for script in scripts)
        return any(CLEARS.fullmatch(script) for script in scripts) or (is_quiet and not prints)
    if program not in {"perl", "ruby"} or "-i" not in flags:
        return False
    prints = any(PRINTS_LINES.search(script) for script in scripts)
    return any(CLEARS_LINES.fullmatch(script) for script in scripts) or (is_quiet and not prints)


def sed(script: str) -> list[Step] | None:
    """What a sed script does, None when it cannot be read."""
    if len(script) > MOST_LETTERS:
        return None
    try:
        return list(_sed(script))
    except (IndexError, ValueError):
        return None


def _sed(script: str) -> Iterator[Step]:
    at, end, depth = 0, len(script), 0
    while True:
        at = _skip(SED_BLANKS, script, at)
        if at >= end:
            if depth:
                raise ValueError("a block that does not end")
            return
        at = _addresses(script, at)
        letter = script[at]
        at += 1
        if letter == "{":
            depth += 1
        elif letter == "}":
            depth -= 1
        elif letter == "#":
            at = script.find("\n", at) % (end + 1)
        elif letter in "=dDgGhHnNpPxzF":
            pass
        elif letter in "lLqQ":
            at = _skip(NUMBER, script, at)
        elif letter in "aic":
            at = _skip(TEXT, script, at)
        elif letter in ":btTv":
            at = _skip(LABEL, script, at)
        elif letter in "rRwW":
            name, at = _name(script, at)
            yield Step("read" if letter in "rR" else "write", *name)
        elif letter == "y":
            at = _parts(script, at, sets=False)
        elif letter == "s":
            at = _skip(S_FLAGS, script, _parts(script, at))
            if script[at : at + 1] == "e":
                yield Step("unknown")
                at += 1
            elif script[at : at + 1] == "w":
                name, at = _name(script, at + 1)
                yield Step("write", *name)
        elif letter == "e":
            name, at = _name(script, at)
            yield Step("run", *name) if name[0] else Step("unknown")
        else:
            raise ValueError("an unknown command")
        if letter not in "{}#aicrRwW:btTve" and at < end and script[at] not in " \t\n;}#":
            raise ValueError("something behind a command")


def _name(script: str, at: int) -> tuple[tuple[str, int], int]:
    """The rest of a line with where it starts, and where it ends."""
    start = _skip(SPACE, script, at)
    end = script.find("\n", start)
    end = len(script) if end < 0 else end
    return (script[start:end], start), end


def _skip(pattern: "re.Pattern[str]", script: str, at: int) -> int:
    found = pattern.match(script, at)
    return found.end() if found else at


def _addresses(script: str, at: int) -> int:
    """Past one address or two, and "!"."""
    for _ in range(2):
        at = _address(script, at)
        if script[at : at + 1] != ",":
            break
        at += 1
    return _skip(SPACE_OR_NOT, script, at)


def _address(script: str, at: int) -> int:
    other = OTHER_ADDRESS.match(script, at)
    if other:
        sign = other[1]
        place = other.end()
        while script[place] != sign:
            place += 2 if script[place] == "\\" else 1
        return _skip(ADDRESS_FLAGS, script, place + 1)
    return _skip(ADDRESS, script, at)


def _parts(script: str, at: int, *, sets: bool = True) -> int:
    """Past the two parts of s/a/b/ or y/a/b/."""
    sign = script[at]
    if sign in "\n\\":
        raise ValueError("no sign between the parts")
    at += 1
    for part in range(2):
        while script[at] != sign:
            if script[at] == "\\":
                at += 1
            elif sets and part == 0 and script[at] == "[" and sign not in "[]":
                at = _bracket(script, at)
            elif script[at] == "\n" and part == 0:
                raise ValueError("a part over two lines")
            at += 1
        at += 1
    return at


def _bracket(script: str, at: int) -> int:
    """The last letter of a set [...] in a pattern."""
    found = SET.match(script, at)
    if found is None:
        raise ValueError("a set that does not end")
    return found.end() - 1


# awk

TOKEN = re.compile(
    r"(?P<blank>(?:[ \t\r]|\\\n|#[^\n]*)+)|(?P<string>\"(?:[^\"\\\n]|\\[\s\S])*\")"
    r"|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<sign>>>|\|\||&&|\|&|[=!<>]=|\+\+|--|\*\*|[-+*/%^]=|[\s\S])"
)
REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?(?:\[:\w+:\]|[^\]\n])*\])*/")
BEFORE_REGEX = frozenset("(,!~{};&|\n") | {
    "&&",
    "||",
    "",
    "return",
    "case",
    "print",
    "=",
    "!=",
    "==",
    "~",
    "?",
    ":",
    "in",
}


def awk(script: str) -> list[Step] | None:
    """What an awk script does, None when it cannot be read."""
    if len(script) > MOST_LETTERS:
        return None
    tokens = _tokens(script)
    if tokens is None:
        return None
    steps: list[Step] = []
    printing, depth = False, 0
    for place, (text, _) in enumerate(tokens):
        before = tokens[place - 1][0] if place else ""
        after, after_at = tokens[place + 1] if place + 1 < len(tokens) else ("", 0)
        if text in {"print", "printf"}:
            printing, depth = True, 0
        elif text in {"(", "[", ")", "]"}:
            depth += 1 if text in "([" else -1
        elif text in {"\n", ";", "}", "{"}:
            printing = False
        elif text == "@" or (text == "ENVIRON" and after != "["):
            return None
        elif text == "system":
            whole = tokens[place + 1 : place + 4]
            ready = len(whole) == 3 and whole[0][0] == "(" and whole[2][0] == ")" and whole[1][0].startswith('"')
            steps.append(_constant("run", *whole[1]) if ready else Step("unknown"))
        elif text in {"|", "|&"}:
            if after == "getline" and before.startswith('"'):
                steps.append(_constant("run", *tokens[place - 1]))
            elif after.startswith('"') and _ends(tokens, place + 2):
                steps.append(_constant("run", after, after_at))
            else:
                steps.append(Step("unknown"))
        elif text == "getline" and before not in {"|", "|&"}:
            steps += _getline(tokens, place)
        elif printing and depth <= 0 and text in {">", ">>"}:
            known = after.startswith('"') and _ends(tokens, place + 2)
            steps.append(_constant("write", after, after_at) if known else Step("write"))
    return steps


def _getline(tokens: list[tuple[str, int]], place: int) -> list[Step]:
    for at in range(place + 1, min(place + 3, len(tokens))):
        if tokens[at][0] == "<":
            text, start = tokens[at + 1] if at + 1 < len(tokens) else ("", 0)
            return [_constant("read", text, start) if text.startswith('"') else Step("read")]
    return []


def _ends(tokens: list[tuple[str, int]], place: int) -> bool:
    return place >= len(tokens) or tokens[place][0] in {"\n", ";", "}", ")"}


def _constant(does: Literal["read", "write", "run"], text: str, start: int) -> Step:
    if "\\" in text:
        return Step("unknown")
    return Step(does, text[1:-1], start + 1)


def _tokens(script: str) -> list[tuple[str, int]] | None:
    """Words, strings and signs with where they start; a pattern is "/"."""
    tokens: list[tuple[str, int]] = []
    at = 0
    while at < len(script):
        last = tokens[-1][0] if tokens else ""
        if script[at] == "/" and last in BEFORE_REGEX:
            found = REGEX.match(script, at)
            if found is None:
                return None
            tokens.append(("/", at))
            at = found.end()
            continue
        found = TOKEN.match(script, at)
        if found is None or found[0] == '"':
            return None
        if found.lastgroup != "blank":
            tokens.append((found[0], at))
        at = found.end()
    return tokens
