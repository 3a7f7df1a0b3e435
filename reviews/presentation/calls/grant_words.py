"""Say exactly what a grant lets pass. Plain text, secrets masked, not escaped; commands are code as in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from metacog.heuristics.text.canonical_json import canonical
from metacog.heuristics.tool_calls import secrets
from metacog.heuristics.tool_calls.grants import Why
from reviews.models import CallGrant, HeldItem
from reviews.presentation.phrases import gap

WORKSPACE = "workspace"  # the place of a path in it
MOST_NAMED = 5  # objects of one effect
_SAID = {"program", "subcommand", "arguments", "flags", "effects", "sql", "cwd"}  # of a shape

_DOES = {
    "read": _("reads %(what)s"),
    "write": _("writes %(what)s"),
    "delete": _("deletes %(what)s"),
    "execute": _("runs %(what)s"),
    "fetch": _("fetches from %(what)s"),
    "send": _("sends to %(what)s"),
    "install": _("installs %(what)s"),
    "publish": _("publishes to %(what)s"),
    "privilege": _("changes rights of %(what)s"),
    "secret": _("reads the secret %(what)s"),
    "pay": _("pays %(what)s"),
    "irreversible": _("cannot be undone for %(what)s"),
}
_DOES_BARE = {
    "read": _("reads"),
    "write": _("writes"),
    "delete": _("deletes"),
    "execute": _("runs code"),
    "fetch": _("fetches from the network"),
    "send": _("sends"),
    "install": _("installs packages"),
    "publish": _("publishes"),
    "privilege": _("changes rights"),
    "secret": _("reads secrets"),
    "pay": _("pays"),
    "irreversible": _("cannot be undone"),
}
_WHY: Mapping[Why, Any] = {
    "compound": _("It is more than one simple command, or uses redirection or substitution."),
    "unreadable": _("What it would do cannot be read for certain."),
    "no-shape": _("Nothing about it is specific enough to recognize similar calls."),
    "free-text": _("The tool takes free text: %(place)s."),
    "keys": _("The tool takes names that no schema limits: %(place)s."),
}


def why_not(why: Why, place: str) -> str:
    """Say why a call can be granted no wider."""
    told = str(_WHY[why]) % {"place": place or gettext("the whole of the arguments")}
    return gettext("not possible for this call.") + gap() + told


def what(match: str, tool: str, arguments: Any, shape: Mapping[str, Any] | None) -> str:
    """Say which calls a grant is about: these arguments, this shape, or all of a tool."""
    if match == CallGrant.Match.TOOL:
        return gettext("every call of %(tool)s") % {"tool": _code(tool)}
    if match == CallGrant.Match.SHAPE:
        return _shape(tool, shape) if shape else gettext("calls of one shape, whose text was erased")
    line = secrets.line("", canonical(arguments))
    if isinstance(arguments, dict) and len(arguments) == 1:
        line = line.removeprefix(f"{next(iter(arguments))}=")
    return gettext("exactly %(call)s") % {"call": _code(f"{tool} {line}".strip())}


def where(scope: str, agent: str) -> str:
    """Say in which sessions."""
    if scope == CallGrant.Scope.SESSION:
        return gettext("in this session")
    return gettext("in all sessions of %(agent)s") % {"agent": agent}


def how_often(most: int) -> str:
    """Say how many calls at most."""
    return ngettext("at most %(n)s time", "at most %(n)s times", most) % {"n": f"{most:,}"}


def until_when(moment: datetime) -> str:
    """Say until when, by the clock of whoever reads it."""
    local = timezone.localtime(moment)
    if local.date() == timezone.localtime(timezone.now()).date():
        return gettext("until %(time)s today") % {"time": f"{local:%H:%M}"}
    return gettext("until %(day)s, %(time)s") % {"day": date_format(local, "DATE_FORMAT"), "time": f"{local:%H:%M}"}


def in_words(grant: CallGrant, until: str) -> str:
    """Say all of a grant that was read by `told`; `until` is in words."""
    said = [
        what(grant.match, grant.held.call.name, arguments_of(grant.held), grant.shape),
        where(grant.scope, grant.agent.name),
        until,
    ]
    said += [how_often(grant.most_uses)] if grant.most_uses else []
    return gettext(", ").join(said)


def arguments_of(held: HeldItem) -> Any:
    """Return what was released of a call: as a person edited it, else as it came."""
    edited = [each.arguments for each in held.standing if each.verdict == "edit"]
    return edited[0] if edited else held.call.arguments


def _shape(tool: str, shape: Mapping[str, Any]) -> str:
    words = [shape.get("program"), shape.get("subcommand")]
    words += shape.get("arguments", ()) if "program" in shape else ()
    said = [_code(" ".join(filter(None, words)) or shape.get("sql") or tool)]
    if "flags" in shape:
        flags = " ".join(map(_code, shape["flags"]))
        with_flags = gettext("with %(flags)s only") % {"flags": flags}
        said.append(with_flags if flags else gettext("without flags"))
    effects = [(each, "") if isinstance(each, str) else (each[0], each[-1] or "") for each in shape.get("effects", ())]
    said += _effects(effects)
    kinds = {kind for kind, _place in effects}
    if "publish" in kinds and "irreversible" not in kinds:
        said.append(gettext("not by force"))
    if "arguments" in shape and "program" not in shape:
        said.append(
            gettext("only with %(names)s") % {"names": pgettext("list", ", ").join(map(_code, shape["arguments"]))}
        )
    if cwd := shape.get("cwd"):
        said.append(gettext("in %(folder)s") % {"folder": _code(cwd)})
    if rest := {name: value for name, value in shape.items() if name not in _SAID}:
        said.append(json.dumps(secrets.masked(rest), ensure_ascii=False))
    return gettext(", ").join(said)


def _effects(effects: Sequence[tuple[str, str]]) -> list[str]:
    said = []
    for kind, same in groupby(effects, key=itemgetter(0)):
        objects = [_object(place) for _kind, place in same if place]
        if not objects:
            said.append(str(_DOES_BARE.get(kind, kind)))
            continue
        comma = pgettext("list", ", ")
        named = comma.join(objects[:MOST_NAMED])
        if len(objects) > MOST_NAMED:
            more = len(objects) - MOST_NAMED
            named += comma + ngettext("%(n)s more", "%(n)s more", more) % {"n": f"{more:,}"}
        said.append(str(_DOES[kind]) % {"what": named} if kind in _DOES else f"{kind} {named}")
    return said


def _object(place: str) -> str:
    if place == WORKSPACE:
        return gettext("files in the project")
    return _code(place)


def _code(text: str) -> str:
    """Mark up code as Markdown does: between more backquotes than stand in it."""
    shown = " ".join(secrets.masked_text(text).split())
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    return f"{fence} {shown} {fence}" if len(fence) > 1 else f"`{shown}`"
