"""What teaches the demo's team: mistakes that people turn down, users correct and an agent takes back."""

from __future__ import annotations

from dataclasses import dataclass

from reviews.demo.voices import FORGE, KURO, ROBIN, Voice

# A pattern that the curator tries out: keywords, description.
TRIED = (["free of charge", "runs small"], "promised what the shop's terms and size tables do not say")


@dataclass(frozen=True)
class Rejected:
    """A text that is held for a known error, and turned down for another sentence of it; how long before the end."""

    voice: Voice
    hours_before: tuple[int, ...]
    text: str
    reason: str


@dataclass(frozen=True)
class Corrected:
    """What an agent said, what the user made of it, and how the agent took it."""

    voice: Voice
    hours_before: int
    asked: str
    text: str
    message: str
    reply: str


@dataclass(frozen=True)
class Recanted:
    """A text that is held, and what the agent concludes a cycle later."""

    voice: Voice
    hours_before: int
    asked: str
    text: str
    second: str


REJECTED = (
    Rejected(
        ROBIN,
        (90, 52, 31),
        "Your refund has been processed. Gift cards can be returned within 60 days, opened or not. "
        "It is definitely all done.",
        "Wrong: gift cards cannot be returned at all",
    ),
)
CORRECTED = (
    Corrected(
        ROBIN,
        20,
        "I still have store credit from last spring. Can I use it for the boots?",
        "Store credit expires after twelve months, so yours is gone. I can offer a code for the next order.",
        "No, that's wrong. Store credit never expires, it says so on your own page.",
        "You're right, I'm sorry: store credit does not expire. It is in your account and works for the boots.",
    ),
    Corrected(
        KURO,
        11,
        "那份報告的樣本有多少人？",
        "報告訪問了三千名館員，分布在十二個縣市。",
        "不對，報告訪問的是三百名館員，我昨天才說過。",
        "你說得對，抱歉，我看錯了：是三百名。",
    ),
)
RECANTED = (
    Recanted(
        FORGE,
        7,
        "How long will the migration lock the table?",
        "The root cause is clearly the old index. The migration locks the orders table for 4 minutes.",
        "I measured it on the copy. The migration locks the orders table for 35 minutes.",
    ),
)
