"""Amounts of money in arguments: a number and its currency, whole units or the smallest ones."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

_NAMES = ("currency", "currency_code", "currencycode", "ccy", "asset", "unit")
_NUMBER = re.compile(r"-?\d[\d,._' ]*")
_WORDS = ("all", "top", "try")  # in an argument's name they are no currencies
_MAX = 40  # characters of an amount


class Amount(NamedTuple):
    """An amount: in whole units where the currency says how many small ones make one, else as it stands."""

    value: Decimal
    currency: str  # ISO 4217 in capitals; "": not said

    def __str__(self) -> str:
        written = f"{self.value:f}"
        if "." in written:
            written = written.rstrip("0").rstrip(".")
        return f"{written} {self.currency}".rstrip()


@cache
def _currencies() -> Mapping[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("currencies.json").read_bytes())
    return data | {name: frozenset(data[name].split()) for name in ("codes", "no_decimals", "three_decimals")}


def is_currency(text: str) -> bool:
    return text.lower() in _currencies()["codes"]


def read(value: Any, key: str, beside: Mapping[str, Any], *, in_minor: bool = False) -> Amount | None:
    """Read an argument as an amount; `beside` are the arguments next to it, one of which may say the currency.

    `in_minor`: the server counts the smallest unit, as Stripe does. An argument whose name says so does, too.
    """
    number, currency = _parts(value)
    if number is None:
        return None
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower())
    currency = currency or next((word for word in words if is_currency(word) and word not in _WORDS), "")
    currency = currency or _currency(beside)
    if in_minor or not {"cents", "cent", "minor", "pence"}.isdisjoint(words):
        number = number.scaleb(-_decimals(currency))
    return Amount(number, currency.upper())


def _parts(value: Any) -> tuple[Decimal | None, str]:
    if isinstance(value, Mapping):
        given = next((value[name] for name in ("value", "amount", "number", "units") if name in value), None)
        return _parts(given)[0] if not isinstance(given, Mapping) else None, _currency(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None, ""
    text = str(value).strip()
    if len(text) > _MAX:
        return None, ""
    currency = ""
    if isinstance(value, str):
        for sign, code in _currencies()["signs"].items():
            if sign in text:
                text, currency = text.replace(sign, "").strip(), code
                break
        if (word := re.search(r"[A-Za-z]+", text)) and is_currency(word[0]):
            text, currency = text.replace(word[0], "").strip(), word[0].lower()
        text = text.removeprefix("+")
        if not _NUMBER.fullmatch(text):
            return None, ""
        text = re.sub(r"[,_' ](?=\d{3})", "", text)
        text = re.sub(r",(\d{1,2})$", r".\1", text)
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None, ""
    return (number, currency) if number.is_finite() and abs(number.adjusted()) <= _MAX else (None, "")


def _currency(beside: Mapping[str, Any]) -> str:
    for name, value in beside.items():
        if name.lower().replace("-", "_").endswith(_NAMES) and isinstance(value, str) and is_currency(value.strip()):
            return value.strip().lower()
    return ""


def _decimals(currency: str) -> int:
    known = _currencies()
    return 0 if currency in known["no_decimals"] else 3 if currency in known["three_decimals"] else 2
