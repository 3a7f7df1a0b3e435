"""Code that a command hands to an interpreter: read where there is a grammar for it, unknown else."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import edits, python_code, snippets, sql, trials
from ..programs import Word
from .out import Span
from .state import Given, State
from .texts import scripts

if TYPE_CHECKING:
    from .walk import Text


def read(text: "Text", language: str, word: Word, state: State, given: Given | None, *, at_hand: bool = False) -> None:
    """The effects of code in `language` that stands in `word`; of a file `at_hand` only those that stand out."""
    if language == "shell":
        text.inner(word, state, given)
    elif language in {"sed", "awk"}:
        _script(text, language, word, state)
    elif language == "python":
        _found(text, word, state, python_code.read(word.text))
    elif language == "patch":
        _patch(text, word, state)
    elif language == "sql" or language.startswith("sql:"):
        _sql(text, language.partition(":")[2] or None, word)
    else:
        found = snippets.read(language, word.text)
        _found(text, word, state, [one for one in found if not (at_hand and one.effect == "unknown")])


def _sql(text: "Text", dialect: str | None, word: Word) -> None:
    """Statements for a database's client; what another machine's tables are called says nothing about paths here."""
    if not word.exact:
        text.out.add("unknown", span=(word.start, word.end), detail="SQL made at run time")
    is_gone = dialect == "memory"  # when the client ends, but for what a statement does with a file
    result = sql.read(word.text, "sqlite" if is_gone else dialect)
    text.out.compound |= not result.is_simple
    stays = trials.stays_in(word.text, dialect)
    is_gone &= all(found.of in ("table", None) for found in result.effects if found.effect != "unknown")
    for found in result.effects:
        if is_gone and found.effect != "unknown":
            found = found._replace(effect="read", detail="")
        span = (word.start, word.end)
        if found.start is not None and found.end is not None:
            span = _part(word, found.start, found.end - found.start)
        mark = text.out.mark
        is_within = stays and (dialect == "postgres" or "." not in (found.object or ""))
        if mark and not (is_within or (found.object is not None and trials.is_of_tests(found.object))):
            text.out.mark = ""
        text.out.add(found.effect, found.object, found.of, span=span, detail=found.detail)
        text.out.mark = mark


def _patch(text: "Text", word: Word, state: State) -> None:
    changed = edits.read(word.text) if word.exact else None
    if changed is None:
        text.out.add("unknown", span=(word.start, word.end), detail="a patch that cannot be read")
    for edit in changed or ():
        start, end = _part(word, edit.start, edit.end - edit.start)
        text.out.path(edit.kind, Word(edit.path, start, end), state.cwd)


def _part(word: Word, start: int, length: int) -> Span:
    """Where a part of `word` stands, as far as that is known."""
    if word.at is None:
        return word.start, word.end
    return word.at + start, word.at + start + length


def _script(text: "Text", language: str, word: Word, state: State) -> None:
    steps = (scripts.sed if language == "sed" else scripts.awk)(word.text)
    if steps is None or not word.exact:
        text.out.add("unknown", span=(word.start, word.end), detail=f"{language} script")
    for step in steps or ():
        start, end = _part(word, step.start, len(step.text))
        part = Word(step.text, start, end, at=None if word.at is None else start)
        if step.does == "run":
            text.out.add("execute", span=(start, end))
            text.inner(part, state.copy(), None)
        elif step.does == "unknown":
            text.out.add("execute", span=(word.start, word.end))
            text.doubt("a command made at run time", (word.start, word.end))
        else:
            text.out.path(step.does, part if step.text else word._replace(text="$file", exact=False), state.cwd)


def _found(text: "Text", word: Word, state: State, found: Sequence[python_code.Found]) -> None:
    """Put down what code does beside running."""
    out = text.out
    out.add("execute", span=(word.start, word.end))
    if not word.exact:
        out.add("unknown", span=(word.start, word.end), detail="code made at run time")
    for one in found:
        span = (word.start, word.end)
        if one.start is not None and one.end is not None:
            span = _part(word, one.start, one.end - one.start)
        if one.command is not None:
            _command(text, one.command, span, state)
        elif one.object is not None and one.object.startswith("|"):  # Ruby and Perl run what is read from "|x"
            _command(text, one.object[1:], span, state)
        elif one.of == "path" and one.object is not None:
            out.path(one.effect, Word(one.object, *span, exact=False), state.cwd, one.detail)
        else:
            out.add(one.effect, one.object, one.of, span=span, detail=one.detail)


def _command(text: "Text", command: str | Sequence[str], span: Span, state: State) -> None:
    """A command that code runs: a line for the shell, or its words."""
    if isinstance(command, str):
        text.inner(Word(command, *span), state.copy(), None)
    else:
        text.run([Word(part, *span) for part in command], state.copy(), None)
