"""What a command runs in its turn: other commands, code, and scripts that it names or hears."""

import re
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from ..paths import is_below
from ..programs import Applied, Word, effect_of_script
from . import boxes, code, sessions
from .out import Made
from .single import COPIES, STAYS, Done, joined_words, span_of
from .state import Given, State
from .texts import scripts, search

if TYPE_CHECKING:
    from .walk import Text


SYSTEM_FOLDERS = ("/bin/", "/usr/", "/sbin/", "/opt/")
BIN = re.compile(r"(?:.*/)?(?:bin|\.bin|Scripts)")
SHEBANG = re.compile(r"#!(?:/usr/bin/env (?:-S )?)?(?:/\S*/)?([\w.]+)")
SHELLS = dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh", "ash"), "shell")
LOOKS = frozenset({"read", "fetch"})
RUNS = frozenset({"execute", "install"})
PYTEST = frozenset({"pytest", "py.test"})
SOON = re.compile(r"(?:[1-9]\d{0,2}(?:\.\d+)?|0?\.\d+)s?|[1-9]m|10m")
READABLE = frozenset({"shell", "python", "node", "sed", "awk"})  # by a grammar
PICKS = frozenset(  # flags by which programs that run tests take some of them, by their names
    ["-t", "-k", "-g", "-n", "-m", "--grep", "--filter", "--name", "--names", "--match", "--test", "--tests", "--only"]
) | {"--testNamePattern", "--test-name-pattern", "--title", "--tags", "--example", "--plain-name", "-run", "--run"}
CODE = re.compile(r"\w\([^()]|^\(.*\s.*\)$|\w\s*\"|;", re.DOTALL)  # where the name of something that is run stands
IN_CODE = frozenset('(";')  # signs, of which it has one
TEST = re.compile(r"[\w./-]+\.py(?:::\w+)+\[[^/\n]*\]")  # one of pytest's, with the values that it is given
INPUT = Word("$input", exact=False, loose=True)


def is_by_path(text: "Text", directory: str, base: str) -> bool:
    """Whether a file of the project is a program of the table: it lies with others, or has a name that says so."""
    programs = text.out.programs
    return (BIN.fullmatch(directory) is not None and base in programs) or programs.is_of_a_project(base)


def go_on(done: Done, found_by: search.Search | None) -> None:
    """Read what a command runs: commands, code, scripts, and what the text itself has written."""
    text, applied, words, effects, span, state, given = done
    out, program = text.out, applied.program
    was_remote, was_in, known, started = out.remote, out.box, len(out.effects), len(out.served)
    out.remote = was_remote or applied.remote
    if (box := boxes.box_of(applied, state)) is not None:
        out.box, state = box, state.copy()
        state.cwd, state.made = box.cwd, frozenset()
    for at, command in enumerate(applied.runs):
        names = found_by.run[at] if found_by is not None and at < len(found_by.run) else None
        _run(text, applied, command, state, given, names)
    if program == "timeout" and words and SOON.fullmatch(words[0].text) and STAYS.search(text.text) is None:
        out.ended(started)
    written = set(out.written) if applied.code or applied.stdin else out.written
    for language, word in _pieces(applied.code):
        in_memory = language.startswith("sql:") and _is_in_memory(applied)
        code.read(text, "sql:memory" if in_memory else language, word, state, given)
    kinds = {found.effect for found in applied.found}
    if applied.runs or "execute" in kinds:
        _heard(text, applied, words, state)
    if applied.script and applied.operands:
        _script(text, applied, state, given)
    if out.made:
        runs = applied.script or applied.code or applied.runs_modules or not kinds.isdisjoint(RUNS)
        _loaded(text, span, "" if runs else program)
    out.remote, out.box = was_remote, was_in
    if (
        applied.remote
        and all(effect.effect != "send" for effect in effects)
        and any(one.effect not in LOOKS for one in islice(out.effects, known, None))
    ):
        place = applied.operands[0].text if applied.operands else program
        out.add("write", place, "name", span=span, detail="changes another machine")
    if applied.stdin:
        from_input(text, "sql:memory" if _is_in_memory(applied) else applied.stdin, span, state, given)
    if len(written) < len(out.written):  # by code, so that nobody knows what is in it
        out.made |= dict.fromkeys(out.written - written, Made())


def _is_in_memory(applied: Applied) -> bool:
    """Whether a client of SQLite is told of a database that is gone when it ends."""
    attaches = any("attach" in word.text.lower() for language, word in applied.code if language.startswith("sql"))
    return bool(applied.operands) and applied.operands[0].text == ":memory:" and not attaches


def _script(text: "Text", applied: Applied, state: State, given: Given | None) -> None:
    """Read a script that is run by what its name says, by what the text itself has put in it, and as a program."""
    script, *words = applied.operands
    named_script(text, script, words, state)
    made_script(text, script, applied.language, state)
    if script.exact:
        directory, _, base = script.text.rpartition("/")
        if is_by_path(text, directory, base):
            text.run([script._replace(text=base), *words], state, given)


def _heard(text: "Text", applied: Applied, words: Sequence[Word], state: State) -> None:
    """Read what is no name of what a program runs, but a command or code: `watcher 'rm -rf x'`, `lisp -e '(…)'`.

    What stands behind a flag that picks tests is the name of one: `npm test -- -t 'find (all) users'`; so is
    `tests/a.py::test_b['; DROP TABLE c']` of pytest.
    """
    named = [found.word for found in applied.found if found.effect == "execute" and found.word is not None]
    for word in [command[0] for command in applied.runs] + list(dict.fromkeys(named)):
        is_command = _is_command(text, word)
        if not is_command and (
            IN_CODE.isdisjoint(word.text) or word.text.startswith("-") or CODE.search(word.text) is None
        ):
            continue
        is_picked = any(flag.text in PICKS and one == word for flag, one in pairwise(words))
        if is_picked or (applied.program in PYTEST and TEST.fullmatch(word.text)):
            continue
        if is_command:
            code.read(text, "shell", word, state, None)
        else:
            text.doubt("code", span_of(word))


def _is_command(text: "Text", word: Word) -> bool:
    first, blank, _ = word.text.partition(" ")
    return bool(blank) and first in text.out.programs


def named_script(text: "Text", script: Word, words: Sequence[Word], state: State) -> None:
    """What the name of a script says that it does, where what is in it is not known."""
    is_made = text.out.place(script, state.cwd) in text.out.made
    if is_made or script.text.startswith(SYSTEM_FOLDERS) or not script.exact:
        return
    effect = effect_of_script(script.text, *(word.text for word in words))
    if effect is not None:
        text.out.add(effect, script.text, "name", span=span_of(script), detail="as its name says")


def made_script(text: "Text", script: Word, language: str, state: State) -> None:
    """Read a script that the text itself has written before it runs it."""
    made = text.out.made.get(text.out.place(script, state.cwd))
    if made is None or (made.content is None and made.by in COPIES):
        return
    if made.content is None:
        text.doubt("a script that is made at run time", span_of(script))
        return
    shebang = SHEBANG.match(made.content.text)
    named = shebang[1].rstrip("0123456789.") if shebang else "shell"
    language = language or SHELLS.get(named, named)
    if language in READABLE:
        text.out.heard.add(text.out.place(script, state.cwd))
    code.read(text, language, made.content, state.copy(), None, at_hand=True)


def _loaded(text: "Text", span: tuple[int | None, int | None], program: str) -> None:
    """Doubt what a program may run of what the text itself has written: it can do harm, and nobody has read it.

    `program`: of that name only, where it runs nothing else.
    """
    for name, made in text.out.made.items():
        is_run = name not in text.out.heard and (not program or name.endswith(f"/{program}"))
        is_code = is_run and made.content is not None and scripts.CODE.search(name) is not None
        if is_code and made.content is not None and scripts.POWER.search(made.content.text):
            text.doubt("runs what the same command has written", span)


def _run(
    text: "Text", applied: Applied, command: list[Word], state: State, given: Given | None, names: search.Names
) -> None:
    """A command that a program runs; what it puts in place of {} or behind it comes from its input."""
    if (
        applied.program.startswith(("python", "pypy"))
        and _is_module(command[0])
        and command[0].text not in text.out.programs
    ):
        text.out.add("execute", command[0].text, "program", span=span_of(command[0]))
        return
    if applied.feeds == "input":
        roots = given.roots if given is not None else ()
        fed = list(roots) or [INPUT]
        marker = next((value.text for flag, value in applied.flags if flag in {"-I", "--replace"} and value), None)
        text.out.compound = True
        command = _filled(command, marker or "{}", fed) if marker or applied.marks else [*command, *fed]
        given = None
    elif applied.feeds == "roots":
        roots = tuple(applied.operands) or (Word(".", *span_of(command[0])),)
        text.out.compound = True
        command = _filled(command, "{}", search.below(roots, names))
    if applied.joins:
        code.read(text, "shell", joined_words(command), state, given)
    elif applied.runs_modules and command[0].exact and command[0].text not in text.out.programs:
        text.out.add("execute", command[0].text, "name", span=span_of(command[0]))  # a module of the project's own
    else:
        text.run(command, state, given)


def _pieces(pieces: Sequence[tuple[str, Word]]) -> Sequence[tuple[str, Word]]:
    """The code of a command; several scripts of sed or awk are one."""
    if len(pieces) < 2 or pieces[0][0] not in {"sed", "awk"}:
        return pieces
    words = [word for _, word in pieces]
    script = "\n".join(word.text for word in words)
    return [(pieces[0][0], Word(script, words[0].start, words[-1].end, all(word.exact for word in words)))]


def _is_module(word: Word) -> bool:
    """Whether a name after `python -m` is one: a module that no row names is code at hand, as a file is."""
    return word.exact and all(part.isidentifier() for part in word.text.split("."))


def _filled(command: Sequence[Word], marker: str, fed: Sequence[Word]) -> list[Word]:
    """The command with what it is given put in place of `marker`."""
    words: list[Word] = []
    for word in command:
        if word.text == marker:
            words += [one._replace(start=word.start, end=word.end) for one in fed]
        elif marker in word.text:
            words.append(word._replace(text=word.text.replace(marker, fed[0].text), exact=False, at=None))
        else:
            words.append(word)
    return words


def from_input(
    text: "Text", language: str, span: tuple[int | None, int | None], state: State, given: Given | None
) -> None:
    """Code that a program reads from its input."""
    if given is not None and given.text is not None:
        word = given.text if given.text.start is not None else given.text._replace(start=span[0], end=span[1])
        code.read(text, language, word, state, None)
        return
    text.out.compound = True
    file = given.file if given is not None else None
    if file is not None and not file.loose and not file.text.startswith(("/dev/", "/proc/")):
        _from_file(text, language, file, state)
        return
    text.out.add("execute", span=span)
    text.out.add("unknown", span=span, detail="code from its input" if given is not None else sessions.OPENS)


def _from_file(text: "Text", language: str, file: Word, state: State) -> None:
    """Code that a program reads from a file, as from a script; of SQL only what is in it says to whom that is done."""
    place = text.out.place(file, state.cwd)
    text.out.path("execute", file, state.cwd)
    made_script(text, file, language, state)
    if not language.startswith("sql"):
        named_script(text, file, (), state)
    elif (
        language != "sql:memory"
        and place not in text.out.made
        and not (text.out.mark and is_below(place, text.out.room))
    ):
        text.out.add("unknown", span=span_of(file), detail="code from its input")
