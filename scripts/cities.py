"""Write metacog/accounts/cities.py: what the cities of time zones are called in Chinese, from CLDR by Babel."""

from __future__ import annotations

import zoneinfo
from pathlib import Path

from babel import Locale
from babel.core import get_global

FILE = Path(__file__).resolve().parent.parent / "metacog" / "accounts" / "cities.py"
HEAD = '''"""What the cities of time zones are called in traditional and in simplified Chinese.

Made by scripts/cities.py from the Unicode CLDR (https://cldr.unicode.org, Unicode License V3).
"""

CITIES = {
'''


def main() -> None:
    known_as = get_global("zone_aliases")
    names = [Locale.parse(locale).time_zones for locale in ("zh_Hant", "zh_Hans")]
    lines = []
    for zone in sorted(zoneinfo.available_timezones()):
        cities = [each.get(zone, each.get(known_as.get(zone, ""), {})).get("city", "") for each in names]
        if all(cities):
            lines.append(f'    "{zone}": ("{cities[0]}", "{cities[1]}"),\n')
    FILE.write_text(HEAD + "".join(lines) + "}\n")


if __name__ == "__main__":
    main()
