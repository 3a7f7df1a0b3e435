"""Where a command is told to work: folders and files that flags (`--prefix x`) and variables (`UV_CACHE_DIR`) name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from .words import Applied, Word, tail

PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
OF_WORK = frozenset(["dir", "directory", "prefix", "project", "root", "manifest", "path", "tree", "userconfig"])
OF_OUTPUT = frozenset(
    [
        "cache",
        "out",
        "output",
        "outdir",
        "outfile",
        "target",
        "build",
        "builddir",
        "base",
        "dist",
        "distpath",
        "workdir",
        "work",
        "scratch",
        "report",
        "reports",
        "site",
        "html",
        "temp",
        "screenshots",
        "derived",
        "folder",
        "destination",
        "envdir",
    ]
)
VALUE = re.compile(r"(-[DP][\w.]*|--?[A-Za-z][\w.-]*|[A-Za-z][\w.-]*|html)[=:](?=.)")
VARIABLE = re.compile(r"\w+_(?:DIR|DIRECTORY|FOLDER|CACHE|PATH|FILE|HOME)")
REMADE = re.compile("CACHE|TARGET|BUILD|DEPS|DIST|OUT|WORK|BROWSERS|BASE|HOME|DENO|COVERAGE")  # in a variable's name
CLEANS = frozenset(["clean", "cleaned", "clear", "prune", "reset", "rm", "uninstall", "wipe", "erase", "empty"])
EMPTIES = frozenset(  # their output's folder before they fill it
    [
        "playwright",
        "vitest",
        "typedoc",
        "storybook",
        "ng",
        "mkdocs",
        "nyc",
        "docusaurus",
        "vitepress",
        "astro",
        "cypress",
        "pyinstaller",
        "tox",
    ]
)
BUILDS = EMPTIES | frozenset(
    ["rollup", "jsdoc", "hugo", "jekyll", "tsup", "tsc", "ninja", "vite", "webpack", "parcel", "unsquashfs"]
)
MADE = frozenset(
    [
        "out",
        "output",
        "outputs",
        "dist",
        "build",
        "built",
        "coverage",
        "report",
        "reports",
        "results",
        "cache",
        "target",
        "tmp",
        "temp",
        "site",
    ]
)
MOST_KEPT = 100  # letters of a flag that is remembered
TASKS = frozenset({"--target", "--build"})  # what cmake and bazel call by a name
SHORT = frozenset({"-C", "-d", "-o", "-p"})  # of these


def told(applied: Applied, words: Sequence[Word], given: Mapping[str, Word | None]) -> Iterator[tuple[Word, bool]]:
    """The places that flags and variables name, and whether each is one of an output."""
    for at, one in enumerate(words):
        text = one.text
        found = VALUE.match(text) if "=" in text or ":" in text else None
        if found is not None and "://" not in text:
            name, value = re.sub("^-[DP](?=.)", "", found[1]), tail(one, found.end())
            if value.text.startswith("html:"):
                value = tail(value, len("html:"))
        elif text[:1] == "-" and at + 1 < len(words) and words[at + 1].text[:1] != "-":
            name, value = text, words[at + 1]
        else:
            continue
        is_short = applied.program in BUILDS and name in SHORT
        is_told, is_output = _names_place(name) if len(name) <= MOST_KEPT else _names_place.__wrapped__(name)
        if is_short or is_told:
            yield value, is_short or is_output
    for name, variable in given.items():
        if variable is not None and (VARIABLE.fullmatch(name) or name == "PUB_CACHE"):
            yield variable, REMADE.search(name) is not None


@lru_cache(maxsize=1024)
def _names_place(flag: str) -> tuple[bool, bool]:
    """Whether a flag's name is that of a place, and of one of an output."""
    words = _words(flag)
    return flag not in TASKS and not words.isdisjoint(OF_WORK | OF_OUTPUT), not words.isdisjoint(OF_OUTPUT)


def empties(applied: Applied, words: Sequence[Word]) -> bool:
    """Whether a command empties what it is told of: a cache that it cleans, an output that it makes anew."""
    said = [
        applied.subcommand,
        *(word.text for word in words if word.text[:1] == "-" or word.text.replace("-", "").isalpha()),
    ]
    return applied.program in EMPTIES or any(not CLEANS.isdisjoint(_words(one)) for one in said)


def is_called_output(path: str) -> bool:
    """Whether a folder's own name says that it holds what a build makes: `build-prod`, `.storybook-out`."""
    return not _words(path.rstrip("/").rpartition("/")[2]).isdisjoint(MADE)


def _words(name: str) -> set[str]:
    return {word.lower() for word in PART.findall(name)}
