"""Time zones to choose from, by continent: their cities in the reader's language."""

from __future__ import annotations

import zoneinfo
from functools import cache
from itertools import groupby

from django.utils.functional import Promise
from django.utils.translation import get_language, pgettext_lazy

from metacog.accounts.cities import CITIES

# Those that people look for; no abbreviations, no aliases of the machine's.
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


def time_zones() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the choices of a select: a city's name in the reader's language, and beside it in English."""
    return _time_zones(get_language() or "")


@cache  # 600 files are looked for
def _time_zones(language: str) -> list[tuple[str, list[tuple[str, str]]]]:
    places = sorted(name for name in zoneinfo.available_timezones() if name.partition("/")[0] in CONTINENTS)
    script = {"zh-hant": 0, "zh-hans": 1}.get(language)
    return [("UTC", [("UTC", "UTC")])] + [
        (str(CONTINENTS[continent]), [(name, _city(name, script)) for name in names])
        for continent, names in groupby(places, lambda name: name.partition("/")[0])
    ]


def _city(zone: str, script: int | None) -> str:
    english = zone.partition("/")[2].replace("_", " ")
    return english if script is None or zone not in CITIES else f"{CITIES[zone][script]} ({english})"
