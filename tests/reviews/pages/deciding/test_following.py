"""The item that follows one, fetched before it is shown, and the answer to a page that has gone on."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from reviews.models import HeldItem, Looking
from tests.tables import table

HTMX = {"hx-request": "true"}


class TestFollowing:
    @pytest.fixture
    def held(self, kuro: Any) -> list[str]:
        return [kuro.hold() for _ in range(3)]

    def test_it_gives_what_the_server_would_show_next_and_looks_at_nothing(
        self, alice: Any, as_person: Any, held: list[str]
    ) -> None:
        answer = as_person(alice).get(reverse("item-next", args=[held[0]]), headers=HTMX)
        assert f'data-held="{held[1]}"' in answer.content.decode()
        assert answer["HX-Push-Url"] == reverse("item", args=[held[1]])
        assert not Looking.objects.exists()

    def test_it_leaves_out_what_the_page_has_decided(self, alice: Any, as_person: Any, held: list[str]) -> None:
        client = as_person(alice)
        address = reverse("item-next", args=[held[0]])
        answer = client.get(address, {"without": held[1]}, headers=HTMX)
        assert f'data-held="{held[2]}"' in answer.content.decode()
        assert client.get(address, {"without": held[1:]}, headers=HTMX).status_code == 204

    def test_shown_at_once_it_is_looked_at(self, alice: Any, as_person: Any, held: list[str]) -> None:
        as_person(alice).get(reverse("item-next", args=[held[0]]), {"now": 1}, headers=HTMX)
        assert Looking.objects.get().held.public_id == held[1]

    def test_of_another_team_there_is_none(self, mallory: Any, as_person: Any, held: list[str]) -> None:
        assert as_person(mallory).get(reverse("item-next", args=[held[0]]), headers=HTMX).status_code == 404


@table(("asked", "has_list"), [({"list": "1"}, True), ({}, False)], rolled_back=True)
def test_a_page_that_went_on_hears_what_was_done_and_what_it_shows_is_looked_at(
    alice: Any, as_person: Any, kuro: Any, asked: dict[str, str], has_list: bool
) -> None:
    held, other = kuro.hold(), kuro.hold()
    item = HeldItem.objects.get(public_id=held)
    form = {"verdict": "approve", "version": item.version, "sha256": item.sha256, "opened": other} | asked
    page = as_person(alice).post(reverse("decide", args=[held]), form, headers=HTMX).content.decode()
    assert 'id="told"' in page
    assert "Approved" in page
    assert ('id="rows"' in page) is has_list
    assert 'id="item"' not in page
    assert Looking.objects.get().held.public_id == other
