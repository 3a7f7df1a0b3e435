"""A log is cut into records in constant memory, from any of them on."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest

from reviews.logs import records
from reviews.logs.records import Record, Records
from reviews.logs.sources import Log
from tests.tables import table

ODD = [{"a": 'x"\\{[', "b": [{"runs": [1]}]}, {"é": "\\"}, {}, {"n": "\n", "t": ["]}"]}, {"last": '\\"'}]
LINES = "\n".join(map(json.dumps, ODD)).encode()
SHAPES = [
    LINES,
    b"\n\n" + LINES + b"\n",
    json.dumps(ODD, indent=2, ensure_ascii=False).encode(),
    json.dumps({"meta": {"data": [{"no": 1}]}, "ids": ["x", "]"], "runs": ODD, "more": [[{"no": 2}]]}).encode(),
    json.dumps({"trace": {"id": "t", "observations": ODD}}, indent=1).encode(),
]


def cut(raw: bytes, state: Any = None) -> Records:
    return Records(Log(io.BytesIO(raw)), state)


@table("raw", SHAPES)
def test_every_record_is_found_whatever_stands_in_it(raw: bytes) -> None:
    for block in (1, 2, 3, 7, 100_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(records, "_BLOCK", block)
            assert [record.value for record in cut(raw)] == ODD


@table("raw", [*SHAPES, b'id,input,traceId\n1,"a\nb",t\n\n2,c,t\n', *map(gzip.compress, SHAPES)])
def test_reading_goes_on_behind_any_record(raw: bytes) -> None:
    whole = list(cut(raw))
    assert len(whole) >= 2
    for done in range(1, len(whole)):
        reader = cut(raw)
        begun = iter(reader)
        before = [next(begun) for _ in range(done)]
        state = json.loads(json.dumps(reader.state))
        assert before + list(cut(raw, state)) == whole


def test_a_record_that_is_too_long_is_told_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_RECORD", 40)
    long = {"text": "x" * 100}
    for raw in (
        json.dumps({"a": 1}) + "\n" + json.dumps(long) + "\n" + json.dumps({"b": 2}),
        json.dumps([{"a": 1}, long, {"b": 2}]),
        json.dumps({"data": [{"a": 1}, long, {"b": 2}]}),
    ):
        found = list(cut(raw.encode()))
        assert [record.value for record in found] == [{"a": 1}, None, {"b": 2}]
        assert str(found[1].fault).startswith("It is longer than")


def test_a_first_line_that_is_too_long_is_a_record_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_RECORD", 60)
    long = {"metadata": {"data": [{}]}, "messages": [{"role": "user", "content": "x"}, {"role": "assistant"}]}
    found = list(cut((json.dumps(long) + "\n" + json.dumps({"messages": []})).encode()))
    assert [(record.line, record.value) for record in found] == [(1, None), (2, {"messages": []})]


def test_a_document_that_is_one_record_is_one() -> None:
    value = {"messages": [{"role": "user", "content": "Hi"}], "run_type": "llm"}
    assert list(cut(json.dumps(value, indent=2).encode())) == [Record(1, value)]
