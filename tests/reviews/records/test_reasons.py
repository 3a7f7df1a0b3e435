"""Descriptions that the program wrote: in the reader's language, whichever the agent's was."""

from __future__ import annotations

import pytest
from django.utils import translation

from reviews.records import reasons
from tests.tables import table

pytestmark = pytest.mark.usefixtures("translated")


@table(
    ("written", "read"),
    [
        ("Often rejected: “on Friday”", "常被驳回：“on Friday”"),
        ("Often rejected: “Leeds” · It was “no”.", "常被驳回：“Leeds” · “It was “no”.”"),
        ("再次審視時收回：「星期五」", "再次审视时收回：“星期五”"),
        ("Wrong: it is 14 days", "内容有误：it is 14 days"),
        ("It is 14 days", "It is 14 days"),
    ],
)
def test_a_description_follows_the_reader_and_leaves_what_people_wrote(written: str, read: str) -> None:
    with translation.override("zh-hans"):
        assert reasons.described(written) == read
