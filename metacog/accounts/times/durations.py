"""Durations as people type and read them: "7 days", "1 h 30 min", "90", 「7 天」; stored as a whole number."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

SECOND, MINUTE, HOUR, DAY = 1, 60, 3_600, 86_400
_NAMES = {
    SECOND: ("s", "sec", "secs", "second", "seconds", "秒", "秒鐘", "秒钟"),
    MINUTE: ("m", "min", "mins", "minute", "minutes", "分", "分鐘", "分钟"),
    HOUR: ("h", "hr", "hrs", "hour", "hours", "時", "时", "小時", "小时", "個小時", "个小时", "鐘頭", "钟头"),
    DAY: ("d", "day", "days", "天", "日"),
    7 * DAY: ("w", "week", "weeks", "週", "周", "星期", "個星期", "个星期", "禮拜", "礼拜"),
}
UNITS = {name: size for size, names in _NAMES.items() for name in names}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([^\W\d_]*)\.?")
_BETWEEN = re.compile(r"(?:\s|,|、|\band\b|又|零)*")
LONGEST = 100  # characters


def parse(text: str, unit: int = SECOND) -> int | None:
    """Read a duration and return it in seconds; None when it is none. A number alone counts `unit` seconds each."""
    text = unicodedata.normalize("NFKC", text).strip().lower()
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)  # 604,800
    if not text or len(text) > LONGEST:
        return None
    total, at, smallest = Decimal(0), 0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if not part:
            return None
        number, name = part.groups()
        size = UNITS.get(name) if name else unit
        is_alone = part.end() == len(text) and at == 0
        # Units go from large to small, each once: "1 h 30" is 30 of nothing, "30 min 1 h" a slip of the hand.
        if size is None or (not name and not is_alone) or (smallest and size >= smallest):
            return None
        total, smallest = total + Decimal(number) * size, size
        gap = _BETWEEN.match(text, part.end())
        at = gap.end() if gap else part.end()
    return int(total) if total == int(total) else None


def in_words(seconds: int) -> str:
    """Say a duration exactly: "7 days", "1 h 30 min"."""
    days, rest = divmod(seconds, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    told = [ngettext("%(count)d day", "%(count)d days", days) % {"count": days}] if days else []
    told += [_("%(count)d h") % {"count": hours}] if hours else []
    told += [_("%(count)d min") % {"count": minutes}] if minutes else []
    if rest or not told:
        told.append(_("%(count)d s") % {"count": rest})
    return " ".join(told)


class DurationField(forms.CharField):
    """A duration as text; its value is a whole number of `unit` seconds from 1 to `most`."""

    def __init__(self, *, most: int, unit: int = SECOND, **kwargs: Any) -> None:
        self.most, self.unit = most, unit
        super().__init__(max_length=LONGEST, **kwargs)
        self.widget.attrs |= {"class": "duration", "autocomplete": "off", "spellcheck": "false"}

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        seconds = parse(text, self.unit)
        if seconds is None:
            examples = _("7 days, 4 h, 90 min, 1 h 30 min")
            number = _("a number of seconds") if self.unit == SECOND else _("a number of minutes")
            raise ValidationError(
                _("“%(text)s” is not a duration. Write it like %(examples)s, or as %(number)s.")
                % {"text": text, "examples": examples, "number": number}
            )
        if seconds % self.unit:
            raise ValidationError(_("Enter whole minutes."))
        count = seconds // self.unit
        if count < 1:
            raise ValidationError(_("At least %(duration)s.") % {"duration": in_words(self.unit)})
        if count > self.most:
            raise ValidationError(_("At most %(duration)s.") % {"duration": in_words(self.most * self.unit)})
        return count

    def prepare_value(self, value: Any) -> Any:
        """Give a stored number, or what can be read as a duration, in words; anything else as it was typed."""
        text = "" if value is None else str(value)
        seconds = parse(text, self.unit)
        return in_words(seconds) if seconds else text

    def in_words(self, count: int) -> str:
        """Say a stored value."""
        return in_words(count * self.unit)
