"""Where effects are gathered while a command line is read."""

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import paths
from ..effect import MADE, Command, Effect, Kind, ObjectKind, new
from ..programs import Applied, Programs, Word
from .boxes import Box
from .shape import shape

Span = tuple[int | None, int | None]
OUTSIDE = ("/", "~/", "../")  # how a path begins that may lead out of the workspace
SHARED = ("/dev/", "/usr/", "/opt/", "/bin/", "/lib/", "/run/", "/var/run/", "/tmp/", "/var/tmp/")
MARKED = frozenset({"write", "delete", "irreversible"})
MARKED_OBJECTS = frozenset({None, "name", "table"})
MOVED = "something else was put there"
BRIEFLY = "as long as the command runs"
LEAKS = frozenset({"read", "send", "execute"})  # what is in a file
MOST_STEPS = 1_500
MOST_LINKS = 5  # that lead to one another
MOST_OBJECT = 300  # letters of an object that are kept


class Shell(NamedTuple):
    """A command line as it was read: effects in order of place, and one command for each simple command.

    `is_simple` says that it is one simple command without redirection, substitution or words made at run time.
    """

    effects: tuple[Effect, ...] = ()
    commands: tuple[Command, ...] = ()
    is_simple: bool = False
    shape: dict[str, Any] | None = None


class Made(NamedTuple):
    """A file that the text wrote: what is in it, None where only a run tells, and the program that printed that."""

    content: Word | None = None
    by: str = ""


class TooMuch(Exception):
    """More commands, or deeper ones, than are read."""


class Out:
    """The effects, commands and doubts of one call."""

    def __init__(self, programs: Programs, workspace: str | None, cwd: str | None) -> None:
        self.programs = programs
        self.workspace = workspace
        self.room = [paths.normal(workspace or cwd or ".")]
        self.effects: dict[Effect, int] = {}  # numbered as they are found
        self.commands: dict[Span, set[int]] = {}  # by their places, with the numbers of their effects
        self.open: list[set[int]] = []  # the numbers of the effects of commands that are being read
        self.applied: list[tuple[Applied, list[Effect]]] = []
        self.compound = False
        self.arithmetic = False
        self.hidden = False
        self.steps = 0
        self.remote = False
        self.box: Box | None = None  # the container in which the command being read runs
        self.live = False  # it was told to work on what runs for everybody
        self.mark = ""  # of everything that the command being read works on
        self.theirs = False  # the command being read runs where people work: nothing of it is a test's
        self.cheap: set[tuple[str, str]] = set()  # programs, and what they have made that is easily made again
        self.made: dict[str, Made] = {}  # files that the text itself has printed into
        self.written: set[str] = set()
        self.heard: set[str] = set()  # of what it has written, what was read when something ran it
        self.served: list[Effect] = []  # what servers of the project's files publish, until they are ended
        self.over: set[Effect] = set()  # of these, what is over when the text is
        self.uncalled: dict[tuple[int, int], Callable[[], None]] = {}  # functions, until something calls them
        self.moved: dict[str, list[str]] = {}  # places that it has moved something to, and from where
        self.links: dict[str, str] = {}  # links that it has made, and what they point to

    def step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > MOST_STEPS:
            raise TooMuch

    def guard(self, work: Callable[[], object], span: Span) -> None:
        """Do `work`; what is too much for it is unknown."""
        try:
            work()
            while self.uncalled:  # for whoever calls them later
                self.uncalled.popitem()[1]()
        except TooMuch:
            self.compound = True
            self.add("unknown", span=span, detail="too long or too deep")

    def add(
        self,
        effect: Kind,
        name: str | None = None,
        of: ObjectKind | None = None,
        *,
        inside: bool | None = None,
        span: Span = (None, None),
        detail: str = "",
    ) -> Effect:
        if name is not None and len(name) > MOST_OBJECT:
            name = name[:MOST_OBJECT] + "…"
        if self.mark and effect in MARKED and of in MARKED_OBJECTS and detail != MADE:
            detail = f"{detail}, {self.mark}" if detail else self.mark
        found = new(Effect, (effect, name, of, inside, *span, "", detail))
        at = self.effects.setdefault(found, len(self.effects))
        for numbers in self.open:
            numbers.add(at)
        return found

    def path(
        self, effect: Kind, word: Word, cwd: str | None, detail: str = "", *, looks: bool = False, deep: bool = False
    ) -> list[Effect]:
        """An effect on the path that `word` names, and what follows from what that is.

        `looks`: only at its name; `deep`: at all that is below it.
        """
        if word.text in paths.NO_OBJECTS:
            return []
        if word.text.startswith(("/dev/tcp/", "/dev/udp/")):
            host = word.text.split("/")[3]
            kind: Kind = "fetch" if effect == "read" else "send"
            return [self.add(kind, host, "host", span=(word.start, word.end))]
        name = self.place(word, cwd)
        if self.box is not None:
            return self._in_box(effect, word, name, detail, looks=looks, deep=deep)
        inside = not self.remote and paths.is_below(name, self.room)
        span = (word.start, word.end)
        found = []
        if effect == "delete" and (name in self.moved or name in self.links):
            detail = detail or MOVED
        if effect == "delete" and name in self.links and word.text.endswith("/"):
            found += self.path(effect, word._replace(text=self.links[name]), None, detail)
        if effect == "delete" and self.moved:
            found += self._moved(name, span)
        found.append(self.add(effect, name, "path", inside=inside, span=span, detail=detail))
        if effect in LEAKS and not looks and self._is_secret(name, inside=inside, deep=deep):
            found.append(self.add("secret", name, "path", inside=inside, span=span))
        if effect == "write":
            self.written.add(name)
            if name in self.made:
                self.made[name] = Made()
            if paths.is_device(name):
                found.append(self.add("irreversible", name, "path", inside=inside, span=span, detail="device"))
        return found

    def _is_secret(self, name: str, *, inside: bool, deep: bool) -> bool:
        """Whether a file holds secrets, or one that was moved there, or one below it."""
        below = name[:-3] if name.endswith("/**") else name.rstrip("/") if deep else None
        if paths.is_secret(name if below is None else below) or any(map(paths.is_secret, self.moved.get(name, ()))):
            return True
        return below is not None and not inside and paths.holds_secrets(below)

    def _moved(self, name: str, span: Span) -> list[Effect]:
        """What goes with a path because it was moved there: it is no longer where it was."""
        below = name.rstrip("*/") + "/"
        gone = [place for place in self.moved if place == name or f"{place}/".startswith(below)]
        origins = [origin for place in gone for origin in self.moved.pop(place)]
        return [
            effect
            for origin in dict.fromkeys(origins)
            for effect in self.path("delete", Word(origin, *span), None, "moved from there")
        ]

    def _in_box(self, effect: Kind, word: Word, name: str, detail: str, *, looks: bool, deep: bool) -> list[Effect]:
        """An effect on a path in a container: on what is mounted there, or on what is gone with it."""
        box, span, found = self.box, (word.start, word.end), list[Effect]()
        hosts = box.hosts(name) if box is not None else []
        if None in hosts or not hosts:
            said = MADE if not hosts and effect in MARKED else detail
            found.append(self.add(effect, name, "path", inside=False, span=span, detail=said))
            if effect in LEAKS and paths.is_secret(name) and not looks:
                found.append(self.add("secret", name, "path", inside=False, span=span))
        self.box = None
        for host in filter(None, hosts):
            found += self.path(effect, word._replace(text=host), None, detail, looks=looks, deep=deep)
        self.box = box
        return found

    def is_at_home(self, cwd: str | None) -> bool:
        """Whether a working directory is in the workspace."""
        return paths.is_below(cwd or ".", self.room)

    def ended(self, since: int = 0) -> None:
        """Take note that the servers which the text has started are ended by it."""
        self.over.update(self.served[since:])

    def searched(self, word: Word, cwd: str | None) -> None:
        """What a program is given from elsewhere, and may run."""
        if not paths.is_below(self.place(word, cwd), self.room):
            self.path("execute", word, cwd, "given from elsewhere")

    def place(self, word: Word, cwd: str | None) -> str:
        """The path that a word names; below a link that the text has made it is where that points."""
        name = paths.normal(word.text, cwd=cwd, workspace=self.workspace)
        return self._pointed_to(name) if self.links else name

    def _pointed_to(self, name: str) -> str:
        for _ in range(MOST_LINKS):
            link = next((link for link in self.links if name.startswith(link + "/")), None)
            if link is None:
                break
            name = paths.normal(self.links[link] + name[len(link) :])
        return name

    def shell(self) -> Shell:
        if self.arithmetic and self.hidden:
            self.add("unknown", detail="text that arithmetic may run")
        found = list(self.effects)
        if self.over:
            found = [one._replace(effect="read", detail=BRIEFLY) if one in self.over else one for one in found]
        starts = [-1 if effect.start is None else effect.start for effect in found]
        order = sorted(range(len(found)), key=starts.__getitem__)
        place = {at: number for number, at in enumerate(order)}
        commands = [
            new(Command, ("", *span, tuple(sorted([place[at] for at in self.commands[span]]))))
            for span in sorted(self.commands)
        ]
        return Shell(tuple([found[at] for at in order]), tuple(commands), not self.compound, self._shape())

    def _shape(self) -> dict[str, Any] | None:
        if self.compound or any(effect.effect == "unknown" for effect in self.effects):
            return None
        return shape(self.applied)
