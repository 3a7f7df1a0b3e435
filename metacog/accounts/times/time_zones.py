"""Time zones to choose from, by continent: their cities in the reader's language."""

from __future__ import annotations

import zoneinfo
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import get_language, pgettext_lazy

from metacog.accounts.times.cities import CITIES

# Those that people look for; no abbreviations.
CONTINENTS: dict[str, Promise] = {
    "Africa": pgettext_lazy("time zones", "Africa"),
    "America": pgettext_lazy("time zones", "America"),
    "Antarctica": pgettext_lazy("time zones", "Antarctica"),
    "Arctic": pgettext_lazy("time zones", "Arctic"),
    "Asia": pgettext_lazy("time zones", "Asia"),
    "Atlantic": pgettext_lazy("time zones", "Atlantic"),
    "Australia": pgettext_lazy("time zones", "Australia"),
    "Europe": pgettext_lazy("time zones", "Europe"),
    "Indian": pgettext_lazy("time zones", "Indian Ocean"),
    "Pacific": pgettext_lazy("time zones", "Pacific"),
}


Choices = list[tuple[str, Any]]


def time_zones(stored: str = "") -> Choices:
    """Return the choices of a select: a city's name in the reader's language, and beside it in English.

    One that was chosen before is among them, though it is called otherwise by now.
    """
    language = get_language() or ""
    found = _time_zones(language)
    if not stored or stored in _cities():
        return found
    return [(stored, _city(stored, language)), *found]


@cache
def _cities() -> frozenset[str]:
    """Return the names of time zones but for aliases: those of UTC and of the countries' cities."""
    table = (files("tzdata") / "zoneinfo" / "zone.tab").read_text()
    cities = {line.split("\t")[2] for line in table.splitlines() if not line.startswith("#")}
    return frozenset({"UTC", *cities} & zoneinfo.available_timezones())  # whose files are looked for: 600


@cache
def _time_zones(language: str) -> Choices:
    places = sorted(name for name in _cities() if name.partition("/")[0] in CONTINENTS)
    return [("UTC", [("UTC", "UTC")])] + [
        (str(CONTINENTS[continent]), [(name, _city(name, language)) for name in names])
        for continent, names in groupby(places, lambda name: name.partition("/")[0])
    ]


def _city(zone: str, language: str) -> str:
    script = {"zh-hant": 0, "zh-hans": 1}.get(language)
    english = (zone.partition("/")[2] or zone).replace("_", " ")
    return english if script is None or zone not in CITIES else f"{CITIES[zone][script]} ({english})"
