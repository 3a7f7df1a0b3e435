"""A real browser, where one is found."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.staticfiles.handlers import StaticFilesHandlerMixin
from django.core.signals import request_finished, request_started
from django.utils import timezone

from scripts.key_to_next import TELL
from tests.run import browsers

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
    "--enable-features=NetworkServiceInProcess2",  # a process of its own is told of each request and answer
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # a process of its own hands each picture over: a quarter of the browser's time
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

SCREEN = {"width": 1280, "height": 720}  # Playwright's own
# Refusals are shown in place, and a test may cut a connection.
EXPECTED = ("status of 4", "htmx:sendError", "htmx:timeout", "net::ERR_FAILED", "net::ERR_INTERNET_DISCONNECTED")


@pytest.fixture(scope="session", autouse=True)
def _files_stay() -> Iterator[None]:
    """Have the browser ask once for each script and style sheet: their names say nothing of their content here."""
    serve = StaticFilesHandlerMixin.serve

    def lasting(self: Any, request: Any) -> Any:
        answer = serve(self, request)
        answer["Cache-Control"] = "max-age=86400"
        return answer

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(StaticFilesHandlerMixin, "serve", lasting)
        yield


@pytest.fixture(autouse=True)
def _time_to_undo(settings: Any) -> None:
    """Give people minutes to undo: a busy machine may take longer than they would."""
    settings.UNDO_SECONDS = 600


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return a function that gives a browser, which shows notices or need not; without one the test is skipped.

    It is the system's, else Playwright's own.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    sync_api.expect.set_options(timeout=20_000)
    with sync_api.sync_playwright() as playwright:

        @functools.cache
        def started(path: str | None) -> Any:
            try:
                return playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
            except sync_api.Error as error:
                pytest.skip(f"no browser: {str(error).splitlines()[0]}; install chromium to run these")

        yield lambda with_notices: started(next(filter(None, map(shutil.which, browsers(with_notices))), None))


class Requests:
    """Knows what the server was asked and has not answered yet; its threads stay while the browser may ask more."""

    def __init__(self) -> None:
        self.under_way: set[int] = set()
        self.changed = threading.Condition()

    def begin(self, **_: Any) -> None:
        if "process_request_thread" in threading.current_thread().name:  # no test's own client, which may never end
            with self.changed:
                self.under_way.add(threading.get_ident())

    def end(self, **_: Any) -> None:
        with self.changed:
            self.under_way.discard(threading.get_ident())
            self.changed.notify_all()

    def wait(self) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: not self.under_way, timeout=20), "the server does not answer"


@pytest.fixture
def requests() -> Iterator[Requests]:
    found = Requests()
    request_started.connect(found.begin)
    request_finished.connect(found.end)
    yield found
    request_started.disconnect(found.begin)
    request_finished.disconnect(found.end)


@pytest.fixture(scope="session")
def idle(browser: Any) -> dict[str, list[Any]]:
    """Keep pages that were used, by the options of their context: to open another takes longer than most tests do."""
    return defaultdict(list)


def park(page: Any) -> None:
    """Leave nothing of a test in a page; on the same site, since for any other the browser starts a process."""
    page.unroute_all(behavior="ignoreErrors")
    page.goto("/healthz")
    page.evaluate("localStorage.clear(), sessionStorage.clear()")
    page.context.clear_cookies()
    page.mouse.move(-1, -1)
    page.emulate_media(media="null", color_scheme="null", reduced_motion="null")


@pytest.fixture
def open_page(
    browser: Any, live_server: Any, as_person: Any, requests: Requests, idle: dict[str, list[Any]]
) -> Iterator[Any]:
    """Return a function that gives a page of a signed-in person; what the browser complains of fails the test."""
    from playwright.sync_api import Error

    from metacog.models import Heartbeat

    used, complaints = [], []

    def threw(error: Any) -> None:
        complaints.append(str(error))

    def said(message: Any) -> None:
        if message.type == "error" and not any(told in message.text for told in EXPECTED):
            complaints.append(message.text)

    def opened(person: Any, *, viewport: dict[str, int] = SCREEN, **options: Any) -> Any:
        with_notices = "notifications" in options.get("permissions", ())
        # What one keeps must not answer for the server in other tests.
        options = {"java_script_enabled": True, "service_workers": "block"} | options
        kept = idle[repr(sorted(options.items()))]
        if kept:
            page = kept.pop()
        else:
            page = browser(with_notices).new_context(base_url=live_server.url, **options).new_page()
            page.set_default_timeout(20_000)
            page.add_init_script(TELL)
        used.append((page, kept))
        page.set_viewport_size(viewport)
        Heartbeat.objects.update_or_create(name="worker", defaults={"at": timezone.now()})  # else each page tells of it
        session = as_person(person).cookies["sessionid"].value
        page.context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page.on("pageerror", threw)
        page.on("console", said)
        return page

    yield opened
    for page, kept in used:
        page.remove_listener("pageerror", threw)
        page.remove_listener("console", said)
        try:
            park(page)
        except Error:  # it asks whether to leave it, or crashed
            page.context.close()
        else:
            kept.append(page)
    requests.wait()  # what is still under way must not meet the next test's database
    assert not complaints, "\n".join(complaints)
