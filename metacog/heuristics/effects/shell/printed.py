"""What commands print, where that is known well enough to go on with it."""

import re

from ..programs import Word
from .state import NUMBER, State

MOST_LETTERS = 300  # of a command
MKTEMP = re.compile(
    r"mktemp(?P<flags>(?: -[dqut]+| --(?:directory|quiet|dry-run)| --suffix[= ]?[\w.-]+"
    r"|(?: -p ?| --tmpdir=)(?:/tmp|/var/tmp|\"?\$\{?TMPDIR(?::-/tmp)?\}?\"?)/?| --tmpdir)*)(?: (?P<quote>[\"']?)"
    r"(?P<template>(?:/tmp/|/var/tmp/|\$\{?TMPDIR(?::-/tmp)?\}?/)?(?!\.\.)[\w][\w./-]*X{3,}[\w.-]*)(?P=quote))?"
)
QUOTED = r"(?:'[^'$`]*'|\"[^\"$`]*\"|[\w./-]+)"
NARROWED = (  # what `git log` is about
    rf"(?: -\d+| -n ?\d+| -i| --(?:grep|author|since|until)={QUOTED}| -S ?{QUOTED}| --all| --reverse| --no-merges)*"
)
ONE_WORD = re.compile(
    r"nproc|whoami|hostname|uname(?: -[a-z])?|id -[ung]+|date(?: -u)?(?: \+[%\w][\w%:.-]*)?"
    r"|git rev-parse (?:--short(?:=\d+)? |--verify )?(?:--show-toplevel|--abbrev-ref HEAD|[\w@][\w/.^~-]*)"
    r"|git branch --show-current"
    r"|git merge-base [\w/.-]+ [\w/.-]+|git describe(?: --(?:tags|always|abbrev=\d+))*"
    rf"|git log{NARROWED} --(?:format|pretty)=['\"]?%[hH]['\"]?{NARROWED}(?: -- [\w./-]+)?"
)
FIND = re.compile(r"find ([\w./][\w./-]*)(?: -type [fd])? -name ['\"]?([\w*?.][\w*?.-]*)['\"]?(?: -type [fd])?")
LISTED = re.compile(r"ls (?:-1 ?)?(?:-d1? )([\w./-]*\*[\w./*-]*)|ls (?:-1 )?([\w./-]*\*\.[A-Za-z]\w{0,5})")
CACHES = re.compile(
    r"go env GOCACHE|npm config get cache|pip3? cache dir|yarn cache dir|uv cache dir|poetry config cache-dir"
)
TREE = re.compile(  # prints names of files below the working directory
    r"(?:git (?:grep (?:-\w+ )*-\w*l\w*|ls-files|diff (?:--cached |--staged |HEAD )?--name-only)|rg (?:-\w+ )*-\w*l\w*"
    r"|grep (?:-\w+ )*-(?:\w*[rR]\w*l|\w*l\w*[rR])\w*)(?: ([^;|&<>$`\n]*))?"
    r"(?: ?\| ?(?:head|tail|sort|uniq)(?: -\w+)*(?: \d+)?)*"
)
LEADS_OUT = re.compile(r"(?:^|[\s'\"=])(?:/|~|\.\./|\.\.(?:$|\s))")
PROCESS = re.compile(
    r"lsof (?:-t ?-?i|-i ?-t) ?(?:tcp)?:(?:3[0-2]\d\d|4\d{3}|50\d\d|517\d|[89]\d{3})"
    r"|cat (?!/(?!tmp/)|[\w./-]*\.\.)[\w./-]*\.pid|<\s?(?!/(?!tmp/)|[\w./-]*\.\.)[\w./-]*\.pid|jobs -p"
)
SETS_UP = re.compile(  # a shell, by what a program of that purpose prints
    r"\$\((?:ssh-agent(?: -[sck])*|direnv (?:hook \w+|export \w+)"
    r"|(?:py|rb|nod|go|j|php|pl)env (?:init|virtualenv-init)(?: -(?: \w+)?)?"
    r"|(?:/(?:opt/homebrew|usr/local|home/linuxbrew/\.linuxbrew)/bin/)?brew shellenv|(?:starship|zoxide|atuin) init \w+"
    r"|mise (?:activate|env)(?: -s)?(?: \w+)?|fnm env(?: --[\w-]+)*|opam (?:config )?env(?: --[\w=-]+)*|luarocks path"
    r"|conda shell\.\w+ hook|micromamba shell hook(?: -s \w+)?|minikube (?:-p [\w-]+ )?docker-env|dircolors(?: -\w)?)\)"
)
SAID = re.compile(r"(?:echo|printf) ([\w./-]+)")


def printed(source: str, state: State) -> Word | None:
    """What a command prints where that is known well enough: one word, and no flag."""
    if len(source) > MOST_LETTERS or _is_given(source, state):
        return None
    if source == "pwd":
        return Word(state.cwd or ".", exact=False)
    said = SAID.fullmatch(source)
    if said is not None:
        return Word(said[1], exact=False, loose=said[1].startswith("-"))
    if PROCESS.fullmatch(source) is not None:
        return Word(NUMBER, exact=False)
    found = FIND.fullmatch(source)
    if found is not None:
        return Word(f"{found[1].rstrip('/')}/**/{found[2]}", exact=False)
    tree = TREE.fullmatch(source)
    if tree is not None and not LEADS_OUT.search(tree[1] or ""):
        return Word("./**", exact=False)
    if (listed := LISTED.fullmatch(source)) is not None and not LEADS_OUT.search(
        (listed[1] or listed[2]).removeprefix("/tmp/")
    ):
        return Word(listed[1] or listed[2], exact=False)
    if CACHES.fullmatch(source) is not None:
        return Word("~/.cache/tool", exact=False)
    if (temporary := MKTEMP.fullmatch(source)) is not None:
        return _temporary(temporary)
    if ONE_WORD.fullmatch(source) is None:
        return None
    return Word(f"$({source})", exact=False)


def _temporary(found: "re.Match[str]") -> Word | None:
    """The name that `mktemp` makes up: below /tmp, or where its template says."""
    name, flags = found["template"] or "", found["flags"]
    if name.startswith("/") and ".." not in name.split("/"):
        return Word(name, exact=False)
    is_below_tmp = not name or "-t" in flags or "-p" in flags or name.startswith("$")
    if ".." in name.split("/"):
        return None
    return Word(f"/tmp/{name.rpartition('/')[2] or 'tmp.XXXXXXXXXX'}" if is_below_tmp else name, exact=False)


def sets_up(code: str, state: State) -> bool:
    """Whether what `eval` gets is what a well known program prints to set a shell up."""
    return SETS_UP.fullmatch(code) is not None and not _is_given(code[2:], state)


def _is_given(source: str, state: State) -> bool:
    """Whether the text itself says what the command is."""
    name = source.partition(" ")[0]
    return name in state.functions or name in state.aliases
