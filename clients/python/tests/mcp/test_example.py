"""What stands in examples/mcp, run as it is written there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from driver import SECONDS

from metacog_client.mcp import proxy, serving

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "mcp"


def test_the_example_goes_through(metacog: Any, setting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = setting.drive([sys.executable, str(EXAMPLE / "client.py")], METACOG_SESSION=setting.run)
    first = metacog.next_pending(setting.run)
    assert first["name"] == "mcp__bank__transfer"
    metacog.decide(first["id"], "edit", arguments={"to": "DE89 3704", "eur": 15}, reason="The fee is ours.")
    metacog.decide(metacog.next_pending(setting.run)["id"], "reject", reason="Ask Ann first.")
    assert driver.process.wait(SECONDS) == 0
    lines = "".join(iter(driver.next, None)).splitlines()
    waits = "Waiting for a review of mcp__bank__transfer"
    assert [line.partition(":")[0] for line in lines] == [waits, "done", "done", waits, "error"]
    assert lines[1] == "done: 15 EUR are on their way to DE89 3704."
    assert "Ask Ann first." in lines[-1]


@pytest.mark.parametrize("name", ["claude_desktop_config.json", "claude_code.mcp.json", "cursor.mcp.json"])
def test_each_configuration_is_a_command_line(name: str) -> None:
    servers = json.loads((EXAMPLE / name).read_text())["mcpServers"]
    assert servers.keys() == {"metacog", "bank"}
    read = {"mcp": serving.read_options, "mcp-proxy": proxy.read_options}
    for server in servers.values():
        command, *arguments = server["args"]
        assert read[command](arguments)
        assert server["env"].keys() == {"METACOG_URL", "METACOG_API_KEY"}
