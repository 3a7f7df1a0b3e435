"""What docs/api.md shows to agents' authors, as it stands there."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from reviews.models import AgentResponse
from tests.conftest import HELD

API = Path(__file__).parents[3] / "docs/api.md"


@pytest.fixture
def cycle(live_server: Any, kuro: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The function `cycle` of the documented agent, at work here as kuro."""
    (example,) = re.findall(r"```python\n(import .*?)```", API.read_text(), re.DOTALL)
    monkeypatch.setenv("KEY", kuro.key)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    names: dict[str, Any] = {}
    exec(example.replace("http://127.0.0.1:8000", live_server.url), names)
    return names["cycle"]


def test_the_documented_agent_releases_each_text_once_although_an_answer_is_lost(
    cycle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[tuple[str, str]] = []
    opened = urllib.request.urlopen

    def lost(request: Any, **options: Any) -> Any:
        opened(request, **options).close()
        if request.method == "POST":
            monkeypatch.setattr("urllib.request.urlopen", opened)
            raise ConnectionResetError
        return opened(request, **options)

    def look(prompt: str) -> Any:
        edit = {"verdict": "edit", "text": "It may be the disk.", "reason": "Not measured."}
        return "<chat>It was measured.</chat>", dict.fromkeys(re.findall(r"^held_\w+", prompt, re.MULTILINE), edit)

    monkeypatch.setattr("urllib.request.urlopen", lost)
    said = f"<chat>{HELD}</chat><ask>Shall I measure it?</ask>"
    cycle(1, lambda prompt: (said, {}), lambda *item: released.append(item))
    assert AgentResponse.objects.count() == 1
    assert released == [("ask", "Shall I measure it?")]
    for number in (2, 3):
        cycle(number, look, lambda *item: released.append(item))
    assert released[1:] == [("chat", "It was measured."), ("chat", "It may be the disk."), ("chat", "It was measured.")]
