"""What an agent was told before it answered, of which nobody need look for another source."""

import re
from collections.abc import Iterable
from functools import cached_property

from .lexicon import LANGUAGES
from .shadow import Shadow

MAX_GIVEN = 65_536  # characters of each text given to an agent that are looked at
MAX_SAYINGS = 256  # of one response that are looked for there
MAX_TOLD = 256  # figures of a session that are remembered, those of up to 24 characters
_REQUEST = 300  # characters in which it begins
OPENING_QUOTES = '"“「『«《'
_QUOTES = OPENING_QUOTES + "”」』»》"
_COUNTED = re.compile(r"([0-9]+(?:[.,][0-9]+)*)[\s-]?([%‰°]|[^\W\d_])?")
_SHARES = ("%", "‰", "°")  # 30 of anything is no 30 %
_MADE_UP = re.compile(rf"\W*(?:{'|'.join(language.MADE_UP for language in LANGUAGES)})")
# Of a number: commas between thousands, and zeros behind the point that say nothing.
_NOTHING = re.compile(r",(?=[0-9]{3})|(?:(\.[0-9]*[1-9])|\.)0+\Z")


class Given:
    """What an agent was told before it answered. A fact that stands there has its source there."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [text[:MAX_GIVEN] for text in texts]
        self._sayings_left = MAX_SAYINGS

    @cached_property
    def _text(self) -> str:
        return "\n".join([Shadow(text).text for text in self._texts])

    @cached_property
    def asks_to_invent(self) -> bool:
        """Tell whether something made up was asked for, in which nothing is claimed."""
        return any(_MADE_UP.match(Shadow(text[:_REQUEST]).text) for text in self._texts)

    @cached_property
    def _counted(self) -> set[tuple[str, str]]:
        """Each number with the first letter of what it counts; and without, where it is no share."""
        counted = set(_counted(self._text))
        return counted | {(number, "") for number, unit in counted if unit not in _SHARES}

    def holds(self, fact: str) -> bool:
        """Tell whether a figure, a date, a saying or a quotation, as its shadow reads, was given."""
        if not self._texts:
            return False
        numbers = [] if fact[0] in OPENING_QUOTES else _counted(fact)
        if not numbers:
            self._sayings_left -= 1
            return self._sayings_left >= 0 and fact.strip(_QUOTES) in self._text
        return all(map(self._holds_number, numbers))

    def _holds_number(self, counted: tuple[str, str]) -> bool:
        number, unit = counted
        # "30 miles" is what "a 30-mile walk" says; a single digit is everywhere.
        return counted in self._counted or (len(number) > 1 and unit not in _SHARES and (number, "") in self._counted)


def told(texts: Iterable[str], before: str = "") -> str:
    """Give the figures of what an agent was given, and those it was given `before`, to be given again as one text.

    Those named last stand last; the first ones are forgotten.
    """
    counted = [number + unit for text in texts for number, unit in _counted(Shadow(text[:MAX_GIVEN]).text)]
    if not counted:
        return before
    latest = dict.fromkeys(reversed([*before.split(), *(figure for figure in counted if len(figure) <= 24)]))
    return "\n".join([*latest][:MAX_TOLD][::-1])


def _counted(text: str) -> list[tuple[str, str]]:
    return [(_NOTHING.sub(r"\1", number), unit) for number, unit in _COUNTED.findall(text)]


NOTHING = Given(())
