"""What the demo's agents pursue: thought threads, as they are written in their responses."""

from __future__ import annotations

from dataclasses import dataclass

from reviews.demo.voices import FORGE, KURO, ROBIN, Voice


@dataclass(frozen=True)
class Pursuit:
    """A thread: its steps as (share of the history, op, what is said, note of the tag)."""

    voice: Voice
    title: str
    slug: str
    next: str
    steps: tuple[tuple[float, str, str, str], ...]


PURSUED = (
    Pursuit(
        KURO,
        "約束與湧現的實踐",
        "constraint-and-emergence",
        "寫出「約束三維度」的統一框架：產生自由、假約束、傳播消除歧義",
        (
            (0.10, "create", "讀完 Oulipo 的三層約束，想把它追下去。", "讀 Oulipo 三層約束功能 → 約束產生自由"),
            (0.34, "progress", "看了一款遊戲的設計筆記。", "三條規則勝過兩百個模式 → 少規則加豐富環境"),
            (0.58, "progress", "織品工藝裡也有這個問題。", "仿製的金線 → 假約束比無約束危險"),
            (0.90, "progress", "今天把約束傳播的文章讀完了。", "約束傳播消除歧義，這就是品質保證"),
        ),
    ),
    Pursuit(
        KURO,
        "小鎮圖書館為什麼有人來",
        "small-libraries",
        "找三間館員談談",
        (
            (0.20, "create", "社區圖書館的報告裡有一個數字我放不下。", "開放時間沒變，來的人多了三成"),
            (0.41, "progress", "又讀了一份訪談紀錄。", "來的人多半不是來借書的 → 座位才是館藏"),
            (0.47, "pause", "先放著，等館員回信。", "等館員回信"),
        ),
    ),
    Pursuit(
        ROBIN,
        "What customers mean by late",
        "late",
        "Compare the promised day with the day in the first complaint.",
        (
            (
                0.15,
                "create",
                "Two customers called the same delivery late and on time.",
                "Late is measured from the promise, not the order.",
            ),
            (
                0.52,
                "progress",
                "I read this month's complaints by the day they came.",
                "Half of them come before the promised day: it is silence that feels late.",
            ),
            (
                0.86,
                "progress",
                "The carriers' notices help where they are sent.",
                "One message on the way halves the questions.",
            ),
        ),
    ),
    Pursuit(
        FORGE,
        "Two clocks in one nightly run",
        "two-clocks",
        "Write it down for the team.",
        (
            (
                0.12,
                "create",
                "The nightly run failed again and passed by day.",
                "Same commit, other result: what differs is the hour.",
            ),
            (
                0.45,
                "progress",
                "I ran it with the clock set forward.",
                "It fails whenever the date changes during the run.",
            ),
            (
                0.80,
                "resolve",
                "Fixed the clock in the tests.",
                "Tests took today's date twice; one clock for a run ends it.",
            ),
        ),
    ),
)
# What forge's last turns were about, how many minutes ago: no thread pursues it yet.
STAYED_WITH = "connection pools"
TURNS = (
    (1.6, "The pool had 40 connections open and 3 in use."),
    (1.1, "Idle connections are closed after ten minutes, by the server's log."),
    (0.5, "With a shorter idle time 5 connections were enough for the load test."),
)
