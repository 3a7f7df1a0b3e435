"""The two settings about callbacks, as they stand in the environment."""

from __future__ import annotations

from typing import Any

import pytest

from metacog import settings as module


@pytest.fixture
def problems(monkeypatch: pytest.MonkeyPatch) -> Any:
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(module, "CONFIG_PROBLEMS", found)
    return found


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("", set()),
        ("http://127.0.0.1:9000", {"http://127.0.0.1:9000"}),
        (" HTTP://Agent.Internal:80/ ,https://[::1]:9443,", {"http://agent.internal:80", "https://[::1]:9443"}),
    ],
)
def test_it_reads_origins(given: Any, read: Any, problems: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module._ENV, "METACOG_CALLBACK_ALLOW", given)
    assert module._origins("METACOG_CALLBACK_ALLOW") == read
    assert problems == []


@pytest.mark.parametrize(
    "entry",
    ["10.0.0.1:9000", "http://10.0.0.1", "http://agent:9000/hook", "ftp://agent:21", "http://u:p@agent:80",
     "http://agent:99999", "http://:80", "*", "http://[::1:80"],
)  # fmt: skip
def test_it_refuses_what_is_no_origin_and_repeats_no_password(
    entry: str, problems: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(module._ENV, "METACOG_CALLBACK_ALLOW", f"http://good:1,{entry}")
    assert module._origins("METACOG_CALLBACK_ALLOW") == {"http://good:1"}
    [(problem, hint)] = problems
    assert problem == "Entry 2 of METACOG_CALLBACK_ALLOW is not written scheme://host:port."
    assert entry not in problem + hint


@pytest.mark.parametrize(
    ("given", "read"), [("", None), ("5", (5.0,)), ("0", (0.0,)), ("1, 2.5 ,30", (1.0, 2.5, 30.0))]
)
def test_it_reads_a_schedule(given: Any, read: Any, problems: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module._ENV, "METACOG_CALLBACK_SCHEDULE", given)
    assert module._pauses("METACOG_CALLBACK_SCHEDULE") == read
    assert problems == []


@pytest.mark.parametrize("given", ["soon", "1,", "-1", "1e3", "nan", "1;2", "99999999", ",".join("1" * 101), "١"])
def test_it_refuses_what_is_no_schedule(given: Any, problems: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(module._ENV, "METACOG_CALLBACK_SCHEDULE", given)
    assert module._pauses("METACOG_CALLBACK_SCHEDULE") is None
    assert [problem for problem, _ in problems] == ["METACOG_CALLBACK_SCHEDULE is not a list of seconds."]
