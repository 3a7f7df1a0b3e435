"""Write metacog/accounts/times/cities.py: what the cities of time zones are called in Chinese, from CLDR by Babel."""

from __future__ import annotations

import zoneinfo
from collections import defaultdict
from importlib.resources import files
from pathlib import Path

from babel import Locale
from babel.core import get_global

FILE = Path(__file__).resolve().parent.parent / "metacog/accounts/times/cities.py"
HEAD = '''"""What the cities of time zones are called in traditional and in simplified Chinese.

Made by scripts/cities.py from the Unicode CLDR (https://cldr.unicode.org, Unicode License V3).
"""

CITIES = {
'''


def other_names() -> dict[str, list[str]]:
    """Return the aliases of each time zone; the CLDR keeps the first name that a zone had: Calcutta, not Kolkata."""
    aliases = defaultdict(list)
    for line in (files("tzdata") / "zoneinfo" / "tzdata.zi").read_text().splitlines():
        kind, *names = line.split()
        if kind == "L":
            aliases[names[0]].append(names[1])
    return aliases


def main() -> None:
    known_as, aliases = get_global("zone_aliases"), other_names()
    names = [Locale.parse(locale).time_zones for locale in ("zh_Hant", "zh_Hans")]
    lines = []
    for zone in sorted(zoneinfo.available_timezones()):
        called = [zone, known_as.get(zone, ""), *(each for each in aliases[zone] if known_as.get(each) == zone)]
        cities = [next((city for name in called if (city := each.get(name, {}).get("city"))), "") for each in names]
        if all(cities):
            lines.append(f'    "{zone}": ("{cities[0]}", "{cities[1]}"),\n')
    FILE.write_text(HEAD + "".join(lines) + "}\n")


if __name__ == "__main__":
    main()
