"""Say in words what a tool call would do: the gravest first, what it does it to beside it, grouped and counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.effects.pointers import at, names_of
from metacog.heuristics.tool_calls.effect_bits import GRAVITY, OUTSIDE, names_in
from metacog.heuristics.tool_calls.secrets import masked, masked_effects
from reviews.presentation.engine_words import translated
from reviews.presentation.highlight import EFFECT, Mark
from reviews.presentation.phrases import gap
from reviews.records.effect_names import NAMES

MOST = 6  # objects of one sentence that are named
MOST_IN_ROW = 3  # effects that a row names
LONG = 200  # characters of one object
SHORT = 60  # of what runs, where it is no object

# Of an effect with an object, and of one without.
_SAYINGS: dict[str, tuple[str | Promise, str | Promise]] = {
    "read": (_("Reads %(what)s."), _("Reads data.")),
    "write": (_("Writes %(what)s."), _("Changes data.")),
    "delete": (_("Deletes %(what)s."), _("Deletes data.")),
    "execute": (_("Runs %(what)s."), _("Runs code.")),
    "fetch": (_("Fetches from %(what)s."), _("Fetches from the network.")),
    "send": (_("Sends data to %(what)s."), _("Sends data out.")),
    "install": (_("Installs %(what)s."), _("Installs packages.")),
    "publish": (_("Publishes to %(what)s."), _("Publishes to a shared place.")),
    "privilege": (_("Uses or grants higher privileges: %(what)s."), _("Uses or grants higher privileges.")),
    "secret": (_("Uses secrets: %(what)s."), _("Uses secrets.")),
    "pay": (_("Moves money: %(what)s."), _("Moves money.")),
    "irreversible": (_("Cannot be undone: %(what)s."), _("Cannot be undone.")),
    "unknown": (_("Cannot be read for certain: %(what)s."), _("Cannot be read for certain.")),
}
_OF_TABLES = {"write": _("Changes %(what)s."), "delete": _("Deletes data in %(what)s.")}
_OF_PACKAGES = {"publish": _("Publishes %(what)s.")}
# A detail stands beside its object; of an effect without one it is the reason.
_WITH_REASON = _("%(sentence)s: %(reason)s.")
_PLACE = "\ue000%d\ue001"  # stands for an object until the sentence is cut there
_PLACES = re.compile("\ue000([0-9]+)\ue001")
_BETWEEN_HAN = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
# What an interpreter is given is run as it comes: from a pipe, a substitution or a file that is none.
_RUN_AS_IT_COMES = re.compile("code from its input|code made at run time|a program named at run time|opens a session")
_PARTED = re.compile(r"[;\n]|&")  # between two commands of which one does not feed the other
# An option before a file that identifies who sends, and is not sent.
_IDENTITY = re.compile(
    r"(?:^|\s)(?:-i|-E|-K|--(?:identity(?:-file)?|cert|key|cacert|config|netrc-file|env-file|kubeconfig))[\s=]\s*[\"']?\Z"
)


@dataclass(frozen=True, slots=True)
class Thing:
    """What an effect is on, as a person reads it, and which effects that are, by their places in the list."""

    text: str
    detail: str = ""
    effects: tuple[int, ...] = ()
    is_words: bool = False  # it is our sentence, which names nothing of the call's

    def __str__(self) -> str:
        return f"{self.text}{self.after}"

    @property
    def after(self) -> str:
        return gettext(" (%(detail)s)") % {"detail": self.detail} if self.detail else ""

    @property
    def places(self) -> str:
        return " ".join(map(str, self.effects))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, cut into words and things."""

    effect: str
    parts: tuple[str | Thing, ...]
    effects: tuple[int, ...]  # all that it is about
    is_outside: bool = False

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    @property
    def places(self) -> str:
        return " ".join(map(str, self.effects))


class _Group(NamedTuple):
    effect: str
    of: str
    is_outside: bool


@dataclass(slots=True)
class _Things:
    """The things of a group, each once."""

    named: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    reasons: dict[str, list[int]] = field(default_factory=dict)  # of effects without an object
    bare: list[int] = field(default_factory=list)  # effects of which no more is known

    def add(self, part: Part) -> None:
        if part.text:
            self.named.setdefault((part.text, part.detail), []).append(part.place)
        elif part.detail:
            self.reasons.setdefault(part.detail, []).append(part.place)
        else:
            self.bare.append(part.place)

    @property
    def all(self) -> list[Thing]:
        return [Thing(text, detail, tuple(at)) for (text, detail), at in self.named.items()]


class Part(NamedTuple):
    """An effect as people may see it: its secrets masked, and what it is called."""

    place: int  # in the list
    effect: str
    text: str
    of: str
    is_outside: bool
    detail: str


def sentences(effects: Sequence[Mapping[str, Any]], arguments: Any) -> list[Sentence]:
    """Return what a call would do, as its verdict's item has it; [] where nothing is known of its effects."""
    hidden = masked_effects(effects, arguments)
    texts = masked(arguments)
    groups: dict[_Group, _Things] = {}
    sent = _sent(hidden, texts)
    for part in _parts(hidden, texts):
        if part.effect != "secret" or part.text not in sent:
            groups.setdefault(_Group(part.effect, part.of, part.is_outside), _Things()).add(part)
    said_more = {each.effect for each, things in groups.items() if things.named or things.reasons}
    found = []
    for group in sorted(groups, key=lambda each: (GRAVITY.index(each.effect), not each.is_outside)):
        things = groups[group]
        if things.named:
            found.append(_of_things(group, things, sent if group.effect == "send" else {}))
        if things.reasons:
            found.append(_of_reasons(group, things.reasons))
        if group.effect not in said_more:
            found.append(_cut(group, str(_SAYINGS[group.effect][1]), [], things.bare))
    return found


def in_words(effects: Sequence[Mapping[str, Any]], arguments: Any) -> str:
    """Return the same as one text, for where there is no mark-up."""
    return gap().join(map(str, sentences(effects, arguments)))


def unread(effects: Sequence[Mapping[str, Any]], arguments: Any) -> str:
    """Return what is known of what cannot be read for certain; "" where nothing is."""
    hidden, texts = masked_effects(effects, arguments), masked(arguments)
    parts = [part for part in _parts(hidden, texts) if part.effect == "unknown"]
    things = [str(Thing(part.text, part.detail)) if part.text else part.detail for part in parts]
    return pgettext("list", ", ").join(filter(None, dict.fromkeys(things)))


def in_short(bits: int) -> str:
    """Name the gravest effects of a call by their bits, as in "delete · outside"; "" of none."""
    found = sorted(names_in(bits), key=GRAVITY.index)
    kinds = [str(NAMES[name]) for name in found if name != OUTSIDE]
    told = kinds[:MOST_IN_ROW]
    if OUTSIDE in found:
        told.append(pgettext("effect", "outside"))
    if len(kinds) > MOST_IN_ROW:
        told.append(f"+{len(kinds) - MOST_IN_ROW}")
    return " · ".join(told)


def marks(effects: Iterable[Mapping[str, Any]]) -> dict[str, list[Mark]]:
    """Return by argument where the effects stand in it, as marks whose types hold its place in the list."""
    found: dict[str, list[Mark]] = {}
    for place, each in enumerate(effects):
        start, end = each["start"], each["end"]
        if start is not None and end is not None and start < end:
            found.setdefault(each["argument"], []).append(Mark(start, end, f"{EFFECT}{place}"))
    return found


# -- things --------------------------------------------------------------------------------------


# What goes without saying beside another effect on the same.
_IMPLIED = {"read": "secret", "fetch": "send"}


def _parts(effects: Sequence[Mapping[str, Any]], arguments: Any) -> Iterator[Part]:
    known = {(each["effect"], each["object"], each["argument"], each["start"]) for each in effects if each["object"]}
    details = {(each["object"], each.get("detail")) for each in effects if each["effect"] != "irreversible"}
    for place, each in enumerate(effects):
        rest = each["object"], each["argument"], each["start"]
        if (_IMPLIED.get(each["effect"]), *rest) in known:
            continue
        part = _part(place, each)
        if part.effect == "unknown" and (hosts := _fetched(each, effects, arguments)):
            part = part._replace(detail=gettext("it runs what it fetches from %(hosts)s") % {"hosts": hosts})
        if part.effect == "irreversible" and (each["object"], each.get("detail")) in details:
            part = part._replace(detail="")
        if part.effect == "execute" and not part.text and (written := _written(each, arguments)):
            part = part._replace(text=written, of="program")
        yield part


def _fetched(each: Mapping[str, Any], effects: Iterable[Mapping[str, Any]], arguments: Any) -> str:
    """Return from where code comes that cannot be read, if that is what the same command has just fetched."""
    _, text = at(arguments, names_of(each["argument"]) or ())
    if each["object"] or each["start"] is None or not isinstance(text, str):
        return ""
    from_own = _RUN_AS_IT_COMES.match(each.get("detail") or "")
    hosts: dict[str, None] = {}
    for other in effects:
        if other["effect"] != "fetch" or not other["object"] or other["argument"] != each["argument"]:
            continue
        first, second = sorted((each, other), key=lambda one: int(one["start"]))
        between = text[first["end"] : second["start"]]
        is_fed = from_own or (first is other and "|" in between and not each.get("detail"))
        if is_fed and not _PARTED.search(between):
            hosts[_named(other["object"], other.get("of") or "")] = None
    return pgettext("list", ", ").join(hosts)


def _written(each: Mapping[str, Any], arguments: Any) -> str:
    """Return what stands where an effect is that names no object, if it is short."""
    _, text = at(arguments, names_of(each["argument"]) or ())
    if not isinstance(text, str) or each["start"] is None or each["end"] - each["start"] > SHORT:
        return ""
    return " ".join(text[each["start"] : each["end"]].split())


def _part(place: int, each: Mapping[str, Any]) -> Part:
    text, of = "", each.get("of") or ""
    if each["object"]:
        text = _named(each["object"], of)
        text = text if len(text) <= LONG else text[: LONG - 1] + "…"
    detail = translated(each["detail"]) if each.get("detail") else ""
    return Part(place, each["effect"], text, of, each["inside"] is False, detail)


def _named(text: str, of: str) -> str:
    """Return what an object is called: of an address on the web its host."""
    if of not in ("url", "host") or "://" not in text:
        return text
    try:
        return urlsplit(text).netloc.rpartition("@")[2] or text
    except ValueError:
        return text


def _sent(effects: Sequence[Mapping[str, Any]], arguments: Any) -> dict[str, list[int]]:
    """Return what a call sends of secrets: those that stand in the same command as where it sends to."""
    to = [each for each in effects if each["effect"] == "send" and each["object"]]
    found: dict[str, list[int]] = {}
    for place, each in enumerate(effects):
        if each["effect"] == "secret" and each["object"] and any(_is_fed(each, other, arguments) for other in to):
            found.setdefault(_part(place, each).text, []).append(place)
    return found


def _is_fed(each: Mapping[str, Any], to: Mapping[str, Any], arguments: Any) -> bool:
    if each["argument"] != to["argument"]:
        return True
    _, text = at(arguments, names_of(each["argument"]) or ())
    if each["start"] is None or to["start"] is None or not isinstance(text, str):
        return False
    if _IDENTITY.search(text[max(0, each["start"] - 40) : each["start"]]):
        return False
    first, second = sorted((each, to), key=lambda one: int(one["start"]))
    return not _PARTED.search(text[first["end"] : second["start"]])


# -- sentences -----------------------------------------------------------------------------------


def _of_reasons(group: _Group, reasons: Mapping[str, Sequence[int]]) -> Sentence:
    """Say what is done without naming to what, and what is known of it."""
    bare = str(_SAYINGS[group.effect][1]).rstrip(".。")
    listed = pgettext("list", ", ").join(reasons)
    told = str(_WITH_REASON) % {"sentence": bare, "reason": listed}
    return _cut(group, told, [], [at for every in reasons.values() for at in every])


def _of_things(group: _Group, things: _Things, sent: Mapping[str, Sequence[int]]) -> Sentence:
    found = things.all
    saying = _SAYINGS[group.effect][0]
    if group.of == "table":
        saying = _OF_TABLES.get(group.effect, saying)
    elif group.of in ("package", "path", "name"):
        saying = _OF_PACKAGES.get(group.effect, saying)
    what = _what(group, [_PLACE % number for number in range(len(found))])
    told = str(saying) % {"what": what}
    if sent:
        places = range(len(found), len(found) + len(sent))
        files = pgettext("list", ", ").join(_PLACE % number for number in places)
        told = gettext("Sends %(files)s to %(what)s.") % {"files": files, "what": what}
        found += [Thing(text, "", tuple(at)) for text, at in sent.items()]
    return _cut(group, told, found, [*(at for thing in found for at in thing.effects), *things.bare])


def _cut(group: _Group, told: str, things: Sequence[Thing], every: Sequence[int]) -> Sentence:
    """Cut a sentence at its things; what is put together in Chinese has no blanks."""
    told = _BETWEEN_HAN.sub("", told)
    if not things:
        return Sentence(group.effect, (Thing(told, "", tuple(every), is_words=True),), tuple(every), group.is_outside)
    parts: list[str | Thing] = []
    for place, piece in enumerate(_PLACES.split(told)):
        if place % 2:
            parts.append(things[int(piece)])
        elif piece:
            parts.append(piece)
    return Sentence(group.effect, tuple(parts), tuple(every), group.is_outside)


def _what(group: _Group, places: Sequence[str]) -> str:
    """Say how many things there are, and which."""
    count = len(places)
    listed = pgettext("list", ", ").join(places[:MOST])
    if count > MOST:
        listed += pgettext("list", ", ") + ngettext("%(n)s more", "%(n)s more", count - MOST) % {"n": count - MOST}
    noun = _noun(group, count)
    if count == 1:
        if group.of == "table":
            listed = gettext("table %(name)s") % {"name": listed}
        return gettext("%(name)s outside the project") % {"name": listed} if group.is_outside else listed
    if not noun:
        return listed
    if group.is_outside:
        return gettext("%(things)s outside the project: %(names)s") % {"things": noun, "names": listed}
    return gettext("%(things)s: %(names)s") % {"things": noun, "names": listed}


def _noun(group: _Group, count: int) -> str:
    n = {"n": count}
    match group.of:
        case "path" if group.effect in ("delete", "privilege"):
            return ngettext("%(n)s file or folder", "%(n)s files or folders", count) % n
        case "path":
            return ngettext("%(n)s file", "%(n)s files", count) % n
        case "table":
            return ngettext("%(n)s table", "%(n)s tables", count) % n
        case "url" | "host":
            return ngettext("%(n)s host", "%(n)s hosts", count) % n
        case "address":
            return ngettext("%(n)s address", "%(n)s addresses", count) % n
        case "package":
            return ngettext("%(n)s package", "%(n)s packages", count) % n
        case "program":
            return ngettext("%(n)s program", "%(n)s programs", count) % n
    return ""
