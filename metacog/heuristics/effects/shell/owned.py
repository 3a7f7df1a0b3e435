"""Whose the things are that a command changes: a test's own, made by the same text, or somebody's."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .. import trials
from ..effect import KEPT, MADE, TESTS
from ..paths import is_below
from ..programs import Applied, Found, Whose, Word, of_place, tail, whose
from .state import State
from .texts import scripts

if TYPE_CHECKING:
    from .walk import Text

CHANGES = frozenset({"write", "delete", "irreversible"})
REMOVES = CHANGES - {"write"}
TRUNKS = frozenset({"main", "master", "trunk", "develop"})
MATTERS = CHANGES | {"unknown"}
DEEP = frozenset({"-r", "-R", "--recursive"})
VARIABLE = re.compile(r"[A-Za-z_]\w*=")
UNSURE = ("-f", "--f", "--work", "--git-dir")  # of git rm: what differs goes, too, or it is about other files
PART = re.compile(r"(?!-)[\w./@ +-]*\w[\w./@ +-]*")  # of a project, by its name
DATABASE = re.compile(r"\w\.(?:db|sqlite3?)(?:-(?:wal|shm|journal))?$")  # how the file of one ends
INTO = frozenset({"-t", "--target-directory"})
CLEARING = re.compile(r"(?:[\w.:-]*[:-])?(?:clean|clear|reset|prune|purge|distclean|mrproper)")
FOLDER = re.compile(
    r"(?:\w*_)?(?:BUILD|OUTPUT|OUT|DIST|TARGET|CACHE|OBJ)_?(?:DIR|DIRECTORY|FOLDER|PATH)?|O"
)  # of a build
TELLS = frozenset({"-e", "--env"})
OTHER = re.compile(r"\buse\s*\(|^\s*use\s|getSiblingDB|\bMongo\s*\(|\bconnect\s*\(")  # database
GIVEN = re.compile(r"([A-Z_]+)=(.*)")


def mark(text: "Text", applied: Applied, state: State, rule: Whose | None) -> str:
    """What there is to say of everything that a command works on."""
    goes_on = applied.code or applied.stdin or applied.runs
    if text.out.live or not (goes_on or any(found.effect in MATTERS for found in applied.found)):
        return ""
    if rule is None:  # in a test's container, whatever is no way out of it
        return "" if applied.elsewhere or applied.remote else text.out.mark
    if text.out.theirs or not _is_here(rule, applied, state) or (applied.runs and _names_more(applied)):
        text.out.theirs |= bool(applied.runs)
        return ""
    if applied.subcommand in rule.makes and not goes_on and not any(one.effect in REMOVES for one in applied.found):
        return MADE
    if any(language == "mongo" and OTHER.search(word.text) for language, word in applied.code):
        return ""
    within = list(_values(rule.within.get(applied.subcommand, rule.within.get("*", "")).split("|"), applied, state))
    if any(word is not None and trials.is_elsewhere(word.text) for word in within):
        return ""
    is_trial = bool(within) and all(
        word is not None and (word.text in rule.trials or _is_trial(text, word)) for word in within
    )
    is_trial |= applied.subcommand in rule.nature or (rule.names and _are_trials(applied))
    sql = [word.text for language, word in applied.code if language.startswith("sql") and word.exact]
    is_trial = (is_trial and not _names_more(applied)) or bool(sql and all(map(trials.is_about_trials, sql)))
    return TESTS if is_trial else text.out.mark


def _names_more(applied: Applied) -> bool:
    """Whether a command is told of something that people work with, too: `db:drop:all`, `--database=production`."""
    code = [word for _, word in applied.code]
    told = [*applied.operands, *(value for _, value in applied.flags if value is not None and value not in code)]
    names = [applied.subcommand, *(word.text for word in told)]
    return "all" in applied.subcommand.split(":") or any(map(trials.is_shared, names))


def _is_trial(text: "Text", word: Word) -> bool:
    is_known = (word.exact or word.text.startswith("/tmp/")) and not text.out.links
    return is_known and trials.is_trial(word.text, text.out.workspace)


def _are_trials(applied: Applied) -> bool:
    """Whether all that a command changes by its name is a test's own."""
    changed = [found.word for found in applied.found if found.effect in CHANGES and found.word is not None]
    return bool(changed) and all(word.exact and trials.is_of_tests(word.text) for word in changed)


def _is_here(rule: Whose, applied: Applied, state: State) -> bool:
    """Whether a command works on the machine itself, as far as its flags and variables say."""
    given = [value for place in rule.machine for value in _values([place], applied, state)]
    return all(word is not None and word.exact and trials.is_here(word.text) for word in given) and (
        bool(given) or not rule.needs
    )


def _values(places: Sequence[str], applied: Applied, state: State) -> Iterator[Word | None]:
    """What stands at the first of these places that has something; None where only a run tells."""
    for place in places:
        found: list[Word | None] = []
        if place.startswith("$"):
            told = [match for word in applied.operands if (match := GIVEN.fullmatch(word.text))]
            found += [Word(match[2]) for match in told if match[1] == place[1:]]
            if place[1:] in state.given:
                found.append(None if state.blind else state.given[place[1:]])
        elif place:
            found += of_place(place, applied)
        if found:
            yield from found
            return


def told(applied: Applied) -> list[Word]:
    """The variables that a command sets for what it runs: `docker run -e X=y`, `make X=y`."""
    values = [value for flag, value in applied.flags if flag in TELLS and value is not None]
    return [word for word in (*applied.assigned, *values, *applied.operands) if VARIABLE.match(word.text)]


def starts_anew(applied: Applied) -> bool:
    """Whether what a command runs knows nothing of the variables before it: in a container, by `env -i`."""
    if applied.program == "env":
        return bool(applied.flags)
    return applied.wraps and whose(applied.program) is not None


def marked(text: "Text", applied: Applied, state: State) -> list[Found]:
    """The effects of a command, with those that only the whole text or a script tells.

    What it removes and the text itself has made before has a mark.
    """
    if applied.code and _clears(applied):
        written = [found for found in applied.found if found.effect == "write"]
        return [*applied.found, *(found._replace(effect="delete") for found in written)]
    if applied.program == "git" and applied.subcommand == "rm":
        return [_by_git(text, applied, found, state) for found in applied.found]
    gone = [found.word for found in applied.found if found.effect == "delete"]
    if not gone or text.out.theirs:
        return applied.found
    rule = whose(applied.program)
    if not (rule is None or _is_here(rule, applied, state)):
        return applied.found
    made = {word for word in gone if word is not None and _is_made(text, applied, word, state)}
    is_all = len(made) == len(set(gone))
    return [
        found._replace(detail=MADE)
        if found.word in made or (is_all and found.effect == "irreversible" and found.word is None)
        else found._replace(detail=TESTS)
        if found.effect == "delete" and _is_database_of_tests(text, applied, found.word, state)
        else found
        for found in applied.found
    ]


def _is_database_of_tests(text: "Text", applied: Applied, word: Word | None, state: State) -> bool:
    """Whether `rm` is given the file of a test's database, which the text has not put there itself."""
    out = text.out
    if applied.program != "rm" or word is None or not word.exact or out.box or out.remote or out.moved or out.links:
        return False
    place = out.place(word, state.cwd)
    is_there = place not in out.written and is_below(place, out.room)
    is_there &= not any(starts_anew(one) for one, _ in out.applied)
    return is_there and DATABASE.search(place) is not None and trials.is_trial(place, out.workspace)


def _by_git(text: "Text", applied: Applied, found: Found, state: State) -> Found:
    """What `git rm` removes: of a part of the project, by its name, nothing that differs from the last commit."""
    word = found.word
    if found.effect != "delete" or word is None:
        return found
    if word.text.startswith(":"):  # everything, but for what is behind it
        return found._replace(word=word._replace(text="."))
    is_part = word.exact and PART.fullmatch(word.text) and text.out.place(word, state.cwd) not in text.out.room
    is_kept = is_part and not any(flag.startswith(UNSURE) for flag, _ in applied.flags)
    return found._replace(detail=KEPT) if is_kept else found


def moved(text: "Text", applied: Applied, state: State) -> None:
    """Take note of what `mv` puts where, and of what a container takes with it when it ends."""
    given = [value for flag, value in applied.flags if flag in INTO and value is not None]
    to, sources = (given[-1], applied.operands) if given else (applied.operands[-1], applied.operands[:-1])
    place = text.out.place(to, state.cwd)
    if text.out.box is not None:
        for source in sources if not text.out.box.hosts(place) else ():
            text.out.path("delete", source, state.cwd, "moved into a container")
        return
    for source in sources:
        origin = text.out.place(source, state.cwd)
        own = origin in text.out.written or origin in text.out.made
        origins = text.out.moved.get(origin) or ([] if own else [origin])
        for name in (place, f"{place.rstrip('/')}/{origin.rpartition('/')[2]}"):
            text.out.moved.setdefault(name, []).extend(origins)


def cleared(text: "Text", applied: Applied, state: State) -> None:
    """Put down folders that `make clean` empties where it is told that the build is there: `make BUILD_DIR=/ clean`."""
    if not any(CLEARING.fullmatch(word.text) for word in applied.operands):
        return
    if text.out.moved:
        text.doubt("clears what was moved there", (None, None))
    given = [(name, word) for name, word in state.given.items() if word is not None]
    given += [
        (word.text[: found.end() - 1], tail(word, found.end()))
        for word in applied.operands
        if (found := VARIABLE.match(word.text))
    ]
    for name, value in given:
        if FOLDER.fullmatch(name) and value.text:
            text.out.path("delete", value, state.cwd)


def _clears(applied: Applied) -> bool:
    flags = {flag for flag, _ in applied.flags}
    return scripts.clears(applied.program, flags, [word.text for _, word in applied.code])


def _is_made(text: "Text", applied: Applied, word: Word, state: State) -> bool:
    place = text.out.place(word, state.cwd)
    if {(applied.program, word.text), (applied.program, place)} & text.out.cheap:
        return word.text not in TRUNKS and not trials.is_shared(word.text) and "volume" not in applied.subcommand
    if applied.program in {"dropdb", "dropuser"}:
        return f"database {word.text}" in state.made
    if applied.program not in {"rm", "rmdir"} or not place.startswith(("/", ".", "$")) or text.out.box is not None:
        return False
    if word.text.endswith("/") and place in text.out.links:
        return False
    if any(place == one or place.startswith(f"{one}/") for one in state.made):
        return ".." not in place.split("/")
    return not any(flag in DEEP for flag, _ in applied.flags) and place in text.out.written


def remember(text: "Text", applied: Applied, state: State, rule: Whose) -> None:
    """Take note of what a command makes that was not there before.

    Where that is sure only if it succeeds, what follows by && knows of it; a container, a branch or a worktree, whose
    name the text itself has chosen, counts for the same program from there on.
    """
    place = rule.makes.get(applied.subcommand)
    if place is None or any(flag in rule.unless for flag, _ in applied.flags) or not _is_here(rule, applied, state):
        return
    words = [word for word in _values(place.split("|"), applied, state) if word is not None and not word.loose]
    places = {text.out.place(word, state.cwd) for word in words}
    if not rule.sure:
        text.out.cheap |= {(applied.program, name) for name in {*places, *(word.text for word in words)}}
    elif applied.program.startswith("create"):
        state.made |= {f"database {word.text}" for word in words}
    else:
        state.made |= places
