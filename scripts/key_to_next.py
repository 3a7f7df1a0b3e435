"""How long a key takes to the next item: decide a queue by keyboard in a real browser, on a demo of its own.

    .venv/bin/python scripts/key_to_next.py [--count N] [--every SECONDS] [--busy CORES]

An agent posts N items that are held; they are approved with one press of A every so many seconds, while so many cores
are kept busy. The time is from the press until the next item has been painted, as the browser's clock has it. A press
is lost where no decision came of it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.screenshots import CHROMIUM, TEAM, manage, running, signed_in

TEXT = "The timeout is clearly the connection pool, which is obviously too small: doubling it is item {}."
# What differs in a number alone is one row of the queue.
WORDS = ["".join(syllables) for syllables in product(("ba", "de", "ki", "lo", "mu", "no"), repeat=4)]
# Has a page tell what its desk is, whatever name its content gives the module.
TELL = """addEventListener("DOMContentLoaded", async () => {
    const script = document.querySelector("script[src*='/desk.']");
    if (script) window.desk = await import(script.src);
})"""


def when(condition: str) -> str:
    """Return a function of the page that tells whether a condition holds of its desk."""
    return f"() => {{ const state = window.desk?.state(); return Boolean(state && ({condition})); }}"


# Written down from the press of a key that decides, or undoes, until the frame in which another item is shown.
WATCH = """() => {
    const times = window.keyToNext = [], presses = [];
    let shown = document.getElementById("item").dataset.held;
    addEventListener("keydown", ({ key, timeStamp }) => {
        if (key === "u" && desk.state().keys.length) presses.pop();
        else if (["a", "u", "Enter"].includes(key)) presses.push(timeStamp);
    }, true);
    new MutationObserver(() => {
        const held = document.getElementById("item")?.dataset.held;
        if (!held || held === shown) return;
        shown = held;
        const began = presses.shift();
        if (began) requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - began), 0));
    }).observe(document.getElementById("desk"), { childList: true });
}"""

# Nothing that was pressed waits, and each decision is answered.
IDLE = when("!state.keys.length && !state.decisions.length && !state.isSending && !state.isBusy")


def figures_of(times: list[float]) -> dict[str, int]:
    """Give the median, the 90th and 95th percentile and the longest of some times, in milliseconds."""
    ordered = sorted(times)
    of = {"median": statistics.median(ordered), "longest": ordered[-1]}
    of |= {f"p{part}": ordered[int(len(ordered) * part / 100)] for part in (90, 95)}
    return {f"{name}_ms": round(value) for name, value in of.items()}


def post_items(base: str, data: Path, count: int) -> str:
    """Have an agent post items that are held, and return its id."""
    made = json.loads(manage(data, "agent", "create", "keys", "--team", TEAM, "--json"))
    for first in range(0, count, 20):
        texts = [TEXT.format(word) for word in WORDS[first : min(first + 20, count)]]
        items = [{"kind": "chat", "text": text, "require_review": True} for text in texts]
        body = {"response": "\n".join(texts), "items": items}
        head = {"Authorization": f"Bearer {made['api_key']}", "Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(f"{base}/api/v1/responses", json.dumps(body).encode(), head))
    return str(made["id"])


def spin() -> None:
    while True:
        pass


@contextmanager
def kept_busy(cores: int) -> Iterator[None]:
    busy = [multiprocessing.Process(target=spin, daemon=True) for _ in range(cores)]
    for each in busy:
        each.start()
    yield
    for each in busy:
        each.terminate()


def press_all(page: Page, agent: str, count: int, every: float) -> tuple[list[float], int]:
    """Press A for each item; return the times of all but the last, which no item follows, and how many were decided."""
    page.add_init_script(TELL)
    page.goto(f"/queue/?agent={agent}")
    page.wait_for_selector("#approve")
    page.wait_for_timeout(1000)
    page.evaluate(WATCH)
    began = time.monotonic()
    for number in range(count):
        page.wait_for_timeout(max(0.0, began + number * every - time.monotonic()) * 1000)
        page.keyboard.press("a")
    page.wait_for_function(IDLE, timeout=300_000)
    times: list[float] = page.evaluate("keyToNext")
    page.goto(f"/queue/?agent={agent}")
    left = page.locator("#list-count").inner_text().strip()
    return times[: count - 1], count - int(left or 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--every", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--busy", type=int, default=0, metavar="CORES")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("No Chromium is on the PATH; on Debian: apt-get install chromium")
    with tempfile.TemporaryDirectory() as data, running(Path(data)) as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM))
        agent = post_items(base, Path(data), options.count)
        with signed_in(browser, base) as page, kept_busy(options.busy):
            times, decided = press_all(page, agent, options.count, options.every)
        browser.close()
    figures = figures_of(times)
    print("| presses | decided | median | 90th percentile | 95th | longest |\n|---|---|---|---|---|---|")
    busy = f", {options.busy} cores kept busy" if options.busy else ""
    print(
        f"| {options.count}, one every {options.every:g} s{busy} | {decided} "
        f"| {figures['median_ms']} ms | {figures['p90_ms']} ms | {figures['p95_ms']} ms | {figures['longest_ms']} ms |"
    )


if __name__ == "__main__":
    main()
