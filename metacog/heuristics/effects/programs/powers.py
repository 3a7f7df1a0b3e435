"""What words say that no row knows: the name of a flag (`--push`), and that of a task (`make deploy`)."""

import re
from functools import lru_cache

from ..effect import Kind
from .flags import Flag, Place, flag_of

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
PUBLISHES = frozenset(["deploy", "redeploy", "publish", "upload", "push", "ship", "promote", "rollout", "announce"])
ENDS = frozenset(["destroy", "drop", "nuke", "purge", "teardown", "truncate", "undeploy", "wipe"])
DELETES = ENDS | {"delete", "erase", "remove", "unlink"}
RUNS = frozenset(["cmd", "command", "editor", "eval", "exec", "execute", "hook", "pager", "preprocessor", "program"])
SENDS = frozenset(["email", "mail", "notify", "post", "send", "webhook"])
SHOWS = frozenset(["expose", "public", "share", "tunnel"])
WRITES = frozenset(["dest", "destination", "dump", "export", "out", "outdir", "outfile", "output", "report", "save"])
CHANGES = frozenset(["autocorrect", "fix", "inplace", "overwrite", "write"])
LISTENS = frozenset(["address", "bind", "host", "hostname", "ip", "listen"])
NEGATIONS = frozenset(["allow", "exclude", "ignore", "no", "skip", "without"])  # as the first word of a flag

LOCAL = frozenset(["local", "test", "tests"])  # of a task: what it does stays here
LIVE = frozenset(["prod", "production"])
CALM = frozenset(["build", "check", "compile", "dry", "lint", "list", "serve", "show", "start", "validate", "verify"])
SAYS = frozenset(["email", "mail", "notify", "send"])  # as its first word

RUNNING = flag_of({"execute": None, "unknown": None})
PUBLISHING = flag_of({"publish": None})
WRITING = Flag((Place("write", "value", False),), objects="path")
LISTENING = flag_of({"by": {"0.0.0.0*|::|[[]::]*|[*]": {"publish": None}, "*": 1}})
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
    if "release" in first or not PUBLISHES.isdisjoint(words):
        return "publish"
    if len(words) > 1 and not SAYS.isdisjoint(first):  # `send-newsletter`, not `email`, which may start a preview
        return "send"
    return None if ENDS.isdisjoint(first) else "delete"


@lru_cache(maxsize=1024)
def effect_of_script(path: str) -> Kind | None:
    """What the name of a file that is run says: `scripts/send_newsletter.py`, `./deploy.sh`."""
    folders, _, base = path.rpartition("/")
    words = _words(base.partition(".")[0])
    if not words or words[0] in CALM or not LOCAL.isdisjoint([*words, *_words(folders)]):
        return None
    if "release" in (words[0], words[-1]) or words[0] in PUBLISHES or not LIVE.isdisjoint(words):
        return "publish"
    if len(words) > 1 and words[0] in SAYS:
        return "send"
    return "delete" if words[0] in ENDS | {"delete", "erase"} else None


def _first(name: str) -> str:
    matched = WORD.match(name)
    return matched[0].lower() if matched else ""


def _words(name: str) -> list[str]:
    return [word.lower() for word in WORD.findall(name)]
