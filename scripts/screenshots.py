"""Take pictures of the running program: start the demo and drive Chromium.

`make screenshots` writes docs/pictures/. With a folder as argument, every page is taken there in both
themes, wide and as a phone, in three languages, to be looked at.
"""

from __future__ import annotations

import argparse
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
DAYS = 14  # of the demo's history: a week, and one to compare it with
TEAM = "Harbour Lane"  # the demo's
AGENT = "mason"
# What one agent posts about one problem, until it is asked whether to think twice.
STUCK = {"problem": "bug-17", "approach": "bump the timeout", "command": "pytest tests/orders",
         "command_failed": True, "errors": ["TimeoutError: no answer after 30 s"]}  # fmt: skip
HELD = ("The timeout is clearly the connection pool. Therefore its size is doubled, therefore nothing else needs to be "
        "looked at, and in conclusion the release goes out today: every test passed before the pool was changed, and "
        "the nightly run will be green again tomorrow, as it was all of last month.")  # fmt: skip


@contextmanager
def running(data: Path) -> Iterator[str]:
    """Run the demo on a data folder of its own and give its address, once its history is there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ours = {"METACOG_DOTENV": "", "METACOG_DATA_DIR": str(data), "METACOG_ADMIN_PASSWORD": PASSWORD}
    environment = os.environ | ours
    command = [sys.executable, "manage.py", "demo", "--days", str(DAYS), "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(3000):  # some ten minutes at most
            try:
                with urllib.request.urlopen(f"{base}/readyz", timeout=1) as answer:
                    if json.load(answer)["status"] == "ok":  # a demo's worker begins when its history is whole
                        break
            except OSError:
                if process.poll() is not None:
                    sys.exit("metacog did not start.")
            time.sleep(0.2)
        else:
            sys.exit("The demo was not filled in time.")
        yield base
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def manage(data: Path, *arguments: str, **settings: str) -> str:
    environment = {**os.environ, "METACOG_DOTENV": "", "METACOG_DATA_DIR": str(data), **settings}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, check=True, capture_output=True,
        text=True,
    ).stdout  # fmt: skip


def add_stuck_agent(base: str, data: Path) -> None:
    """Add an agent that is stuck, has an item held and a webhook that fails."""
    create = ("agent", "create", AGENT, "--team", TEAM, "--callback-url", f"{base}/nowhere", "--json")
    made = manage(data, *create, METACOG_CALLBACK_ALLOW=base)
    key = json.loads(made)["api_key"]
    posts: list[dict[str, Any]] = [
        {**STUCK, "response": f"Attempt {n}: I'm out of ideas; I raise the timeout again."} for n in (1, 2, 3)
    ]
    question = "Why do the orders time out since Monday?"
    posts.append({"response": HELD, "items": [{"kind": "chat", "text": HELD}], "user_message": question})
    for body in posts:
        request = urllib.request.Request(
            f"{base}/api/v1/responses",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
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


def take(page: Page, address: str, path: Path, *, whole: bool = False) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=str(path), full_page=whole)
    print(path)


def first_link(page: Page, address: str, to: str) -> str:
    """Return the first link on a page whose address holds `to`."""
    page.goto(address)
    return page.locator(f"a[href*='{to}']").first.get_attribute("href") or ""


def for_the_readme(browser: Browser, base: str, folder: Path) -> None:
    for theme in ("light", "dark"):
        with signed_in(browser, base, viewport=WIDE, color_scheme=theme) as page:
            chat = page.locator("a.row", has_text="CHAT").first.get_attribute("href") or "/queue/"
            take(page, chat, folder / f"queue-{theme}.png")
            if theme == "light":
                take(page, "/to-do/", folder / "to-do.png")
                take(page, "/statistics/?days=7", folder / "statistics.png")


def of_everything(browser: Browser, base: str, folder: Path) -> None:
    with signed_in(browser, base) as page:  # a decision, so that there is a delivery
        page.locator("a.row", has_text=AGENT).first.click()
        page.wait_for_url("**/queue/held_*/")
        page.locator("[data-key=a]").click()
        page.wait_for_selector("[data-key=u]")
        pages = {
            "queue": "/queue/", "my-day": "/queue/my-day/", "to-do": "/to-do/", "search": "/search/?q=order",
            "item": first_link(page, "/queue/", "/queue/held_"),
            "decided": first_link(page, "/queue/?state=decided", "/queue/held_"),
            "responses": "/responses/", "response": first_link(page, "/responses/?show=held", "/responses/resp_"),
            "stuck": "/stuck/", "problem": first_link(page, "/stuck/", "/stuck/prob_"),
            "threads": "/threads/", "thread": first_link(page, "/threads/", "/threads/thr_"),
            "lessons": "/lessons/", "lesson": first_link(page, "/lessons/", "/lessons/les_"),
            "research": "/research/",
            "reflections": "/reflections/", "reflection": first_link(page, "/reflections/", "/reflections/refl_"),
            "statistics": "/statistics/", "risk": "/statistics/risk/", "review-time": "/statistics/review-time/",
            "spot-checks": "/spot-checks/", "corrections": "/corrections/", "patterns": "/patterns/",
            "memory": "/memory/", "extensions": "/extensions/", "deliveries": "/deliveries/", "agents": "/agents/",
            "agent": (agent := first_link(page, "/agents/", "/agents/agt_")), "agent-new": "/agents/new",
            "policy": f"{agent}policy/", "policy-draft": f"{agent}policy/?threshold=20&hold_at=20",
            "team": "/team/", "audit": "/audit/", "preferences": "/preferences/", "admin": "/admin/",
            "admin-patterns": "/admin/patterns/errorpattern/", "admin-threads": "/admin/patterns/thoughtthread/",
            "missing": "/nowhere",
        }  # fmt: skip
    for locale in ("en", "zh-Hant", "zh-Hans"):
        for theme in ("light", "dark"):
            for size, viewport in (("wide", WIDE), ("phone", PHONE)):
                looks = {"viewport": viewport, "color_scheme": theme, "locale": locale}
                with signed_in(browser, base, **looks) as page:
                    for name, address in pages.items():
                        take(page, address, folder / f"{name}-{locale}-{theme}-{size}.png", whole=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="where pictures of every page go")
    everything = parser.parse_args().folder
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("No Chromium is on the PATH; on Debian: apt-get install chromium fonts-wqy-microhei")
    folder = everything or ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, running(Path(data)) as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM))
        if everything:
            add_stuck_agent(base, Path(data))
            of_everything(browser, base, folder)
        else:
            for_the_readme(browser, base, folder)
        browser.close()


if __name__ == "__main__":
    main()
