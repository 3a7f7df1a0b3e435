"""Every file of CSV: a spreadsheet that opens it runs nothing of what agents and people have named."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from django.core.management import call_command
from django.urls import URLPattern, get_resolver
from django.utils import timezone

from metacog.http import csv_file
from metacog.models import Team, User
from reviews.metrics import daily
from tests.conftest import _agent
from tests.tables import table

# Each with what holds a name in it.
FILES = {
    "queue-export": "/queue/export?format=csv&state=decided",
    "responses-export": "/responses/export/?format=csv",
    "search-export": "/search/export/?format=csv&q=cause",
    "audit-export-as": "/audit/export.csv",
    "statistics-csv": "/statistics.csv",
    "statistics-data": "/statistics/data/all.csv",
    "review-time-data": "/statistics/review-time.csv",
    "learned-risk-data": "/statistics/risk.csv",
    "spot-checks-data": "/spot-checks.csv",
    "corrections-data": "/corrections.csv",
}
NOT_CSV = {"audit-export", "patterns-export", "threads-export", "lessons-export", "session-export"}
WITHOUT_NAMES = {"learned-risk-data", "review-time-data", "spot-checks-data", "corrections-data", "search-export"}
RUN = re.compile(r"[\s\u200b;,|'\"]*[=+\-@＝＋－＠﹦]|[\t\r\n]")


def cells(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")) for cell in row]


# What else begins with something that is run: `test_a_number_stays_one_and_a_text_is_quoted`, by which all are written.
@table("name", ['=HYPERLINK("http://x.example";"a")', "﹦1+1", "'=1+1"], rolled_back=True)
def test_no_name_is_run(aurora: Any, alice: Any, as_person: Any, decide: Any, undo_at_once: None, name: str) -> None:
    Team.objects.update(name=name)
    User.objects.update(username=name[:30])
    kuro = _agent(Team.objects.get(), name)
    held = kuro.hold(session=name, metadata={"run": name})
    client = as_person(User.objects.get())
    decide(client, held, "reject", reason=name)
    daily.count_days(timezone.now())
    told = {file: client.get(address).getvalue().decode() for file, address in FILES.items()}
    out = io.StringIO()
    call_command("export", "decisions", format="csv", stdout=out)
    for file, text in {**told, "command": out.getvalue()}.items():
        found = cells(text)
        assert [cell for cell in found if RUN.match(cell) and not cell.startswith("'")] == [], file
        assert f"'{name}" in found or file in WITHOUT_NAMES, file


def test_every_file_is_looked_at() -> None:
    named = [each.name or "" for each in get_resolver().url_patterns if isinstance(each, URLPattern)]
    assert {name for name in named if re.search("export|csv|-data$", name)} == FILES.keys() | NOT_CSV


@table(
    ("cell", "written"),
    [
        (-1, "-1"),
        (-0.5, "-0.5"),
        ("-1", '"\'-1"'),
        ("\u200b\u2060 =1", '"\'\u200b\u2060 =1"'),
        ("\t1", '"\'\t1"'),
        ("+1+1", '"\'+1+1"'),
        ("-2+3", '"\'-2+3"'),
        ("@SUM(A1)", '"\'@SUM(A1)"'),
        ("＝1+1", '"\'＝1+1"'),
        (";=1+1", '"\';=1+1"'),
        ("a=1", '"a=1"'),
        ("", '""'),
        (None, '""'),
    ],
)
def test_a_number_stays_one_and_a_text_is_quoted(cell: Any, written: str) -> None:
    file = io.StringIO()
    csv_file.write(file, [[cell]])
    assert file.getvalue() == f"{written}\r\n"
