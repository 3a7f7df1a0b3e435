"""What the demo's agents look up: what the team remembers, and requests for more tool calls."""

from __future__ import annotations

from dataclasses import dataclass

from reviews.demo.voices import FORGE, KURO, ROBIN, Voice

HANDCARDS = (
    (
        ROBIN,
        "A customer's question is settled by the order, the carrier's scan or the terms; not by what usually happens. "
        "Two sources that agree are enough.",
    ),
    (
        FORGE,
        "Find what changed between the last good run and the first bad one. A graph or a log line settles it; "
        "reading more code after that does not.",
    ),
    (KURO, "一則說法要有出處與日期。兩個獨立來源一致就夠了；找不到第三個不是延長的理由。"),
)


@dataclass(frozen=True)
class Remembered:
    """Something that an agent has its team remember, so many days before the end."""

    days: float
    voice: Voice
    text: str
    topic: str = ""
    source: str = ""
    confidence: float | None = None


REMEMBERED = (
    Remembered(2.84, ROBIN, "Refunds reach the bank within three working days.", "refunds", "terms of 1 January", 0.9),
    Remembered(2.8, FORGE, "The nightly run starts at 02:15 UTC.", "nightly run", "ci/schedule.yml", 0.95),
    Remembered(
        2.75, FORGE, "The checkout pool holds 40 connections; 12 were in use at peak in the May load test.",
        "connection pools", "load test of May", 0.9,
    ),
    Remembered(2.6, KURO, "社區圖書館 2025 年的開放時數為每週 52 小時。", "圖書館", "年度報告第 12 頁", 0.9),
    Remembered(2.5, KURO, "織品修復用的金線含銀，濕度高於六成會變色。", "織品", "修復師訪談", 0.6),
    Remembered(2.2, ROBIN, "The size guide for shoes is two sizes off for children.", "size guide", "14 returns", 0.8),
    Remembered(1.1, ROBIN, "Refunds reach the bank within five working days.", "refunds", "a letter of the bank", 0.7),
    Remembered(
        0.12, FORGE,
        "Of every slow checkout since the sale the root cause is clearly the connection pool.",
        "connection pools", "", 0.8,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Answered:
    """How somebody answers a request, so many minutes later."""

    person: str
    minutes: int
    granted: int
    text: str
    guidance: str = ""


@dataclass(frozen=True)
class Asked:
    """A request for more tool calls, so many minutes before the end; without an answer it waits, or expires."""

    minutes: int
    voice: Voice
    problem: str
    reason: str
    evidence: tuple[str, ...]
    step: int = 5
    answered: Answered | None = None


ASKED = (
    Asked(
        3_900, FORGE, "checkout-p99", "Need the p99 of the payments gateway in the May load test",
        ("p99 of the checkout: 2.1 s since 09:40", "no deploy between 09:00 and 10:00"),
    ),
    Asked(
        3_880, FORGE, "checkout-p99", "How many connections does the checkout pool hold at peak in the May load test?",
        ("p99 of the payments gateway: 180 ms", "the pool reports waiting clients"), 8,
    ),
    Asked(
        3_300, KURO, "圖書館訪客", "還需要再思考一下", ("2025 年訪客增加三成", "開放時間沒有變"),
        answered=Answered("yating", 6, 0, "兩份報告已足以支持這個說法，先總結。"),
    ),
    Asked(
        2_950, ROBIN, "order-88213", "Need the carrier's scan history of parcel 3SKB20 since Monday",
        ("The order left on Monday", "The customer was home all week"),
    ),
    Asked(
        2_920, ROBIN, "order-88213", "I need more time for this", ("Scanned in Utrecht on Tuesday, nothing since",), 8,
        Answered("ines", 9, 2, "A parcel without a scan for two days is lost more often than late.",
                 "Ask the depot in Utrecht, by telephone."),
    ),
    Asked(1_700, FORGE, "flaky-export", "Almost there, please extend", ("test_export failed 3 of 20 runs",)),
    Asked(
        31, KURO, "金線變色", "需要更多資料", ("修復師說濕度高會變色", "館內濕度紀錄：五成八到六成三"),
    ),
    Asked(
        7, ROBIN, "order-90417", "Need more steps to finish the investigation",
        ("The refund was sent on 12 May", "The bank has no such payment", "The account number is a digit short"),
    ),
)  # fmt: skip
