"""How numbers are written on Chinese pages where Django would have it otherwise: it sets no thousands apart."""

THOUSAND_SEPARATOR = ","
NUMBER_GROUPING = 3
