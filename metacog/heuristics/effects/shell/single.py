"""What single programs do beside what the table says of them, and what they print."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..effect import Effect
from ..paths import normal
from ..programs import Applied, Word, is_input, tail
from . import code, owned
from .out import Made, Span
from .state import LAST_JOB, NUMBER, Given, State
from .texts import scripts, search

if TYPE_CHECKING:
    from .walk import Text


FILES = re.compile(r"\*\.[A-Za-z]\w{0,5}$")
COPIES = frozenset({"git", "sed", "cat", "head", "grep", "diff"})  # of what the project has
LINKS = frozenset({"-s", "--symbolic-link"})
FOLLOWS = frozenset({"-L", "-H", "-follow"})
JOBS = frozenset({LAST_JOB, NUMBER, "%1"})
ENDS = frozenset(["-9", "-15", "-2", "-INT", "-TERM", "-KILL", "-SIGINT", "-SIGTERM", "-SIGKILL", "--"])
STAYS = re.compile(r"\b(?:setsid|nohup|disown)\b|\bsleep (?:\d{4,}|\d+[hd]|inf)")


class Done(NamedTuple):
    """A command whose effects are put down."""

    text: "Text"
    applied: Applied
    words: Sequence[Word]
    effects: Sequence[Effect]
    span: Span
    state: State
    given: Given | None


def span_of(word: Word) -> tuple[int | None, int | None]:
    return word.start, word.end


def joined_words(command: Sequence[Word]) -> Word:
    if len(command) == 1:
        return command[0]
    text = " ".join(word.text for word in command)
    return Word(text, command[0].start, command[-1].end, exact=all(word.exact for word in command))


def _is_of_files(word: Word) -> bool:
    """Whether a word finds files by their endings, which `ls` prints as they are found: `*.bak`, `out/*.log`."""
    return FILES.search(word.text) is not None and not word.loose


def _echo_out(done: Done) -> Given | None:
    said = [word for word in done.words if word.text != "-n"]
    if not all(word.exact for word in done.words) or any(
        word.text.startswith("-") or "\\" in word.text for word in said
    ):
        return None
    joined = joined_words(said) if said else Word("")
    return Given(joined._replace(text=joined.text + "\n"))


def _printf_out(done: Done) -> Given | None:
    words = done.words
    is_plain = len(words) == 1 and words[0].exact and not re.search(r"[%\\]", words[0].text)
    return Given(words[0]) if is_plain else None


def _cat_out(done: Done) -> Given | None:
    operands = done.applied.operands
    if not operands:
        return done.given
    return Given(Word("")) if [word.text for word in operands] == ["/dev/null"] else None


def _ls_out(done: Done) -> Given | None:
    operands = tuple(done.applied.operands)
    is_named = all(map(_is_of_files, operands)) or any(flag == "-d" for flag, _ in done.applied.flags)
    return Given(roots=operands) if operands and is_named else None


PRINTS: dict[str, Callable[[Done], Given | None]] = {
    "echo": _echo_out,
    "printf": _printf_out,
    "cat": _cat_out,
    "ls": _ls_out,
}


def output_of(done: Done, found_by: search.Search | None) -> tuple[Word | None, tuple[Word, ...]]:
    """What a command prints, as far as it is known, and the paths that it names."""
    applied, given = done.applied, done.given
    prints = PRINTS.get(applied.program)
    if prints is not None and (said := prints(done)) is not None:
        return said.text, said.roots
    if applied.lists is not None:
        return None, tuple(search.below(applied.lists, found_by.printed if found_by is not None else None))
    return None, given.roots if applied.passes and given is not None else ()


def _find(done: Done) -> None:
    if done.text.out.links and any(flag in FOLLOWS for flag, _ in done.applied.flags):
        done.text.doubt("links that are followed", done.span)


def _openssl(done: Done) -> None:
    """Take note of what it hands over to a server."""
    given = done.given
    if done.applied.subcommand == "s_client" and given and (given.file or given.by in {"cat", "tar", "base64"}):
        is_nothing = given.file is not None and given.file.text == "/dev/null"
        done.text.out.add("read" if is_nothing else "send", "s_client", "host", span=done.span)


def _put_down(done: Done) -> None:
    """Take note of what is in files that get what a command is given."""
    given = done.given
    if given is not None:
        files = [tail(word, 3) if word.text.startswith("of=") else word for word in done.words]
        places = [done.text.out.place(word, done.state.cwd) for word in files]
        done.text.out.made |= dict.fromkeys(places, Made(given.text, given.by))


def _make(done: Done) -> None:
    """Read the recipes of a makefile that the text itself has written."""
    text, applied = done.text, done.applied
    given = [value or Word("-") for flag, value in applied.flags if flag in {"-f", "--file", "--makefile"}]
    for word in given or [Word(name) for name in ("GNUmakefile", "makefile", "Makefile")]:
        made = text.out.made.get(text.out.place(word, done.state.cwd))
        if is_input(word.text):
            made = Made(done.given.text if done.given is not None else None)
        if made is not None and made.content is None and made.by not in COPIES:
            text.doubt("a makefile that is made at run time", span_of(word))
        elif made is not None and made.content is not None:
            recipes = scripts.recipes(made.content.text)
            code.read(text, "shell", made.content._replace(text=recipes, at=None), done.state.copy(), None)
    owned.cleared(text, applied, done.state)


def _copy(done: Done) -> None:
    """Take note of where what the text itself has written is, too."""
    out = done.text.out
    if not out.made:
        return
    into = [value for flag, value in done.applied.flags if flag in owned.INTO and value is not None]
    *sources, to = [*done.applied.operands, *into[-1:]] or [Word("")]
    place = out.place(to, done.state.cwd)
    for source in sources:
        known = out.made.get(out.place(source, done.state.cwd))
        for name in (place, f"{place}/{source.text.rstrip('/').rpartition('/')[2]}"):
            if known is not None or name in out.made:
                out.made[name] = known or Made()


def _cp(done: Done) -> None:
    _copy(done)
    if any(flag in LINKS for flag, _ in done.applied.flags):
        _link(done)


def _ln(done: Done) -> None:
    _copy(done)
    _link(done)


def _link(done: Done) -> None:
    """Remember where links lead that stand in other directories than what they point to."""
    out, applied = done.text.out, done.applied
    into = [value for flag, value in applied.flags if flag in owned.INTO and value is not None]
    if len(applied.operands) + len(into) < 2:
        return
    given = [*applied.operands, *into[-1:]]
    targets, place = given[:-1], given[-1]
    name = out.place(place, done.state.cwd)
    for target in targets:
        base = target.text.rstrip("/").rpartition("/")[2]
        to = normal(target.text, cwd=name.rpartition("/")[0] or None)
        out.links[name] = to
        out.links[f"{name}/{base}"] = to


def _serve(done: Done) -> None:
    """Take note of files of the project that are published as long as a server runs."""
    out = done.text.out
    if all(effect.inside is not False for effect in done.effects) and out.is_at_home(done.state.cwd):
        out.served += [effect for effect in done.effects if effect.effect == "publish"]


def _kill(done: Done) -> None:
    """Take note of the end of something that the text itself has started."""
    flags = {word.text for word in done.words if word.text.startswith("-")}
    is_ended = flags <= ENDS and any(word.text in JOBS for word in done.words)
    if is_ended and STAYS.search(done.text.text) is None:
        done.text.out.ended()


SPECIAL: dict[str, Callable[[Done], None]] = {
    "find": _find,
    "openssl": _openssl,
    **dict.fromkeys(("tee", "sponge", "dd"), _put_down),
    "make": _make,
    "gmake": _make,
    **dict.fromkeys(("mv", "gmv", "install"), _copy),
    "cp": _cp,
    "ln": _ln,
    **dict.fromkeys(("http.server", "serve", "http-server", "live-server"), _serve),  # of files
    "kill": _kill,
}
