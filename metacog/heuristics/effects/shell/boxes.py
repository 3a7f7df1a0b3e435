"""A container that a command starts: which of the paths in it are the host's, and which are gone with it."""

import csv
from collections.abc import Sequence
from typing import NamedTuple

from ..paths import GLOB, normal
from ..programs import Applied, Word
from .state import State

RUNNERS = frozenset({"docker", "podman", "nerdctl"})
STARTS = frozenset({"run", "container run"})
HOST = ("/", ".", "~", "$")  # how a folder of the host begins; else it is the name of a volume


class Box(NamedTuple):
    """What a container has of the host: targets with the host's folders, None where that is a volume."""

    mounts: tuple[tuple[str, str | None], ...] = ()
    cwd: str = "/"

    def hosts(self, name: str) -> list[str | None]:
        """The host's paths that a path of the container leads to, or that lie below it; none: it is the container's."""
        if name.startswith(("~", "$")) and self.mounts:
            return [None]
        over = max((target for target, _ in self.mounts if f"{name}/".startswith(f"{target}/")), key=len, default=None)
        glob = GLOB.search(name)
        start = name[: glob.start()] if glob else name.rstrip("/") + "/"
        return [
            host if host is None else (host + name[len(target) :] if target == over else host) or "/"
            for target, host in self.mounts
            if target == over or target.startswith(start)
        ]


def box_of(applied: Applied, state: State) -> Box | None:
    """The container that a command starts; None where it is no such command, or what is mounted is not known."""
    if applied.program not in RUNNERS or applied.subcommand not in STARTS:
        return None
    mounts: list[tuple[str, str | None]] = []
    for flag, value in applied.flags:
        if flag == "--volumes-from":
            return None
        if flag not in {"-v", "--volume", "--mount"}:
            continue
        if value is None or value.loose or "$(" in value.text:
            return None
        mounts += _mounts(flag, value, state)
    given = [value for flag, value in applied.flags if flag in {"-w", "--workdir"} and value is not None]
    first = next((target for target, host in mounts if host is not None), "/")
    return Box(tuple(mounts), normal(given[-1].text, cwd="/") if given else first)


def _mounts(flag: str, value: Word, state: State) -> Sequence[tuple[str, str | None]]:
    """Where something of the host is mounted that may be changed there."""
    if flag == "--mount":
        told = {
            name.lower(): text for name, _, text in (part.partition("=") for part in next(csv.reader([value.text])))
        }
        source = told.get("source", told.get("src", ""))
        target = told.get("target", told.get("destination", told.get("dst", "")))
        options = {name for name, said in told.items() if said.lower() not in {"false", "0", "f"}}
        is_volume = told.get("type") != "bind"
        if told.get("type") == "tmpfs":
            return ()
    else:
        source, _, rest = value.text.partition(":")
        target, _, given = rest.partition(":")
        options, is_volume = set(given.split(",")), not source.startswith(HOST)
    if not target or not options.isdisjoint({"ro", "readonly"}):
        return ()
    return [(normal(target, cwd="/").rstrip("/"), None if is_volume else normal(source, cwd=state.cwd).rstrip("/"))]
