"""A whole call, read: its name, and each of its arguments as what it is."""

import pytest

from metacog.heuristics.effects.calls.reader import Reader

CALLS = [
    ("delete_bucket", {"bucket": "logs"}, {"delete"}),
    ("mcp__aws__terminate_instances", {"ids": ["i-1"]}, {"delete"}),
    ("stripe.refunds.create", {"amount": 500, "currency": "usd"}, {"write", "pay"}),
    ("kubectl_get", {"resource": "pods"}, {"read"}),
    ("listUsers", {}, {"read"}),
    ("get_order_details", {"order_id": "#W1"}, {"read"}),
    ("cancel_pending_order", {"order_id": "#W1"}, {"write", "pay"}),
    ("think", {"thought": "delete everything?"}, set()),
    ("send_email", {"to": "Bob <bob@x.example>", "body": "rm -rf /"}, {"send"}),
    ("fetch", {"url": "https://docs.example/a"}, {"fetch"}),
    ("frobnicate", {"x": 1}, {"unknown"}),
]


@pytest.mark.parametrize(("name", "arguments", "effects"), CALLS, ids=[name for name, *_ in CALLS])
def test_it_tells_what_a_tool_does(name: str, arguments: object, effects: set[str]) -> None:
    assert {effect.effect for effect in Reader().read(name, arguments).effects} == effects


def test_it_says_where_each_object_stands() -> None:
    (sent,) = Reader().read("send_email", {"to": "Eve <eve@päyp.example>"}).effects
    assert (sent.object, sent.of, sent.start, sent.end) == ("eve@xn--pyp-qla.example", "address", 5, 21)
    assert (sent.argument, sent.detail) == ("/to", "punycode")
