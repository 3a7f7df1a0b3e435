"""Send what a page shows as a file: CSV for spreadsheets, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse

from metacog.http import csv_file
from reviews.presentation.statistics.tables import Table

TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def one(table: Table, name: str, form: str, **about: Any) -> HttpResponse:
    """Send one table; JSON says `about` what it is, too."""
    answer = _file(name, form)
    if form == "csv":
        csv_file.write(answer, [table.columns, *table.rows])
    else:
        answer.write(_json({**about, "rows": table.records()}))
    return answer


def many(tables: Mapping[str, Table], name: str, form: str, **about: Any) -> HttpResponse:
    """Send several tables as one file; in CSV a line for each value, with the names of its table and column."""
    answer = _file(name, form)
    if form == "json":
        answer.write(_json({**about, "tables": {key: table.records() for key, table in tables.items()}}))
        return answer
    lines = [
        [key, place, column, value]
        for key, table in tables.items()
        for place, row in enumerate(table.rows, 1)
        for column, value in zip(table.columns, row, strict=True)
    ]
    csv_file.write(answer, [["table", "row", "column", "value"], *lines])
    return answer


def _json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1) + "\n"


def _file(name: str, form: str) -> HttpResponse:
    return HttpResponse(
        content_type=TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}.{form}"', "Cache-Control": "no-store"},
    )
