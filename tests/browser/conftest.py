"""A real browser, where one is found."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import pytest

# The browser's driver runs its own event loop in this thread; the tests' own queries are no concern of it.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

# Chromium hears the last of such lists only, so Playwright's own comes first. Each window would else draw two pages in
# its address bar before anything is typed, and keep a process ready for another site.
UNUSED = [
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "SpareRendererForSitePerProcess",
]
ARGUMENTS = [
    f"--disable-features={','.join(UNUSED)}",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Refusals are shown in place, a decision ends a poll that is under way, and a test may cut a connection.
EXPECTED = ("status of 4", "htmx:afterRequest", "htmx:sendAbort", "htmx:sendError", "htmx:timeout", "net::ERR_FAILED")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start the system's Chromium, else Playwright's own; without either the test is skipped, and says so."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    sync_api.expect.set_options(timeout=20_000)
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_api.sync_playwright() as playwright:
        try:
            started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        except sync_api.Error as error:
            pytest.skip(f"no browser: {str(error).splitlines()[0]}; install chromium to run these")
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any, live_server: Any, as_person: Any) -> Iterator[Any]:
    """Return a function that gives a page of a signed-in person; what the browser complains of fails the test."""
    contexts, complaints = [], []

    def opened(person: Any, **options: Any) -> Any:
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        session = as_person(person).cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: complaints.append(message.text)
            if message.type == "error" and not any(told in message.text for told in EXPECTED)
            else None,
        )
        return page

    yield opened
    for context in contexts:
        context.close()
    # What the server was asked last may still be under way, and must not meet the next test's database.
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(20)
    assert not complaints, "\n".join(complaints)
