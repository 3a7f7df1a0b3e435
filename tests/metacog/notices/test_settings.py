"""The mail server, as it stands in the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from metacog import settings as module
from tests.tables import table

SENDER = "metacog <metacog@example.org>"


@pytest.fixture
def read(monkeypatch: Any) -> Any:
    """Return a function that reads a server and a sender, and gives what was read and what is wrong."""

    def given(url: str, sender: str) -> tuple[Any, list[str]]:
        problems: list[tuple[str, str]] = []
        monkeypatch.setattr(module, "CONFIG_PROBLEMS", problems)
        monkeypatch.setitem(module._ENV, "METACOG_SMTP_URL", url)
        monkeypatch.setitem(module._ENV, "METACOG_MAIL_FROM", sender)
        return module._mail(), [" ".join(problem) for problem in problems]

    return given


@pytest.mark.parametrize(
    "url", ["smtp://mail.example.org", "smtp://u%40x:p%3A@mail.example.org:587/", "smtps://mail:465", "smtp://[::1]:25"]
)
def test_it_reads_a_server(url: str, read: Any) -> None:
    (server, sender), problems = read(url, SENDER)
    assert (server.geturl(), sender, problems) == (url, SENDER, [])


@table(
    ("url", "said"),
    [
        ("smtp://u%40x:p%3A@mail.example.org", ["mail.example.org", 587, True, False, "u@x", "p:"]),
        ("smtps://mail.example.org", ["mail.example.org", 465, False, True, "", ""]),
        ("smtp://127.0.0.1:25", ["127.0.0.1", 25, False, False, "", ""]),
        ("smtp://localhost.example.org:25", ["localhost.example.org", 25, True, False, "", ""]),
    ],
)
def test_only_a_server_on_this_machine_is_spoken_to_in_clear(url: str, said: list[Any]) -> None:
    names = ["HOST", "PORT", "USE_TLS", "USE_SSL", "HOST_USER", "HOST_PASSWORD"]
    code = f"import json, metacog.settings as s; print(json.dumps([getattr(s, 'EMAIL_' + name) for name in {names}]))"
    environment = {**os.environ, "METACOG_SMTP_URL": url, "METACOG_MAIL_FROM": SENDER}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == said


def test_without_both_there_is_no_mail(read: Any) -> None:
    assert read("", "") == ((None, ""), [])


@pytest.mark.parametrize(
    ("url", "sender", "said"),
    [
        ("", SENDER, "go together"),
        ("smtp://mail", "", "go together"),
        *((f"{url}", SENDER, "METACOG_SMTP_URL is not an address") for url in (
            "mail:25", "http://u:hidden@mail", "smtp://", "smtp://mail:99999", "smtp://mail:0", "smtp://mail/inbox",
            "smtp://u:hidden@mail?tls=no", "smtp://[::1",
        )),
        *(("smtp://u:hidden@mail", sender, "METACOG_MAIL_FROM is not an email address") for sender in (
            "metacog", "a@b, c@d", "metacog <a@b>\nBcc: c@d", "@example.org",
        )),
    ],
)  # fmt: skip
def test_it_says_what_is_wrong_and_repeats_no_password(url: str, sender: str, said: str, read: Any) -> None:
    found, [problem] = read(url, sender)
    assert found == (None, "")
    assert said in problem
    assert "hidden" not in problem
