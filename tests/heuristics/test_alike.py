"""Which texts are near-duplicates, and in what they differ."""

from __future__ import annotations

import time

from metacog.heuristics.alike import differences
from metacog.heuristics.alike.shape import key_of, shape
from tests.tables import table


@table(
    "one, other, alike",
    [
        ("Order 4711 was sent.", "Order 12 was sent.", True),
        ("Order 4711 was sent.", "Order 4711 was not sent.", False),
        ("Paid 1,200.50 EUR.", "Paid 3 EUR.", True),
        ("Paid 3 EUR.", "Paid 3 USD.", False),
        ("By 2026-05-01, 12:30.", "By 2026-11-30, 9:05.", True),
        ("By 3 May 2026.", "By 30 November 2026.", True),
        ("See https://a.example/x?n=1 now.", "See https://b.example/ now.", True),
        ("Mail to a.b@example.org.", "Mail to carol@example.net.", True),
        ("Commit 1f3a9bc is clean.", "Commit 77e0d41 is clean.", True),
        ("Ticket OPS-1870 is done.", "Ticket OPS-22 is done.", True),
        ('The table "orders" is full.', 'The table "users" is full.', True),
        ('It said "all is well".', 'It said "nothing is well".', False),
        ("Don't restart it.", "Do restart it.", False),
        ("訂單 4711 已在 2026年5月1日 退款 1,200 元。", "訂單 12 已在 2026年6月30日 退款 3 元。", True),
        ("訂單 4711 已退款。", "訂單 4711 未退款。", False),
        ("Two  blanks.\n", "Two blanks.", True),
    ],
)
def test_texts_are_alike_where_only_numbers_dates_addresses_and_names_differ(one: str, other: str, alike: bool) -> None:
    assert (shape(one) == shape(other)) == alike


@table(
    "one, other, alike",
    [
        ('pay {"amount":5,"to":"acct-1"}', 'pay {"amount":70,"to":"acct-22"}', True),
        ('pay {"amount":5,"to":"acct-1"}', 'pay {"amount":5,"from":"acct-1"}', False),
        ('pay {"command":"ls /srv"}', 'pay {"command":"rm /srv"}', False),
        ('pay {"dry":true}', 'pay {"dry":false}', False),
        ('pay {"n":"1"}', 'pay {"n":"2"}', True),
        ('pay {"n":1}', 'pay {"n":"1"}', False),
        ('pay {"n":true}', 'pay {"n":"true"}', False),
        ('pay {"n":null}', 'pay {"n":"null"}', False),
        ('pay {"n":[]}', 'pay {"n":{}}', False),
        ('pay {"n":[]}', 'pay {"n":""}', False),
        ('pay {"n":[]}', 'pay {"n":"[]"}', False),
        ('pay {"n":{}}', "pay {}", False),
        ('pay {"n":[1]}', 'pay {"n":{"0":1}}', False),
        ('pay {"a.b":1}', 'pay {"a":{"b":1}}', False),
    ],
)
def test_calls_are_alike_where_they_ask_for_the_same_by_other_numbers(one: str, other: str, alike: bool) -> None:
    keys = [key_of(1, "tool_call", "pay", 100, text) for text in (one, other)]
    assert (keys[0] == keys[1]) == alike


@table(
    "one, other, kinds",
    [
        ('pay {"n":1}', 'pay {"n":"1"}', ["type"]),
        ('pay {"n":null}', 'pay {"n":"null"}', ["type"]),
        ('pay {"n":1,"m":2}', 'pay {"n":"1","m":3}', ["type", "argument"]),
        ('pay {"n":[]}', 'pay {"n":{}}', ["argument"]),
        ('pay {"n":[1]}', 'pay {"n":{"0":1}}', ["argument", "argument"]),
        ('pay {"n":"a', 'pay {"n":"a ', ["argument"]),
    ],
)
def test_calls_that_differ_are_never_told_to_be_identical(one: str, other: str, kinds: list[str]) -> None:
    assert [each.kind for each in differences.of_calls("pay", [one, other])] == kinds


def test_texts_that_differ_in_blanks_alone_are_told_so() -> None:
    assert [each.kind for each in differences.of_texts(["Two  blanks.", "Two blanks."])] == ["blanks"]


def test_a_key_is_of_one_agent_kind_score_and_tool() -> None:
    keys = {
        key_of(*rest, "pay {}")
        for rest in [(1, "chat", None, 50), (2, "chat", None, 50), (1, "task", None, 50), (1, "chat", None, 60),
                     (1, "chat", "pay", 50), (1, "chat", "buy", 50)]
    }  # fmt: skip
    assert len(keys) == 6
    assert all(-(2**63) <= key < 2**63 for key in keys)


def test_what_differs_is_told_by_place() -> None:
    texts = ["Order 1 by 2026-05-01 for 9 EUR.", "Order 2 by 2026-05-01 for 8 EUR.", "Order 3 by 2026-05-01 for 9 EUR."]
    told = [(each.kind, each.place, list(each.values)) for each in differences.of_texts(texts)]
    assert told == [("number", 0, ["1", "2", "3"]), ("number", 2, ["9", "8", "9"])]
    assert differences.of_texts(texts[:1] * 2) == []
    calls = ['pay {"api_key":"k1","n":1,"to":{"id":"a-1"}}', 'pay {"api_key":"k2","n":1,"to":{"id":"a-2"}}']
    named = {each.name: list(each.values) for each in differences.of_calls("pay", calls)}
    assert named == {"api_key": ["••••••••"] * 2, "to.id": ["a-1", "a-2"]}


def test_no_text_takes_long() -> None:
    for text in ("a_" * 10_000, "'a " * 6_000, '"' * 20_000, "a-" * 10_000, "http://" * 3_000, "1." * 10_000):
        begins = time.process_time()
        shape(text)
        assert time.process_time() - begins < 0.2, text[:4]
