"""The shell's own commands."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..paths import normal
from ..programs import Applied, Word
from . import code, commands, printed, variables
from .running import from_input, made_script
from .single import joined_words
from .state import Given, State, either, forget

if TYPE_CHECKING:
    from .walk import Text


AGAIN = re.compile(
    r"(?:^|[\n;&|({])\s*(?:(?:then|do|else|builtin|command)\s+)*"
    r"(?:source|\.|eval|declare|typeset|read|readarray|mapfile|getopts|printf|unset|for|select|export|local)\s"
)
Own = Callable[["Text", Word, Sequence[Word], State, Given | None], Given | None]


def _operands(words: Sequence[Word]) -> list[Word]:
    return [word for at, word in enumerate(words) if not word.text.startswith("-") or word.text == "-" or at == -1]


def _cd(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    operands = _operands(words)
    text.out.applied.append((Applied(name.text), []))
    if name.text == "popd" or (operands and operands[0].text == "-"):
        state.cwd = "$OLDPWD"
    elif not operands:
        state.cwd = "~" if name.text == "cd" else "$OLDPWD"
    else:
        state.cwd = normal(operands[0].text, cwd=state.cwd)


def _eval(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    if words:
        text.out.compound = True
        word = joined_words(words)
        if printed.sets_up(word.text, state):
            text.out.add("execute", span=(name.start, name.end))
        elif all(one.exact for one in words):
            code.read(text, "shell", word, state, given)
        else:
            text.out.add("execute", span=(name.start, name.end))
            text.doubt("code made at run time", (word.start, word.end))


def _source(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    operands = [word for word in words if word.text != "--"]
    text.out.applied.append((Applied(name.text, operands=operands, script=True), []))
    if not operands:
        return
    file = operands[0]
    if file.text.startswith("/dev/") or file.text == "-":
        from_input(text, "shell", (file.start, file.end), state, given)
    else:
        text.out.path("execute", file, state.cwd)
        made_script(text, file, "shell", state)
    state.blind = state.blind or bool(state.variables)


def _trap(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    operands = _operands(words)
    if len(operands) > 1 and operands[0].text not in {"", "-"}:
        text.out.compound = True
        text.traps.append((operands[0], state, state.cwd))


def trapped(text: "Text", command: Word, state: State, before: str | None) -> None:
    """Read what a trap runs, at any time from where it is set to the end of `text`, of which `state` is the last."""
    later = state.copy()
    later.blind |= AGAIN.search(text.text) is not None
    for label in later.variables:
        if len(re.findall(rf"\b{re.escape(label)}\b[^\n;&|]*=", text.text)) != 1:
            later.variables[label] = None
    later.cwd = either(before, state.cwd, text.out.room)
    code.read(text, "shell", command, later, None)


def _alias(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    for word in words:
        label, equals, value = word.text.partition("=")
        if equals:
            text.out.compound = True
            state.aliases.add(label)
            skipped = len(label) + 1
            at = None if word.at is None else word.at + skipped
            code.read(text, "shell", word._replace(text=value, at=at), state.copy(), None)


def _exec(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    words = list(words)
    while words and words[0].exact and re.fullmatch(r"-[cla]+", words[0].text):
        del words[: 2 if "a" in words[0].text else 1]
    if words:
        text.run(words, state, given)


def _names(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    """read, mapfile, getopts, printf -v, let: they give variables values that are not known."""
    for word in words:
        forget(state, re.findall(r"\w+", word.text))
        state.blind |= word.loose
        if word.text.startswith("-C") and name.text != "read":
            text.doubt("a command for each line", (word.start, word.end))
    text.out.arithmetic |= name.text == "let"
    text.out.applied.append((Applied(name.text), []))


def _printf(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> Given | None:
    if words and words[0].text.startswith("-v"):
        _names(text, name, words[:2], state, given)
    return _output_of("printf", text, name, words, state, given)


def _output_of(
    program: str, text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None
) -> Given | None:
    return commands.apply(text, Applied(program, operands=list(words)), name, words, state, given)


def _echo(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> Given | None:
    return _output_of("echo", text, name, words, state, given)


def _declare(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    """export and its like where the grammar takes them for programs (`command export X=1`)."""
    for word in words:
        variables.declared(text, word, state)


def _set(text: "Text", name: Word, words: Sequence[Word], state: State, given: Given | None) -> None:
    """set: alone it shows all variables."""
    if not words:
        text.out.add("read", "environment", "name", span=(name.start, name.end))
        text.out.add("secret", "environment", "name", span=(name.start, name.end))
    for word in words:
        if re.match(r"[+-][a-z]*e", word.text):
            state.strict = word.text[0] == "-"
    text.out.applied.append((Applied(name.text), []))


OWN: dict[str, Own] = {
    "set": _set,
    "cd": _cd,
    "chdir": _cd,
    "pushd": _cd,
    "popd": _cd,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    "alias": _alias,
    "exec": _exec,
    "read": _names,
    "mapfile": _names,
    "readarray": _names,
    "getopts": _names,
    "let": _names,
    "printf": _printf,
    "echo": _echo,
    "export": _declare,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "readonly": _declare,
}
