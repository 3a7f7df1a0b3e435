"""The settings on a team's page as a browser sends them: all fields of all tabs, as the page shows them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from django.urls import reverse


class _Fields(HTMLParser):
    """What belongs to the form of the settings."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self._select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        name, value = given.get("name") or "", given.get("value")
        if tag == "select":
            self._select = name if given.get("form") == "settings" else ""
        elif tag == "option" and self._select and "selected" in given:
            self.values[self._select] = value or ""
        elif tag == "input" and given.get("form") == "settings":
            is_box = given.get("type") == "checkbox"
            if not is_box or "checked" in given:
                self.values[name] = value if value is not None else "on" if is_box else ""


def shown(client: Any, team: Any) -> dict[str, str]:
    """Return the fields that a team's page shows."""
    return _Fields(client.get(reverse("team"), {"team": team.pk}).content.decode()).values


def save(client: Any, team: Any, **changes: str | None) -> Any:
    """Press Save with some fields changed; None leaves a box unticked."""
    return send(client, team, shown(client, team), **changes)


def send(client: Any, team: Any, fields: dict[str, str], **changes: str | None) -> Any:
    """Send what a page showed, with some fields changed."""
    wanted = {name: value for name, value in {**fields, **changes}.items() if value is not None}
    return client.post(reverse("team-settings", args=[team.pk]), wanted)
