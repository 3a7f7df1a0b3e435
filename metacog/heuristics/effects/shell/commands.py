"""One simple command: the shell's own ones, those of the table, and what those run in their turn."""

import re
from collections.abc import Callable, Collection, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from .. import trials
from ..effect import TESTS, Effect, Kind, new
from ..paths import GLOB, is_below, is_secret, normal
from ..programs import (
    Applied,
    Found,
    Word,
    effect_of_script,
    empties,
    is_about_data,
    is_called_output,
    is_input,
    tail,
    told,
    whose,
)
from . import boxes, code, owned, printed, scripts, search, sessions, variables
from .out import OUTSIDE, SHARED, Made, Span
from .state import LAST_JOB, NUMBER, Given, State, either, forget

if TYPE_CHECKING:
    from .walk import Text

SYSTEM = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"})
SYSTEM_FOLDERS = ("/bin/", "/usr/", "/sbin/", "/opt/")
BIN = re.compile(r"(?:.*/)?(?:bin|\.bin|Scripts)")
ADDRESS = re.compile(r"(?!file:)[a-z][a-z0-9+.-]{1,15}://")
FILES = re.compile(r"\*\.[A-Za-z]\w{0,5}$")
SETTING = re.compile(r"[\w.-]+=(?=~?/|\.\./)")
ODD = re.compile(
    r"(?:gopher|dict|telnet|tftp|smbs?|ldaps?|smtps?|imaps?|pop3s?|mqtts?|rtmp\w*|rtsp|wss?|udp|tcp)://", re.IGNORECASE
)
REGISTRY = re.compile(  # where packages usually come from
    r"https://(?:pypi\.org|files\.pythonhosted\.org|download\.pytorch\.org|registry\.(?:npmjs\.org|yarnpkg\.com)"
    r"|rubygems\.org|(?:index\.|static\.)?crates\.io|proxy\.golang\.org|repo\.maven\.apache\.org|repo1\.maven\.org)(?:/|$)"
)
VERSIONED = re.compile(r"(python|pip|perl|ruby|php|lua|gcc|g\+\+|clang|clang\+\+|node|pytest|java|bash|zsh)-?\d[\d.]*")
SHEBANG = re.compile(r"#!(?:/usr/bin/env (?:-S )?)?(?:/\S*/)?([\w.]+)")
SHELLS = dict.fromkeys(("sh", "bash", "dash", "zsh", "ksh", "ash"), "shell")
COPIES = frozenset({"git", "sed", "cat", "head", "grep", "diff"})  # of what the project has
AGAIN = re.compile(
    r"(?:^|[\n;&|({])\s*(?:(?:then|do|else|builtin|command)\s+)*"
    r"(?:source|\.|eval|declare|typeset|read|readarray|mapfile|getopts|printf|unset|for|select|export|local)\s"
)
LOOKS = frozenset({"read", "fetch"})
SAID = frozenset({"write", "execute", "delete"})
RUNS = frozenset({"execute", "install"})
ELSEWHERE = (*SHARED, "~/.cache/", "~/.local/", "~/.npm/", "~/.cargo/", "~/go/")  # where much is kept that is nobody's
CLEANERS = frozenset(
    {"rm", "git", "docker", "docker-compose", "find", "kubectl"}
)  # their operands are what they delete
SHOWN = frozenset({"show", "cat-file", "diff", "log", "grep", "annotate", "whatchanged", "archive"})
PATCHES = frozenset({"-p", "-u", "--patch", "-S", "-G", "-L"})
CHOICES = frozenset({"-o", "-or", "-not", "!", ","})  # of an expression that asks for one thing or another
NAMING = frozenset(  # the shell's own, which are given names of variables
    ["printf", "test", "[", "read", "unset", "wait", "declare", "typeset", "local", "export", "readonly", "let"]
) | {"getopts", "mapfile", "readarray", "eval", "set", "env", "exec", "command", "builtin"}
COPIED = frozenset({"cp", "mv", "gmv", "ln", "install"})
LISTS = frozenset({"-T", "--files-from", "--files0-from", "--from-file"})  # of names
MOVES = frozenset({"mv", "gmv"})
LINKS = frozenset({"-s", "--symbolic-link"})
FOLLOWS = frozenset({"-L", "-H", "-follow"})
JOBS = frozenset({LAST_JOB, NUMBER, "%1"})
ENDS = frozenset(["-9", "-15", "-2", "-INT", "-TERM", "-KILL", "-SIGINT", "-SIGTERM", "-SIGKILL", "--"])
PYTEST = frozenset({"pytest", "py.test"})
SOON = re.compile(r"(?:[1-9]\d{0,2}(?:\.\d+)?|0?\.\d+)s?|[1-9]m|10m")
STAYS = re.compile(r"\b(?:setsid|nohup|disown)\b|\bsleep (?:\d{4,}|\d+[hd]|inf)")
READABLE = frozenset({"shell", "python", "node", "sed", "awk"})  # by a grammar
KEEPS = frozenset({"chmod", "chown", "chgrp", "touch"})  # what is in a file
PICKS = frozenset(  # flags by which programs that run tests take some of them, by their names
    ["-t", "-k", "-g", "-n", "-m", "--grep", "--filter", "--name", "--names", "--match", "--test", "--tests", "--only"]
) | {"--testNamePattern", "--test-name-pattern", "--title", "--tags", "--example", "--plain-name", "-run", "--run"}
DAEMON = re.compile(  # Docker's, the kubelet's and kubectl proxy's ports
    r"(?:\w+://)?(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\]):(?:237[56]|10250|8001/apis?)(?:/|$)"
)
RUN_NAME = re.compile(r"\w\[[^\]]*(?:\$\(|`)")  # a[$(…)]: where a name is asked for, bash runs what is in it
CODE = re.compile(r"\w\([^()]|^\(.*\s.*\)$|\w\s*\"|;", re.DOTALL)  # where the name of something that is run stands
IN_CODE = frozenset('(";')  # signs, of which it has one
TEST = re.compile(r"[\w./-]+\.py(?:::\w+)+\[[^/\n]*\]")  # one of pytest's, with the values that it is given
INPUT = Word("$input", exact=False, loose=True)


class Done(NamedTuple):
    """A command whose effects are put down."""

    text: "Text"
    applied: Applied
    words: Sequence[Word]
    effects: Sequence[Effect]
    span: Span
    state: State
    given: Given | None


def run(text: "Text", argv: Sequence[Word], state: State, given: Given | None) -> Given | None:
    """Read one command from its words; what it gives to the next of a pipeline."""
    if not argv:
        return None
    name, words = argv[0], argv[1:]
    if not name.exact and (name.loose or not name.text.startswith("~/") or GLOB.search(name.text)):
        if name.loose:
            text.out.compound = True
        _strange(text, name, "a program named at run time", None)
        return None
    for word in words:
        if (
            "[" in word.text
            and word.exact
            and RUN_NAME.search(word.text)
            and (name.text in NAMING or name.text not in text.out.programs)
        ):
            text.doubt("a name that is run", (word.start, word.end))
    if name.text in state.aliases:
        text.doubt("alias", (name.start, name.end))
    function = state.functions.get(name.text)
    if function is not None:
        owner, node = function
        owner.call(name.text, node, state, given)
        if name.text not in text.out.programs:
            return None
    own = OWN.get(name.text)
    if own is not None:
        return own(text, name, words, state, given)
    called = _program(text, name, state)
    if "/" in name.text:
        _named_script(text, name, words, state)
    if called is None:
        return None
    applied = text.out.programs.apply(called, words)
    if applied is None:
        _strange(text, name, "an unknown program", called)
        return None
    return _apply(text, applied, name, words, state, given)


def _strange(text: "Text", name: Word, why: str, program: str | None) -> None:
    span = (name.start, name.end)
    text.out.add("execute", program, "program" if program else None, span=span)
    text.out.add("unknown", program, "program" if program else None, span=span, detail=why)


def _program(text: "Text", name: Word, state: State) -> str | None:
    """The name in the table; a program of the project's own is code at hand, whatever it is called."""
    if name.text.startswith("@"):  # a package of somebody's own, as npx runs it
        return name.text
    if "://" in name.text and ADDRESS.match(name.text):
        text.out.add("execute", name.text, "url", span=_span(name))
        _remote(text, "execute", name)
        return None
    directory, slash, base = name.text.rpartition("/")
    if base not in text.out.programs and (versioned := VERSIONED.fullmatch(base)):
        base = versioned[1]
    if not slash or directory in SYSTEM:
        return base
    text.out.path("execute", name, state.cwd)
    _made_script(text, name, "", state)
    if base.startswith(("ld-linux", "ld.so", "ld-musl")):
        text.doubt("a loader of programs", (name.start, name.end))
    return base if _is_by_path(text, directory, base) else None


def _is_by_path(text: "Text", directory: str, base: str) -> bool:
    """Whether a file of the project is a program of the table: it lies with others, or has a name that says so."""
    programs = text.out.programs
    return (BIN.fullmatch(directory) is not None and base in programs) or programs.is_of_a_project(base)


def _apply(
    text: "Text", applied: Applied, name: Word, words: Sequence[Word], state: State, given: Given | None
) -> Given | None:
    """Put down what the table says of a command, and read what it runs."""
    out, program, span = text.out, applied.program, (name.start, name.end)
    kinds = {found.effect for found in applied.found}
    inner = _begun(text, applied, kinds, span, state)
    if sessions.opens(applied, given):
        out.add("unknown", span=span, detail=sessions.OPENS)
    if "delete" in kinds or ("write" in kinds and applied.code):
        applied.found = owned.marked(text, applied, inner)
    if applied.operands and (program in MOVES or (program, applied.subcommand) == ("git", "worktree move")):
        owned.moved(text, applied, inner)
    was_marked, was_theirs, rule = out.mark, out.theirs, whose(program)
    if rule is not None or was_marked:
        out.mark = owned.mark(text, applied, inner, rule)
    found_by = search.search(words) if applied.feeds == "roots" else None
    found = applied.found if found_by is None else _found(applied, words, found_by)
    effects = _effects(text, applied, found, words, span, inner, given)
    if out.live and is_about_data([applied.subcommand, *(word.text for word in applied.operands)]):
        out.add("write", "production", "name", span=span)
    if program == "git" and applied.subcommand in SHOWN:
        _shown(text, applied, state)
    executes = "execute" in kinds
    if executes and applied.cwd is not None and not applied.remote:
        out.path("execute", applied.cwd, state.cwd)
    if given is not None and given.roots and _reads_names(applied):
        for root in given.roots:
            out.path("read", root, inner.cwd)
    if found_by is not None and found_by.printed:
        _hunts(text, applied, found_by.printed, inner)
    if out.made and any(effect.effect == "install" and effect.object in out.made for effect in effects):
        text.doubt("installs what the same command lists", span)
    done = new(Done, (text, applied, words, effects, span, inner, given))
    if (special := SPECIAL.get(program)) is not None:
        special(done)
    out.applied.append((applied, effects))
    out.compound = out.compound or any(word.loose for word in words)
    if executes or applied.runs or applied.code or applied.script or applied.stdin or applied.remote or out.made:
        _go_on(done, found_by)
    out.mark, out.theirs = was_marked, was_theirs
    if rule is not None and rule.makes:
        owned.remember(text, applied, state, rule)
    elif program in MOVES:  # something else may be in what was made
        state.made = frozenset()
    said, roots = _output(done, found_by)
    is_own = out.made and program in COPIES and any(out.place(one, state.cwd) in out.made for one in applied.operands)
    return new(Given, (said, roots, "" if is_own else program, None))


def _begun(text: "Text", applied: Applied, kinds: Collection[Kind], span: Span, state: State) -> State:
    """What the shell knows where a command runs; what is doubtful before that is put down."""
    for doubt in applied.doubts:
        text.out.add("unknown", span=span, detail=doubt)
    for word in applied.assigned:
        label, _, value = word.text.partition("=")
        variables.assign(text, label, word._replace(text=value), state, (word.start, word.end), kept=False)
    if applied.wraps or applied.assigned or "execute" in kinds:
        state = _told(text, applied, state)
    if applied.cwd is None:
        return state
    inner = state.copy()
    inner.cwd = normal(applied.cwd.text, cwd=state.cwd)
    return inner


def _effects(
    text: "Text",
    applied: Applied,
    found: Sequence[Found],
    words: Sequence[Word],
    span: Span,
    state: State,
    given: Given | None,
) -> list[Effect]:
    """Put down the effects of a command, with what follows from those for what it is told of."""
    out, program = text.out, applied.program
    made = dict(out.made) if out.made and (program in KEEPS or program in COPIED) else None
    effects: list[Effect] = []
    for one in found:
        if one.effect == "unknown" and (
            (out.mark and _runs_own_sql(text, applied, state)) or (given is not None and _is_asked(applied))
        ):
            continue
        effects += _effect(text, one, span, state, looks=applied.names, deep=applied.deep)
    kinds = {effect.effect for effect in effects}
    if not (kinds <= LOOKS or applied.remote or out.remote):
        _settings(text, applied, kinds, state)
    if not (applied.remote or out.remote) and out.box is None and (applied.runs_modules or not kinds <= LOOKS):
        _places(text, applied, words, state)
    if made is not None:
        out.made = made
    return effects


def _go_on(done: Done, found_by: search.Search | None) -> None:
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
        _from_input(text, "sql:memory" if _is_in_memory(applied) else applied.stdin, span, state, given)
    if len(written) < len(out.written):  # by code, so that nobody knows what is in it
        out.made |= dict.fromkeys(out.written - written, Made())


def _hunts(text: "Text", applied: Applied, names: Sequence[str], state: State) -> None:
    """Put down that a search outside of the workspace is for files that hold secrets."""
    for word in search.below(applied.operands, tuple(name for name in names if is_secret(name))):
        place = text.out.place(word, state.cwd)
        if word.text[-1:] != "*" and not is_below(place, text.out.room):
            text.out.add("secret", place, "path", inside=False, span=_span(word))


def _reads_names(applied: Applied) -> bool:
    """Whether a command packs the files whose names it gets as its input: `cpio -o`, `tar -T -`, `zip -@`."""
    return applied.program in {"cpio", "pax"} or any(
        flag == "-@" or (flag in LISTS and value is not None and value.text == "-") for flag, value in applied.flags
    )


def _is_in_memory(applied: Applied) -> bool:
    """Whether a client of SQLite is told of a database that is gone when it ends."""
    attaches = any("attach" in word.text.lower() for language, word in applied.code if language.startswith("sql"))
    return bool(applied.operands) and applied.operands[0].text == ":memory:" and not attaches


def _told(text: "Text", applied: Applied, state: State) -> State:
    """What the shell knows where a command runs that is told of variables, or of none before it."""
    told = owned.told(applied)
    starts_anew = owned.starts_anew(applied)
    for word in told:
        label = word.text.partition("=")[0]
        if variables.switches_off(label, tail(word, len(label) + 1)):
            text.doubt(f"sets {label}", _span(word))
    if not (applied.assigned or told or starts_anew):
        return state
    inner = state.copy()
    inner.given = {} if starts_anew else inner.given
    inner.given = {**inner.given, **{word.text.partition("=")[0]: tail(word, word.text.find("=") + 1) for word in told}}
    return inner


def _script(text: "Text", applied: Applied, state: State, given: Given | None) -> None:
    """Read a script that is run by what its name says, by what the text itself has put in it, and as a program."""
    script, *words = applied.operands
    _named_script(text, script, words, state)
    _made_script(text, script, applied.language, state)
    if script.exact:
        directory, _, base = script.text.rpartition("/")
        if _is_by_path(text, directory, base):
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
            text.doubt("code", _span(word))


def _is_command(text: "Text", word: Word) -> bool:
    first, blank, _ = word.text.partition(" ")
    return bool(blank) and first in text.out.programs


def _named_script(text: "Text", script: Word, words: Sequence[Word], state: State) -> None:
    """What the name of a script says that it does, where what is in it is not known."""
    is_made = text.out.place(script, state.cwd) in text.out.made
    if is_made or script.text.startswith(SYSTEM_FOLDERS) or not script.exact:
        return
    effect = effect_of_script(script.text, *(word.text for word in words))
    if effect is not None:
        text.out.add(effect, script.text, "name", span=_span(script), detail="as its name says")


def _made_script(text: "Text", script: Word, language: str, state: State) -> None:
    """Read a script that the text itself has written before it runs it."""
    made = text.out.made.get(text.out.place(script, state.cwd))
    if made is None or (made.content is None and made.by in COPIES):
        return
    if made.content is None:
        text.doubt("a script that is made at run time", _span(script))
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


def _is_asked(applied: Applied) -> bool:
    """Whether git asks of each part of what has changed, yes or no, and the text itself answers."""
    is_kept = applied.program == "git" and applied.subcommand in {"add", "stage", "commit"}
    return is_kept and any(flag in {"-p", "--patch"} for flag, _ in applied.flags)


def _runs_own_sql(text: "Text", applied: Applied, state: State) -> bool:
    """Whether what a client is given to run are files of the project's own, and nothing is read from elsewhere."""
    run = [found.word for found in applied.found if found.effect == "execute" and found.of == "path"]
    places = [text.out.place(word, state.cwd) for word in run if word is not None]
    return bool(places) and len(places) == len(run) and all(is_below(place, text.out.room) for place in places)


def _found(applied: Applied, words: Sequence[Word], found_by: search.Search) -> Sequence[Found]:
    """The effects of a command; what a search deletes is below where it starts, and nothing where that is empty."""
    if ("-delete", None) not in applied.flags:
        return applied.found
    roots = applied.operands or [Word(".")]
    kept = [found for found in applied.found if found.effect != "delete"]
    asked = [word.text for word in words]
    if "-empty" in asked[: asked.index("-delete")] and CHOICES.isdisjoint(asked):
        return [*kept, *(Found("write", root) for root in roots)]
    return [*kept, *(Found("delete", word) for word in search.below(roots, found_by.deleted))]


def _effect(
    text: "Text", found: Found, span: tuple[int | None, int | None], state: State, *, looks: bool, deep: bool
) -> list[Effect]:
    word = found.word
    if word is None:
        of = None if found.of == "path" else found.of
        return [text.out.add(found.effect, None, of, span=span, detail=found.detail)]
    if word.start is None:
        word = word._replace(start=span[0], end=span[1])
    if word.text.startswith("file://") and found.of in {"path", "url"}:
        return text.out.path("read", tail(word, len("file://")), state.cwd)
    is_code = found.effect == "execute" and word.text.startswith(("http://", "https://"))
    if is_code or (found.of == "path" and "://" in word.text and ADDRESS.match(word.text)):
        made = [text.out.add(found.effect, word.text, "url", span=(word.start, word.end), detail=found.detail)]
        return [*made, *_remote(text, found.effect, word)]
    if found.of == "path":
        return text.out.path(found.effect, word, state.cwd, found.detail, looks=looks, deep=deep)
    if found.of == "url" and found.effect == "fetch" and ODD.match(word.text):
        text.out.add("send", word.text, "url", span=_span(word), detail="a protocol that also sends")
    if found.of == "url" and found.effect in {"send", "delete"} and DAEMON.match(word.text):
        text.out.add("privilege", word.text, "url", span=_span(word), detail="runs the whole machine or cluster")
    detail = found.detail
    if found.of == "url" and found.effect == "delete" and (text.out.mark or trials.is_trial(word.text)):
        detail = TESTS
    return [text.out.add(found.effect, word.text, found.of, span=(word.start, word.end), detail=detail)]


def _shown(text: "Text", applied: Applied, state: State) -> None:
    """Files that git shows as they were: `HEAD:.env`, `-p -- .env`."""
    if applied.subcommand == "log" and PATCHES.isdisjoint(flag for flag, _ in applied.flags):
        return
    for word in applied.operands:
        name = tail(word, word.text.find(":") + 1)
        if is_secret(name.text):
            text.out.path("read", name, state.cwd)


def _remote(text: "Text", effect: Kind, word: Word) -> list[Effect]:
    """What follows from reading or running what lies at an address."""
    kinds: dict[Kind, tuple[Kind, ...]] = {"read": ("fetch",), "execute": ("fetch",), "install": ("fetch", "execute")}
    return [text.out.add(kind, word.text, "url", span=_span(word)) for kind in kinds.get(effect, ())]


def _settings(text: "Text", applied: Applied, kinds: Collection[Kind], state: State) -> None:
    """What a program is given to work with from elsewhere, by flags that say nothing of it, may be code."""
    for word in applied.settings:
        if SETTING.match(word.text):  # `-o log_file=/etc/x`
            word = tail(word, word.text.find("=") + 1)
        if ADDRESS.match(word.text) and "fetch" not in kinds and not REGISTRY.match(word.text):
            text.out.add("fetch", word.text, "url", span=_span(word))
            text.out.add("execute", word.text, "url", span=_span(word))
        elif word.text.startswith(OUTSIDE) and not word.text.startswith(SHARED):
            text.out.searched(word, state.cwd)


def _places(text: "Text", applied: Applied, words: Sequence[Word], state: State) -> None:
    """What a command that changes something is told of by flags and variables: elsewhere, or emptied here."""
    out = text.out
    places = [*told(applied, words, state.given)]
    if applied.cwd is not None:
        places.append((applied.cwd, False))
    for word, is_output in places:
        if word.loose or not word.text or "://" in word.text:
            continue
        is_far = (word.text + "/").startswith(OUTSIDE) and not (word.text + "/").startswith(ELSEWHERE)
        place = out.place(word, state.cwd)
        is_said = any(
            effect.object == place and effect.of == "path" and effect.effect in SAID for effect in out.effects
        )
        if is_far and not is_said and not is_below(place, out.room):
            out.path("write", word, state.cwd, "told by a flag or variable")
        is_own = applied.program in CLEANERS or is_called_output(word.text)
        if is_output and word.exact and not is_own and empties(applied, words):
            out.path("delete", word, state.cwd)


def _run(
    text: "Text", applied: Applied, command: list[Word], state: State, given: Given | None, names: search.Names
) -> None:
    """A command that a program runs; what it puts in place of {} or behind it comes from its input."""
    if (
        applied.program.startswith(("python", "pypy"))
        and _is_module(command[0])
        and command[0].text not in text.out.programs
    ):
        text.out.add("execute", command[0].text, "program", span=_span(command[0]))
        return
    if applied.feeds == "input":
        roots = given.roots if given is not None else ()
        fed = list(roots) or [INPUT]
        marker = next((value.text for flag, value in applied.flags if flag in {"-I", "--replace"} and value), None)
        text.out.compound = True
        command = _filled(command, marker or "{}", fed) if marker or applied.marks else [*command, *fed]
        given = None
    elif applied.feeds == "roots":
        roots = tuple(applied.operands) or (Word(".", *_span(command[0])),)
        text.out.compound = True
        command = _filled(command, "{}", search.below(roots, names))
    if applied.joins:
        code.read(text, "shell", _joined(command), state, given)
    elif applied.runs_modules and command[0].exact and command[0].text not in text.out.programs:
        text.out.add("execute", command[0].text, "name", span=_span(command[0]))  # a module of the project's own
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


def _span(word: Word) -> tuple[int | None, int | None]:
    return word.start, word.end


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


def _joined(command: Sequence[Word]) -> Word:
    if len(command) == 1:
        return command[0]
    text = " ".join(word.text for word in command)
    return Word(text, command[0].start, command[-1].end, exact=all(word.exact for word in command))


def _from_input(
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
    _made_script(text, file, language, state)
    if not language.startswith("sql"):
        _named_script(text, file, (), state)
    elif (
        language != "sql:memory"
        and place not in text.out.made
        and not (text.out.mark and is_below(place, text.out.room))
    ):
        text.out.add("unknown", span=_span(file), detail="code from its input")


def _is_of_files(word: Word) -> bool:
    """Whether a word finds files by their endings, which `ls` prints as they are found: `*.bak`, `out/*.log`."""
    return FILES.search(word.text) is not None and not word.loose


def _echo_out(done: Done) -> Given | None:
    said = [word for word in done.words if word.text != "-n"]
    if not all(word.exact for word in done.words) or any(
        word.text.startswith("-") or "\\" in word.text for word in said
    ):
        return None
    joined = _joined(said) if said else Word("")
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


def _output(done: Done, found_by: search.Search | None) -> tuple[Word | None, tuple[Word, ...]]:
    """What a command prints, as far as it is known, and the paths that it names."""
    applied, given = done.applied, done.given
    prints = PRINTS.get(applied.program)
    if prints is not None and (said := prints(done)) is not None:
        return said.text, said.roots
    if applied.lists is not None:
        return None, tuple(search.below(applied.lists, found_by.printed if found_by is not None else None))
    return None, given.roots if applied.passes and given is not None else ()


# What is special to a program, once its effects are put down


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
            text.doubt("a makefile that is made at run time", _span(word))
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


# The shell's own commands

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
        word = _joined(words)
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
        _from_input(text, "shell", (file.start, file.end), state, given)
    else:
        text.out.path("execute", file, state.cwd)
        _made_script(text, file, "shell", state)
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
    return _apply(text, Applied(program, operands=list(words)), name, words, state, given)


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
