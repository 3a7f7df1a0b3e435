"""Tags in the Markdown that agents write: what is held, what is only told, and where people read of it."""

from __future__ import annotations

import html
import re
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.conftest import HELD
from tests.tables import table

CHAT = f"<kuro:chat>{HELD}</kuro:chat>"


def posted(kuro: Any, response: str, **fields: Any) -> dict[str, Any]:
    verdict: dict[str, Any] = kuro.respond(response, items=None, **fields)
    return verdict


@table(
    "response",
    [
        f"Steps:\n- ```sh\n  make\n  ```\n{CHAT}",
        f"```markdown\n# Doc\n```bash\nls\n```\nend\n```\n{CHAT}",
        f"```sh\nmake\n``` # done\n{CHAT}",
        f"It`s late.\n{CHAT}\nThat`s all.",
        f"A \\` and {CHAT} and `",
        f"<kuro:chat>{HELD} Run:\n```sh\nmake\n</kuro:chat>",
    ],
    rolled_back=True,
)
def test_what_stands_beside_code_is_held(kuro: Any, response: str) -> None:
    verdict = posted(kuro, response)
    assert [item["disposition"] for item in verdict["items"]] == ["hold"]
    assert (verdict["flags"], verdict["items"][0]["flags"]) == ([], [])


def test_what_is_cut_off_is_held_up_to_its_end(kuro: Any) -> None:
    verdict = posted(kuro, f"Thinking.\n<kuro:chat>{HELD} And so we")
    (item,) = verdict["items"]
    assert kuro.get(f"/held/{item['held']}").json()["text"] == f"{HELD} And so we"
    assert (verdict["flags"], item["flags"]) == (["tag-unclosed"], ["tag-unclosed"])


@table("sent", [None, []], rolled_back=True)
def test_what_stands_in_code_is_told_where_tags_are_read(kuro: Any, sent: list[Any] | None) -> None:
    verdict = kuro.respond(f"```js title=`a`\nx\n```\n{CHAT}", items=sent)
    assert (verdict["items"], verdict["flags"]) == ([], ["tag-in-code"] if sent is None else [])


def test_people_read_what_became_of_tags(kuro: Any, alice: Any, as_person: Any, contexts: None) -> None:
    client = as_person(alice)
    agent = reverse("agent", args=[kuro.id])
    kuro.respond(f'She wrote {{"flags": ["tag-in-code"]}} and {CHAT}.')
    client.get(agent)
    with CaptureQueriesContext(connection) as before:
        assert "have a flag" not in client.get(agent).content.decode()
    verdict = posted(kuro, f"Use `<kuro:chat>`. {CHAT} <kuro:chat>a <kuro:chat>b")
    held = verdict["items"][0]["held"]
    for address in (
        reverse("response", args=[verdict["id"]]),
        reverse("item", args=[held]),
        f"{reverse('together')}?held={held}",
    ):
        page = client.get(address).content.decode()
        assert "A tag is in code, so it was ignored" in page
        assert "The outer item contains its text and ends at the first closing tag; text between that tag and" in page
        assert "A tag is never closed, so its item runs to the end of the text." in page
    for _ in range(3):
        posted(kuro, f"`{CHAT}`")
    with CaptureQueriesContext(connection) as after:
        page = client.get(agent).content.decode()
    assert len(after) == len(before)
    (link,) = re.findall(r'Of its last 5 responses, 4 have a flag.*?<a href="([^"]*)"', page)
    listed = client.get(html.unescape(link)).context["rows"]
    assert len(listed) == 4
    assert verdict["id"] in [row.public_id for row in listed]
