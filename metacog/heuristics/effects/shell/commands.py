"""One simple command: the shell's own ones, and those of the table."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from .. import trials
from ..effect import TESTS, Effect, Kind, new
from ..paths import GLOB, is_below, is_secret, normal
from ..programs import Applied, Found, Word, empties, is_about_data, is_called_output, tail, told, whose
from . import own, owned, sessions, variables
from .out import OUTSIDE, SHARED, Span
from .running import LOOKS, go_on, is_by_path, made_script, named_script
from .single import COPIES, SPECIAL, Done, output_of, span_of
from .state import Given, State
from .texts import search

if TYPE_CHECKING:
    from .walk import Text


SYSTEM = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"})
ADDRESS = re.compile(r"(?!file:)[a-z][a-z0-9+.-]{1,15}://")
SETTING = re.compile(r"[\w.-]+=(?=~?/|\.\./)")
ODD = re.compile(
    r"(?:gopher|dict|telnet|tftp|smbs?|ldaps?|smtps?|imaps?|pop3s?|mqtts?|rtmp\w*|rtsp|wss?|udp|tcp)://", re.IGNORECASE
)
REGISTRY = re.compile(  # where packages usually come from
    r"https://(?:pypi\.org|files\.pythonhosted\.org|download\.pytorch\.org|registry\.(?:npmjs\.org|yarnpkg\.com)"
    r"|rubygems\.org|(?:index\.|static\.)?crates\.io|proxy\.golang\.org|repo\.maven\.apache\.org|repo1\.maven\.org)(?:/|$)"
)
VERSIONED = re.compile(r"(python|pip|perl|ruby|php|lua|gcc|g\+\+|clang|clang\+\+|node|pytest|java|bash|zsh)-?\d[\d.]*")
SAID = frozenset({"write", "execute", "delete"})
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
KEEPS = frozenset({"chmod", "chown", "chgrp", "touch"})  # what is in a file
DAEMON = re.compile(  # Docker's, the kubelet's and kubectl proxy's ports
    r"(?:\w+://)?(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1\]):(?:237[56]|10250|8001/apis?)(?:/|$)"
)
RUN_NAME = re.compile(r"\w\[[^\]]*(?:\$\(|`)")  # a[$(…)]: where a name is asked for, bash runs what is in it


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
    if (builtin := own.OWN.get(name.text)) is not None:
        return builtin(text, name, words, state, given)
    called = _program(text, name, state)
    if "/" in name.text:
        named_script(text, name, words, state)
    if called is None:
        return None
    applied = text.out.programs.apply(called, words)
    if applied is None:
        _strange(text, name, "an unknown program", called)
        return None
    return apply(text, applied, name, words, state, given)


def _strange(text: "Text", name: Word, why: str, program: str | None) -> None:
    span = (name.start, name.end)
    text.out.add("execute", program, "program" if program else None, span=span)
    text.out.add("unknown", program, "program" if program else None, span=span, detail=why)


def _program(text: "Text", name: Word, state: State) -> str | None:
    """The name in the table; a program of the project's own is code at hand, whatever it is called."""
    if name.text.startswith("@"):  # a package of somebody's own, as npx runs it
        return name.text
    if "://" in name.text and ADDRESS.match(name.text):
        text.out.add("execute", name.text, "url", span=span_of(name))
        _remote(text, "execute", name)
        return None
    directory, slash, base = name.text.rpartition("/")
    if base not in text.out.programs and (versioned := VERSIONED.fullmatch(base)):
        base = versioned[1]
    if not slash or directory in SYSTEM:
        return base
    text.out.path("execute", name, state.cwd)
    made_script(text, name, "", state)
    if base.startswith(("ld-linux", "ld.so", "ld-musl")):
        text.doubt("a loader of programs", (name.start, name.end))
    return base if is_by_path(text, directory, base) else None


def apply(
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
        go_on(done, found_by)
    out.mark, out.theirs = was_marked, was_theirs
    if rule is not None and rule.makes:
        owned.remember(text, applied, state, rule)
    elif program in MOVES:  # something else may be in what was made
        state.made = frozenset()
    said, roots = output_of(done, found_by)
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


def _hunts(text: "Text", applied: Applied, names: Sequence[str], state: State) -> None:
    """Put down that a search outside of the workspace is for files that hold secrets."""
    for word in search.below(applied.operands, tuple(name for name in names if is_secret(name))):
        place = text.out.place(word, state.cwd)
        if word.text[-1:] != "*" and not is_below(place, text.out.room):
            text.out.add("secret", place, "path", inside=False, span=span_of(word))


def _reads_names(applied: Applied) -> bool:
    """Whether a command packs the files whose names it gets as its input: `cpio -o`, `tar -T -`, `zip -@`."""
    return applied.program in {"cpio", "pax"} or any(
        flag == "-@" or (flag in LISTS and value is not None and value.text == "-") for flag, value in applied.flags
    )


def _told(text: "Text", applied: Applied, state: State) -> State:
    """What the shell knows where a command runs that is told of variables, or of none before it."""
    told = owned.told(applied)
    starts_anew = owned.starts_anew(applied)
    for word in told:
        label = word.text.partition("=")[0]
        if variables.switches_off(label, tail(word, len(label) + 1)):
            text.doubt(f"sets {label}", span_of(word))
    if not (applied.assigned or told or starts_anew):
        return state
    inner = state.copy()
    inner.given = {} if starts_anew else inner.given
    inner.given = {**inner.given, **{word.text.partition("=")[0]: tail(word, word.text.find("=") + 1) for word in told}}
    return inner


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
        text.out.add("send", word.text, "url", span=span_of(word), detail="a protocol that also sends")
    if found.of == "url" and found.effect in {"send", "delete"} and DAEMON.match(word.text):
        text.out.add("privilege", word.text, "url", span=span_of(word), detail="runs the whole machine or cluster")
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
    return [text.out.add(kind, word.text, "url", span=span_of(word)) for kind in kinds.get(effect, ())]


def _settings(text: "Text", applied: Applied, kinds: Collection[Kind], state: State) -> None:
    """What a program is given to work with from elsewhere, by flags that say nothing of it, may be code."""
    for word in applied.settings:
        if SETTING.match(word.text):  # `-o log_file=/etc/x`
            word = tail(word, word.text.find("=") + 1)
        if ADDRESS.match(word.text) and "fetch" not in kinds and not REGISTRY.match(word.text):
            text.out.add("fetch", word.text, "url", span=span_of(word))
            text.out.add("execute", word.text, "url", span=span_of(word))
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
