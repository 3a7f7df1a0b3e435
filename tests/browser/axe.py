"""What axe finds wrong with a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# The rules that look at colours.
OF_COLOURS = ("color-contrast", "link-in-text-block")
RUN = """async (options) => (await axe.run(options)).violations
    .map((fault) => [fault.id, fault.nodes.map((node) => node.html)])"""


def faults(page: Any, rules: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """Give each rule that a page breaks once nothing loads, with its elements; all rules are asked if none is named.

    No address of an element is made up: finding one takes axe as long as many of its rules.
    """
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    expect(page.locator(".htmx-request")).to_have_count(0)  # what is not there yet is pale
    if not page.evaluate("'axe' in window"):  # half a megabyte, which a page keeps
        page.evaluate(Axe().axe_script)
    options = {"resultTypes": ["violations"], "selectors": False} | ({"runOnly": list(rules)} if rules else {})
    found: list[tuple[str, list[str]]] = page.evaluate(RUN, options)
    return found
