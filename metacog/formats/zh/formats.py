"""How numbers and days are written on Chinese pages where Django would have it otherwise.

It sets no thousands apart, and writes the 2nd of January 01月2日 where no year stands, 2026年1月2日 where one does.
"""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
MONTH_DAY_FORMAT = "n月j日"
