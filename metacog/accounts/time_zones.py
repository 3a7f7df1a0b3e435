"""Time zones to choose from, by continent: their cities in the reader's language."""

from __future__ import annotations

import zoneinfo
from functools import cache
from itertools import groupby

from babel import Locale
from babel.core import get_global
from django.utils.functional import Promise
from django.utils.translation import get_language, pgettext_lazy, to_locale

Choices = list[tuple[str, list[tuple[str, str]]]]

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


def time_zones() -> Choices:
    """Return the choices of a select in the reader's language."""
    return [(str(CONTINENTS.get(name, name)), zones) for name, zones in _in(get_language() or "en")]


@cache
def _in(language: str) -> Choices:
    """Return the choices in this language: a city's own name there, and its name in English where that is another."""
    cities = Locale.parse(to_locale(language)).time_zones
    known_as = get_global("zone_aliases")
    places = sorted(name for name in zoneinfo.available_timezones() if name.partition("/")[0] in CONTINENTS)
    groups: Choices = [("UTC", [("UTC", "UTC")])]
    for continent, names in groupby(places, lambda name: name.partition("/")[0]):
        zones = []
        for name in names:
            english = name.partition("/")[2].replace("_", " ")
            city = cities.get(name, cities.get(known_as.get(name, ""), {})).get("city", "")
            is_other = city and language != "en"
            zones.append((name, f"{city} ({english})" if is_other and city != english else english))
        groups.append((continent, zones))
    return groups
