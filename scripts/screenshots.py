"""Take pictures of the running program: start it with a few invented responses and drive Chromium.

`make screenshots` writes docs/pictures/. With a folder as argument, every page is taken there in both
themes, wide and as a phone, in three languages, to be looked at.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync")  # fmt: skip
PASSWORD = "a-password-for-pictures"
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}

PATTERNS = [
    {"id": "ep-cause", "keywords": ["變慢的原因", "the root cause is"], "source": "alex-correction",
     "description": "cause named before it was measured", "createdAt": "2026-02-16T08:00:00Z", "triggerCount": 12},
    {"id": "ep-refund", "keywords": ["refund has", "entitled to a"], "source": "self-review",
     "description": "promised money without looking at the account", "createdAt": "2026-02-18T08:00:00Z",
     "triggerCount": 5},
    {"id": "ep-flaky", "keywords": ["flaky, so", "skip the test"], "source": "alex-correction",
     "description": "removed a failing test instead of the fault", "createdAt": "2026-02-20T08:00:00Z",
     "triggerCount": 7},
]  # fmt: skip

# (agent, kind, text, what it answers)
RESPONSES = [
    ("support-bot", "remember", "Customers on the annual plan are obviously never entitled to a partial refund.",
     "Can I cancel my annual plan and get half of it back?"),
    ("builder", "task", "The root cause is clearly the connection pool: double its size in production.",
     "Why do requests time out since Monday?"),
    ("builder", "chat", "The test is obviously flaky, so I removed it. The suite is green again, and nothing else "
     "needs to be done before the release.", "The nightly build fails in test_retry. Can you look at it?"),
    ("support-bot", "chat", "Your refund has definitely been processed. Therefore nothing more is needed from you, "
     "and therefore the case is closed. In conclusion, the amount of 84.50 will arrive in your account today, whatever "
     "your bank says, and you can rely on that date when you plan your payments for the rest of this month.",
     "I sent the shoes back two weeks ago. Where is my money?"),
    ("kuro", "remember", "快取一定是這次變慢的原因，所以之後都應該先清快取再部署。因此，每次部署\u200b之前清空快取"
     "就能避免問題，結論是快取策略需要重寫。", "為什麼今天部署後變慢？"),
]  # fmt: skip


@contextmanager
def running(data: Path) -> Iterator[str]:
    """Run the program on a data folder of its own and give its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "METACOG_DATA_DIR": str(data), "METACOG_ADMIN_PASSWORD": PASSWORD}
    command = [sys.executable, "manage.py", "up", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{base}/readyz", timeout=1)
                break
            except OSError:
                if process.poll() is not None:
                    sys.exit("metacog did not start.")
                time.sleep(0.2)
        yield base
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def manage(data: Path, *arguments: str) -> str:
    environment = {**os.environ, "METACOG_DATA_DIR": str(data)}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True, capture_output=True,
        text=True,
    ).stdout  # fmt: skip


def fill(base: str, data: Path) -> None:
    """Make three agents and post the invented responses, the last one last."""
    keys = {}
    for name, language in (("kuro", "zh-hant"), ("builder", "en"), ("support-bot", "en")):
        made = manage(data, "agent", "create", name, "--team", "Default", "--language", language, "--json")
        keys[name] = json.loads(made)["api_key"]
    patterns = data / "patterns.json"
    patterns.write_text(json.dumps(PATTERNS))
    manage(data, "patterns", "import", str(patterns), "--team", "Default")
    for cycle, (agent, kind, text, question) in enumerate(RESPONSES, 1200):
        body = {"response": text, "items": [{"kind": kind, "text": text}], "user_message": question, "cycle": cycle}
        request = urllib.request.Request(
            f"{base}/api/v1/responses",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {keys[agent]}", "Content-Type": "application/json"},
        )
        urllib.request.urlopen(request, timeout=10)


@contextmanager
def signed_in(browser: Browser, base: str, **context: Any) -> Iterator[Page]:
    with browser.new_context(base_url=base, **context) as visit:
        page = visit.new_page()
        page.goto("/sign-in/")
        page.fill("[name=username]", "admin")
        page.fill("[name=password]", PASSWORD)
        page.press("[name=password]", "Enter")
        page.wait_for_url("**/queue/**")
        yield page


def take(page: Page, address: str, path: Path) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=str(path))
    print(path)


def for_the_readme(browser: Browser, base: str, folder: Path) -> None:
    for theme in ("light", "dark"):
        with signed_in(browser, base, viewport=WIDE, color_scheme=theme) as page:
            take(page, "/queue/", folder / f"queue-{theme}.png")


def of_everything(browser: Browser, base: str, folder: Path) -> None:
    for locale in ("en", "zh-Hant", "zh-Hans"):
        for theme in ("light", "dark"):
            for size, viewport in (("wide", WIDE), ("phone", PHONE)):
                with signed_in(browser, base, viewport=viewport, color_scheme=theme, locale=locale) as page:
                    page.goto("/queue/")
                    first = page.locator("a[href*='/queue/held_']").first.get_attribute("href") or "/queue/"
                    page.goto("/responses/")
                    response = page.locator("a[href*='/responses/resp_']").first.get_attribute("href") or ""
                    page.goto("/agents/")
                    agent = page.locator("a[href*='/agents/agt_']").first.get_attribute("href") or ""
                    for name, address in (
                        ("queue", "/queue/"), ("item", first), ("responses", "/responses/"), ("response", response),
                        ("agents", "/agents/"), ("agent", agent), ("agent-new", "/agents/new"), ("team", "/team/"),
                        ("preferences", "/preferences/"), ("admin", "/admin/"),
                        ("admin-patterns", "/admin/patterns/errorpattern/"), ("missing", "/nowhere"),
                    ):  # fmt: skip
                        take(page, address, folder / f"{name}-{locale}-{theme}-{size}.png")


def main() -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("No Chromium is on the PATH; on Debian: apt-get install chromium fonts-wqy-microhei")
    everything = len(sys.argv) > 1
    folder = Path(sys.argv[1]) if everything else ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, running(Path(data)) as base, sync_playwright() as playwright:
        fill(base, Path(data))
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM))
        (of_everything if everything else for_the_readme)(browser, base, folder)
        browser.close()


if __name__ == "__main__":
    main()
