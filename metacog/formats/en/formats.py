"""How days are written on English pages: Nov 2, 2026, and Nov 2 where the year is plain."""

DATE_FORMAT = SHORT_DATE_FORMAT = "M j, Y"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "M j, Y H:i"
MONTH_DAY_FORMAT = "M j"
YEAR_MONTH_FORMAT = "M Y"
TIME_FORMAT = "H:i"
