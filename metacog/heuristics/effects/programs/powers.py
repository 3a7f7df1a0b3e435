"""What words say that no row knows: the name of a flag (`--push`), and that of a task (`make deploy`)."""

import re
from collections.abc import Sequence
from functools import lru_cache

from ..effect import Kind
from .flags import Flag, Place, flag_of

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PUBLISHES = frozenset(
    ["deploy", "redeploy", "publish", "pypi", "upload", "push", "ship", "promote", "rollout", "announce"]
)
ENDS = frozenset(["destroy", "drop", "nuke", "purge", "rollback", "teardown", "truncate", "undeploy", "wipe"])
DELETES = ENDS | {"delete", "erase", "remove", "unlink"}
CUTS = frozenset(["create", "cut", "do", "draft", "make", "semantic"])  # a release
DATA = frozenset(["accounts", "customers", "database", "db", "orders", "records", "schema", "tables", "users"])
PAYS = frozenset(["charge", "payout", "refund"])
REMAKES = ENDS | {"delete", "recreate", "remove", "reset"}  # of DATA
HOSTS = frozenset(["cdk", "helm", "infra", "k", "kube", "pulumi", "stack", "terraform", "tf"])
LIVE = frozenset(["live", "prod", "production"])
BUILDS = frozenset(
    ["analyze", "build", "bundle", "compile", "deps", "dist", "image", "install", "lint", "pack", "preview", "run"]
) | {"serve", "start", "watch", "webpack"}  # for production, but here
RUNS = frozenset(["cmd", "command", "editor", "eval", "exec", "execute", "hook", "pager", "preprocessor", "program"])
SENDS = frozenset(["email", "mail", "notify", "post", "send", "webhook"])
SHOWS = frozenset(["expose", "public", "share", "tunnel"])
WRITES = frozenset(["dest", "destination", "dump", "export", "out", "outdir", "outfile", "output", "report", "save"])
CHANGES = frozenset(["autocorrect", "fix", "inplace", "overwrite", "write"])
LISTENS = frozenset(["address", "bind", "host", "hostname", "interface", "ip", "listen"])
NEGATIONS = frozenset(["allow", "exclude", "ignore", "no", "skip", "without"])  # as the first word of a flag

KEEPS = DATA | {"console", "loaddata", "migrate", "migration", "migrations", "runner", "seed", "upgrade"}
SAYS = frozenset(["broadcast", "email", "mail", "notify", "send"])  # as the first of several words
CALM = frozenset(["build", "check", "compile", "dry", "lint", "list", "serve", "show", "start", "validate", "verify"])
TRIES = frozenset(["--check", "--dry-run", "--dryrun", "--help", "--noop", "--plan", "--version", "-h", "-n"])
LOCAL = frozenset(
    ["changelog", "check", "example", "lint", "local", "notes", "spec", "test", "tests"]
)  # of a task: what it does stays here

RUNNING = flag_of({"execute": None, "unknown": None})
PUBLISHING = flag_of({"publish": None})
WRITING = Flag((Place("write", "value", False),), objects="path")
LISTENING = flag_of({"by": {"0.0.0.0*|*://0.0.0.0*|::|[[]::]*|[*]": {"publish": None}, "*": 1}})
POWERS = [
    (RUNS, RUNNING),
    (PUBLISHES | SHOWS, PUBLISHING),
    (SENDS, flag_of({"send": None})),
    (WRITES, WRITING),
    (CHANGES, flag_of({"write": None})),
    (LISTENS, LISTENING),
]


@lru_cache(maxsize=1024)
def power_of(flag: str) -> Flag | None:
    """What the name of a flag says that it does; None where it says no harm."""
    words = _words(flag)
    if not words or words[0] in NEGATIONS:
        return None
    if words[0] in DELETES:  # `--delete`, not `--on-delete`
        return flag_of({"delete": None})
    return next((power for names, power in POWERS if not names.isdisjoint(words)), None)


@lru_cache(maxsize=1024)
def effect_of(task: str) -> Kind | None:
    """What the name of a task says that it does to what others have: `deploy`, `db:drop`, `//:push_image`."""
    name = task.rpartition("/")[2] if task.startswith("//") else task
    words = _words(name)
    if "/" in name or "." in name or not LOCAL.isdisjoint(words):
        return None
    first = {part for part in map(_first, name.split(":")) if part}
    is_release = "release" in first or (words[-1:] == ["release"] and words[0] in CUTS)
    if is_release or not PUBLISHES.isdisjoint(words) or _is_live(words):
        return "publish"
    if not PAYS.isdisjoint(first):
        return "pay"
    is_gone = not ENDS.isdisjoint(first) or not (DATA.isdisjoint(words) or REMAKES.isdisjoint(words))
    says = len(words) > 1 and (not SAYS.isdisjoint(first) or "send" in words)
    return "delete" if is_gone else "send" if says else None


def _is_live(words: Sequence[str]) -> bool:
    """Whether a task is about what runs for everybody: `tf-apply`, `restart-prod`, but not `build:prod`."""
    if "apply" in words and (len(words) == 1 or not HOSTS.isdisjoint(words)):
        return True
    return len(words) > 1 and not LIVE.isdisjoint(words) and BUILDS.isdisjoint(words)


@lru_cache(maxsize=1024)
def effect_of_script(path: str, *words: str) -> Kind | None:
    """What the name of a script, and what it is told, says that it does to what others have: `./deploy.sh prod`."""
    if not TRIES.isdisjoint(words):
        return None
    folders, _, base = path.rpartition("/")
    named = _words(base.partition(".")[0])
    if not named or named[0] in CALM or not LOCAL.isdisjoint([*named, *_words(folders)]):
        return None
    first = named[0]
    told = {*named, *(word.lstrip("-").rpartition("=")[2].lower() for word in words)}
    is_live = not LIVE.isdisjoint(told) and BUILDS.isdisjoint(named)
    if "release" in (first, named[-1]) or first in PUBLISHES or is_live:
        return "publish"
    if len(named) > 1 and first in SAYS:
        return "send"
    return "pay" if first in PAYS else "delete" if first in ENDS | {"delete", "erase"} else None


def is_about_data(words: Sequence[str]) -> bool:
    """Whether a command is about what an application keeps: `db:migrate`, `migrate deploy`, `runner`."""
    return any(not KEEPS.isdisjoint(_words(word)) for word in words)


def _first(name: str) -> str:
    matched = WORD.match(name)
    return matched[0].lower() if matched else ""


def _words(name: str) -> list[str]:
    return [word.lower() for word in WORD.findall(name)]
