"""Say a rule on tool calls in words: which tool, and what its arguments must be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from metacog.audit.words import closed_around

MAX_VALUE = 80  # characters of one value
MAX_CHOICES = 5  # of a list that are named

_SAYINGS = {
    "eq": _("%(place)s is %(value)s"),
    "ne": _("%(place)s is not %(value)s"),
    "gt": _("%(place)s is more than %(value)s"),
    "ge": _("%(place)s is at least %(value)s"),
    "lt": _("%(place)s is less than %(value)s"),
    "le": _("%(place)s is at most %(value)s"),
    "in": _("%(place)s is one of %(value)s"),
    "glob": _("%(place)s is like %(value)s"),
    "regex": _("%(place)s matches %(value)s"),
}
_OF_TEXTS = {  # compared by their code points, such as dates
    "gt": _("%(place)s comes after %(value)s"),
    "ge": _("%(place)s is %(value)s or comes after it"),
    "lt": _("%(place)s comes before %(value)s"),
    "le": _("%(place)s is %(value)s or comes before it"),
}
_SWITCHES = {
    "exists": {True: _("%(place)s exists"), False: _("%(place)s does not exist")},
    "secret": {True: _("%(place)s contains a secret"), False: _("%(place)s contains no secret")},
}
EFFECTS = {
    "read": _("reads"),
    "write": _("writes"),
    "delete": _("deletes"),
    "execute": _("runs code"),
    "fetch": _("fetches from the network"),
    "send": _("sends data out"),
    "install": _("installs"),
    "publish": _("publishes"),
    "privilege": _("changes privileges"),
    "secret": _("uses a secret"),
    "pay": _("moves money"),
    "irreversible": _("cannot be undone"),
    "unknown": _("cannot be read for certain"),
}
_PLACES = {
    "inside": _("each path is in %(places)s"),
    "outside": _("on a path outside %(places)s"),
    "objects": _("on anything like %(places)s"),
    "except": _("except on %(places)s"),
    "of": _("on an object of the kind %(places)s"),
}
_OWN = {  # among "except"
    "{made}": _("what the same command made"),
    "{test}": _("a test's own"),
    "{built}": _("a build's output"),
    "{kept}": _("what git has"),
}


def in_words(rule: Mapping[str, Any]) -> str:
    """Say which calls a rule is about, as in "mcp__bank__* where /eur is more than 50"; plain text, not escaped."""
    said = conditions(rule.get("where") or {})
    said += effects(rule.get("effects") or {})
    said += _hints(rule.get("hints") or {})
    if rule.get("definition"):
        said.append(gettext("its description and schema are unchanged"))
    tool = gettext("any tool") if rule["tool"] == "*" else str(rule["tool"])
    if not said:
        return tool
    return gettext("%(tool)s where %(conditions)s") % {"tool": tool, "conditions": gettext(" and ").join(said)}


def conditions(where: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say each condition on its own, as in "/eur is more than 50"."""
    return [_condition(place, operator, value) for place, asked in where.items() for operator, value in asked.items()]


def effects(asked: Mapping[str, Any]) -> Iterator[str]:
    """Say which effects are asked for, in one piece or none, as in "it moves money"."""
    told = {name: [str(EFFECTS[each]) for each in asked.get(name, ())] for name in ("any", "all", "only")}
    said = []
    if len(told["any"]) > 1:
        said.append(gettext("it does any of: %(effects)s") % {"effects": pgettext("list", ", ").join(told["any"])})
    elif told["any"]:
        said.append(gettext("it %(effects)s") % {"effects": told["any"][0]})
    if told["all"]:
        said.append(gettext("it %(effects)s") % {"effects": gettext(" and ").join(told["all"])})
    if told["only"]:
        said.append(gettext("it does only: %(effects)s") % {"effects": pgettext("list", ", ").join(told["only"])})
    for name, saying in _PLACES.items():
        if places := [_place(each) for each in asked.get(name, ())]:
            said.append(str(saying) % {"places": _listed(places)})
    if said:
        yield gettext(", ").join(said)


def _place(given: str) -> str:
    place = gettext("the working directory") if given == "." else str(_OWN.get(given, given))
    return place if len(place) <= MAX_VALUE else place[: MAX_VALUE - 1] + "…"


def _hints(asked: Mapping[str, Any]) -> Iterator[str]:
    for name, value in asked.items():
        yield gettext("the tool says %(hint)s: %(value)s") % {"hint": name, "value": _json(value)}


def _condition(place: str, operator: str, value: Any) -> str:
    told = {"place": place or gettext("the whole of the arguments"), "value": _value(value, operator)}
    sayings = _OF_TEXTS if isinstance(value, str) and operator in _OF_TEXTS else _SAYINGS
    if operator in _SWITCHES:
        said = str(_SWITCHES[operator][bool(value)]) % told
    elif operator in sayings:
        said = str(sayings[operator]) % told
    else:
        said = f"{told['place']} {operator} {told['value']}"
    return closed_around(said, told["place"])


def _value(value: Any, operator: str) -> str:
    if operator == "in" and isinstance(value, Sequence) and not isinstance(value, str):
        return _listed([_json(each) for each in value])
    return str(value) if operator == "regex" else _json(value)


def _listed(values: Sequence[str]) -> str:
    comma = pgettext("list", ", ")
    named = comma.join(values[:MAX_CHOICES])
    more = len(values) - MAX_CHOICES
    if more > 0:
        named += comma + ngettext("%(n)s more", "%(n)s more", more) % {"n": f"{more:,}"}
    return named


def _json(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= MAX_VALUE else written[: MAX_VALUE - 1] + "…"
