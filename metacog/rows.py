"""Comparing several columns at once, as one place in an index."""

from __future__ import annotations

from django.db.models import Func, IntegerField


class Row(Func):
    """Several values as one, to be compared with another `Row` of as many by Django's own lookups.

    An index serves such a comparison whole. Django's `Tuple` is spelled out with OR on SQLite, and none serves that.
    """

    template = "(%(expressions)s)"
    output_field = IntegerField()  # never read: some field must say that it can be compared
