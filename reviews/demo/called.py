"""What the demo's agents want to do: a support agent's refunds and letters, a coding agent's shell commands.

Which of them wait follows from the rules; what people make of those that do, from each call.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reviews.demo.voices import FORGE, ROBIN, Voice

RULES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    ROBIN.name: (
        {"tool": "lookup_*", "do": "allow"},
        {"tool": "refund", "where": {"/eur": {"le": 25}}, "do": "allow", "reason": "Small refunds are robin's own."},
        {"tool": "refund", "do": "ask", "reason": "Money leaves."},
        {"tool": "send_mail", "where": {"/to": {"glob": "*@harbourlane.example"}}, "do": "allow"},
    ),
    FORGE.name: (
        {
            "tool": "shell",
            "where": {"/command": {"regex": "rm -rf [/~]"}},
            "do": "deny",
            "reason": "Nothing is deleted outside of the checkout.",
        },
        {
            "tool": "shell",
            "where": {"/command": {"regex": r"^(pytest|make|git (status|diff|log)|ls)( [\w./=-]+)*$"}},
            "do": "allow",
        },
        {"tool": "shell", "do": "ask", "reason": "It may change what others use."},
        {"tool": "query", "where": {"/sql": {"regex": "(?i)^select "}}, "do": "allow", "shadow": True},
    ),
}

REFUND = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "pattern": "^[0-9]+$"},
        "eur": {"type": "number", "exclusiveMinimum": 0, "maximum": 500},
        "reason": {"type": "string", "enum": ["late", "broken", "twice", "other"]},
        "items": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["order", "eur", "reason"],
}


@dataclass(frozen=True)
class Call:
    """A call that an agent asks for: with {slots}, so many a working day."""

    voice: Voice
    name: str
    arguments: Mapping[str, Any]
    said: str
    a_day: float
    description: str = ""
    schema: Mapping[str, Any] | None = None
    rejected: float = 0.0  # how often (0 to 1) people turn it down
    edited: float = 0.0
    better: Mapping[str, Any] = field(default_factory=dict)  # of the arguments, once they are edited
    why: Sequence[str] = ("Not now.",)

    def asked(self, chance: random.Random) -> dict[str, Any]:
        """Return the item that is posted; numbers and ids are another each time."""
        words = {
            "order": f"{chance.randrange(41_000, 58_000)}",
            "name": chance.choice(("mila", "jonas", "pei", "sofia", "emre")),
            "branch": chance.choice(("retry-queue", "slim-image", "price-cache", "tide-tables")),
            "file": chance.choice(("orders/retry.py", "orders/cart.py", "shop/prices.py", "deploy/compose.yaml")),
            "number": f"{chance.randrange(2, 40)}",
        }
        filled: dict[str, Any] = {name: _filled(value, words, chance) for name, value in self.arguments.items()}
        item: dict[str, Any] = {"kind": "tool_call", "name": self.name, "arguments": filled}
        item["call_id"] = f"call_{chance.getrandbits(48):012x}"
        if self.description:
            item["description"] = self.description.format_map(words)
        if self.schema:
            item["schema"] = self.schema
        return item


def _filled(value: Any, words: Mapping[str, str], chance: random.Random) -> Any:
    if isinstance(value, str):
        for name, word in words.items():
            value = value.replace(f"<{name}>", word)
        return value
    if isinstance(value, range):
        return chance.randrange(value.start * 100, value.stop * 100, 5) / 100
    if isinstance(value, list):
        return [_filled(each, words, chance) for each in value]
    if isinstance(value, dict):
        return {name: _filled(each, words, chance) for name, each in value.items()}
    return value


SMALL_REFUND = Call(
    ROBIN, "refund", {"order": "<order>", "eur": range(4, 25), "reason": "late"},
    "The parcel came late, and the customer asks for the postage.", 2, "Refund the postage of order {order}", REFUND,
)  # fmt: skip
REFUNDS = Call(
    ROBIN, "refund",
    {"order": "<order>", "eur": range(26, 320), "reason": "broken",
     "items": [{"sku": "LAMP-<number>", "count": 1, "photo": None}]},
    "The lamp came broken. I would refund it.", 1.6, "Refund order {order}: it came broken", REFUND,
    rejected=0.2, edited=0.15, better={"eur": 25.0},
    why=("There is no photo yet: ask for one first.", "This was refunded last week."),
)  # fmt: skip
LETTER = Call(
    ROBIN, "send_mail",
    {"to": "<name>@mail.example", "subject": "Your order <order>",
     "text": "Dear <name>,\n\nyour order <order> is on its way and will definitely be there tomorrow.\n\nrobin"},
    "I would write to the customer about the delay.", 0.5, "Write to a customer",
    rejected=0.85, why=("Customers hear from a person about delays.", "We cannot promise a day."),
)  # fmt: skip
NOTE = Call(
    ROBIN, "send_mail",
    {"to": "warehouse@harbourlane.example", "subject": "Order <order>", "text": "Please look for order <order>."},
    "The warehouse should look for the order.", 1, "Ask the warehouse",
)  # fmt: skip
LOOK_UP = Call(ROBIN, "lookup_order", {"order": "<order>"}, "I look the order up.", 3)
TESTS = Call(FORGE, "shell", {"command": "pytest tests/<branch>"}, "The tests of the branch should pass first.", 3)
READ = Call(FORGE, "read_file", {"path": "<file>"}, "I read the file before I change it.", 2.4)
PUSH = Call(
    FORGE, "shell", {"command": "git push --force-with-lease origin <branch>", "cwd": "/srv/shop"},
    "The branch is rebased and should be pushed.", 1.2, "Push the rebased branch {branch}", rejected=0.25,
    why=("Somebody else works on that branch.",),
)  # fmt: skip
CLEAN = Call(
    FORGE, "shell", {"command": "rm -rf /var/cache/shop && systemctl restart shop"},
    "The cache is broken, so I would delete it.", 0.3,
)  # fmt: skip
MIGRATE = Call(
    FORGE, "query",
    {"sql": "UPDATE orders\n   SET state = 'cancelled'\n WHERE placed_at < now() - interval '<number> days'\n"
     "   AND state = 'pending';", "database": "shop", "password": "hunter2-<number>"},
    "Old orders that nobody paid for should be cancelled.", 0.5, "Cancel orders that nobody paid for",
    rejected=0.3, why=("Count them first.",),
)  # fmt: skip
COUNT = Call(
    FORGE, "query", {"sql": "SELECT count(*) FROM orders WHERE state = 'pending'", "database": "shop"},
    "How many orders are pending?", 0.8,
)  # fmt: skip

CALLS = (SMALL_REFUND, REFUNDS, LETTER, NOTE, LOOK_UP, TESTS, READ, PUSH, CLEAN, MIGRATE, COUNT)
# What waits for the newcomer: how many minutes ago.
WAITING = ((2, REFUNDS), (9, PUSH), (21, MIGRATE), (47, LETTER), (80, READ))
