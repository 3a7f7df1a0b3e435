"""How an invented agent speaks: what it is asked and answers, in templates filled by chance.

The words are in the .toml files beside this one. No Django here: the agent that goes on posting speaks
with the same voices.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID


@dataclass(frozen=True)
class Turn:
    """What an agent is asked and what it answers, with {slots}.

    `better` is how a person would put it, `why` what is wrong with it as it stands; `wrong` is how often
    (0 to 1) it is turned down. Turns that are meant to pass need none of them.
    """

    question: str
    text: str
    kind: str = "chat"
    topic: str = ""
    better: str = ""
    why: Sequence[str] = ()
    wrong: float = 0.2
    extra: Mapping[str, Any] = field(default_factory=dict)  # further fields of the posted body


@dataclass(frozen=True)
class Said:
    """A turn with its slots filled: the fields of a posted body, and what a second look may make of it."""

    turn: Turn
    fields: dict[str, Any]
    better: str


@dataclass(frozen=True)
class Voice:
    """One agent: what it says calmly, and what makes metacog look twice."""

    name: str
    language: str
    a_day: int  # posts on a weekday, and on a day of the weekend
    a_weekend_day: int
    hours: tuple[int, int]  # in UTC, between which most of them come
    session: str  # what its conversations are called before their number
    modes: Sequence[str]
    openings: Sequence[str]
    closings: Sequence[str]
    slots: Mapping[str, Sequence[str]]
    calm: Sequence[Turn]
    risky: Sequence[Turn]
    # Why the agent, on its second look, withdraws a text, edits it or stands by it.
    withdraws: Sequence[str]
    edits: Sequence[str]
    stands: Sequence[str]

    def say(self, turn: Turn, chance: random.Random, cycle: int) -> Said:
        """Fill a turn's slots, each with the same word in question, answer and better answer."""
        words = {name: chance.choice(choices) for name, choices in self.slots.items()}
        words |= {
            "order": f"{chance.randrange(41_000, 58_000)}",
            "amount": f"{chance.randrange(900, 24_000) / 100:.2f}",
            "number": f"{chance.randrange(3, 48)}",
            "ticket": f"{chance.randrange(1_100, 2_900)}",
            "share": f"{chance.randrange(4, 39)}",
            "version": f"{chance.randrange(3, 6)}.{chance.randrange(0, 20)}.{chance.randrange(0, 9)}",
        }
        text = turn.text.format_map(words)
        if turn.kind == "chat" and turn not in self.risky:
            # The opening and closing words keep calm answers from looking like copies of each other.
            text = f"{chance.choice(self.openings)}{text}{chance.choice(self.closings)}"
        fields: dict[str, Any] = {
            "id": str(UUID(int=chance.getrandbits(128), version=4)),
            "response": text,
            "items": [{"kind": turn.kind, "text": text}],
            "user_message": turn.question.format_map(words),
            "session": f"{self.session}-{cycle // 4}",  # a conversation is about four turns long
            "cycle": cycle,
            "mode": chance.choice(self.modes),
            **turn.extra,
        }
        if turn.topic:
            fields["topics"] = [turn.topic.format_map(words)]
        return Said(turn, fields, turn.better.format_map(words))


def _read(name: str) -> Voice:
    """Read a voice from its file."""
    told: dict[str, Any] = tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))
    return Voice(**told | {part: [Turn(**turn) for turn in told[part]] for part in ("calm", "risky")})


ROBIN, FORGE, KURO, PILOT = (_read(name) for name in ("robin", "forge", "kuro", "pilot"))
