"""What somebody finds who opens the address of a form by itself, from the history or by typing it."""

from typing import Any

from django.test import Client

from tests.tables import table


@table(
    ("address", "page"),
    [
        ("/queue/held_x/decide", "/queue/held_x/"),
        ("/queue/together/decide", "/queue/together/"),
        ("/decisions/dec_x/undo", "/"),
        ("/stuck/prob_x/answer", "/stuck/prob_x/"),
        ("/memory/conflicts/7", "/memory/"),  # and not the memory whose id would be "conflicts"
        ("/team/members/7/remove", "/team/"),
        ("/patterns/decide", "/patterns/"),
        ("/preferences/notices/test", "/preferences/"),
        ("/admin/logout/", "/admin/"),
        ("/theme", "/"),
    ],
    rolled_back=True,
)
def test_it_is_told_that_a_form_is_sent_there_and_led_to_the_page_of_the_form(
    olga: Any, as_person: Any, address: str, page: Any
) -> None:
    answer = as_person(olga).get(address)
    assert answer.status_code == 405
    assert "POST" in answer["Allow"]
    assert "No page at this address" in answer.content.decode()
    assert f'<a class="btn" href="{page}">' in answer.content.decode()


def test_it_is_told_so_before_signing_in_where_the_form_needs_none(db: None) -> None:
    answer = Client().get("/sign-out/")
    assert answer.status_code == 405
    assert "No page at this address" in answer.content.decode()


def test_a_form_that_is_sent_to_a_page_is_only_refused(olga: Any, as_person: Any) -> None:
    answer = as_person(olga).post("/queue/")
    assert (answer.status_code, answer["Allow"], answer.content) == (405, "GET, HEAD", b"")
