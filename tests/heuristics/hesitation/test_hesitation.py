"""The seed's four signals: when each speaks, what it says, and where it points."""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics import Hesitation, Item, Scorer
from tests.tables import table

CALM = "word " * 41  # 205 characters without any term


def hesitate(response: str, *chats: str, patterns: list[dict[str, Any]] | None = None, **policy: Any) -> Hesitation:
    return Scorer(patterns or [], policy).hesitate(response, [Item("chat", chat) for chat in chats])


def signals(hesitation: Hesitation) -> list[tuple[str, str, int]]:
    return [(signal.type, signal.detail, signal.weight) for signal in hesitation.signals]


def evidence(hesitation: Hesitation) -> list[str]:
    return [span.text for signal in hesitation.signals for span in signal.spans]


def pattern(identifier: str, *keywords: str) -> dict[str, Any]:
    return {"id": identifier, "keywords": list(keywords), "description": f"about {identifier}"}


@table(
    ("response", "count"),
    [
        ("這一定是快取", 1),
        ("不可能", 1),
        ("顯然，毫無疑問，肯定是", 3),
        ("It is clearly so.", 1),
        ("OBVIOUSLY Definitely impossible", 3),
        ("indefinitely unclearly", 2),  # parts of words count in the seed
        ("不一定", 1),
        ("Clearly, clearly, clearly.", 3),
    ],
)
def test_it_counts_absolute_claims_without_a_source(response: str, count: int) -> None:
    detail = f"{count} absolute claim(s) without source"
    assert signals(hesitate(response)) == [("absolute-claim", detail, 20)]
    assert len(evidence(hesitate(response))) == count


@table("response", ["", "maybe", "一 定", "clear", "显然", "of course", "certainly", "def\u0131nitely"])
def test_it_leaves_near_misses_of_absolute_terms_alone(response: str) -> None:
    assert signals(hesitate(response)) == []


@table("source", ["來源", "source", "SOURCE", "resource", "open source", "ref: 3", "http", "HTTPS://example.org"])
def test_it_lets_any_source_excuse_absolute_claims(source: str) -> None:
    assert signals(hesitate(f"It is clearly so. {source}")) == []


@table("near", ["sauce", "来源", "ref 3", "reference", "htt", "ſource"])
def test_it_takes_nothing_else_for_a_source(near: str) -> None:
    assert len(hesitate(f"It is clearly so. {near}").signals) == 1


def test_it_recalls_a_past_error_by_any_keyword() -> None:
    hesitation = hesitate("Just raise the TimeOut, the timeout!", patterns=[pattern("ep-1", "never", "timeout")])
    assert signals(hesitation) == [("error-pattern", "matches past error: about ep-1", 30)]
    assert hesitation.matched_pattern_ids == ("ep-1",)
    assert [(span.start, span.end, span.text) for span in hesitation.signals[0].spans] == [
        (15, 22, "TimeOut"),
        (28, 35, "timeout"),
    ]


def test_it_counts_only_the_first_pattern_by_its_place_in_the_list() -> None:
    patterns = [pattern("none", "absent"), pattern("second", "bb"), pattern("third", "aa"), pattern("empty")]
    hesitation = hesitate("aa bb", patterns=patterns)
    assert hesitation.matched_pattern_ids == ("second",)
    assert hesitation.score == 30
    assert evidence(hesitation) == ["bb"]


def test_it_shows_the_first_keyword_of_the_pattern_that_occurs() -> None:
    assert evidence(hesitate("aa bb", patterns=[pattern("ep", "cc", "bb", "aa")])) == ["bb"]


@table("response", ["", "time out", "tímeout", "timeou"])
def test_it_recalls_nothing_from_near_misses_of_keywords(response: str) -> None:
    assert signals(hesitate(response, patterns=[pattern("ep", "timeout")])) == []


def test_it_never_recalls_a_pattern_without_keywords() -> None:
    assert signals(hesitate("anything", patterns=[pattern("ep")])) == []


@table(
    ("chat", "speaks"),
    [
        ("a" * 199, False),
        ("a" * 200, False),
        ("a" * 201, True),
        ("字" * 200, False),
        ("字" * 201, True),
        ("😀" * 100, False),
        ("😀" * 100 + "a", True),
        ("a" * 199 + "😀", True),
        ("a" * 198 + "😀", False),
        ("a" * 101, False),
    ],
)
def test_it_misses_a_hedge_from_201_units_of_utf_16(chat: str, speaks: bool) -> None:
    hesitation = hesitate("", chat)
    assert signals(hesitation) == [("no-hedge", "long CHAT response with no hedging language", 15)] * speaks
    if speaks:
        (span,) = hesitation.signals[0].spans
        assert (span.item, span.start, span.end, span.text) == (0, 0, len(chat), chat)


@table(
    "hedge",
    [
        *[
            "我不確定",
            "也許",
            "可能",
            "但我不太肯定",
            "需要確認",
            "我的理解是",
            "Not Sure",
            "MAYBE",
            "might",
            "i think",
        ],
        *["不可能", "mighty", "mushi think"],  # parts of words count in the seed
    ],
)
@table("response", ["", "{chat}", "字 said: {chat} and more", "maybe"])
def test_it_accepts_any_hedge_wherever_the_chat_stands(hedge: str, response: str) -> None:
    chat = f"{CALM}{hedge}{CALM}"
    assert "no-hedge" not in [signal.type for signal in hesitate(response.format(chat=chat), chat).signals]


@table("near", ["seems", "probably", "似乎", "可 能", "unsure", "I thought", "i th\u0131nk", "m\u0131ght"])
def test_it_takes_nothing_else_for_a_hedge(near: str) -> None:
    assert [signal.type for signal in hesitate("", CALM + near).signals] == ["no-hedge"]


@table("response", ["maybe {chat}", "{chat} maybe", "可能 {chat} 也許", "maybe"])
def test_it_wants_the_hedge_in_the_chat_itself(response: str) -> None:
    assert [signal.type for signal in hesitate(response.format(chat=CALM), CALM).signals] == ["no-hedge"]


def test_it_reads_all_chats_as_one_text() -> None:
    assert [span.item for span in hesitate("", "a" * 100, "b" * 100).signals[0].spans] == [0, 1]  # 201 with the space
    assert signals(hesitate("", "a" * 100, "b" * 99)) == []
    assert signals(hesitate("", "x" * 150 + " not", "sure " + "x" * 100)) == []  # a hedge over the seam
    assert [span.item for span in hesitate("", "", "a" * 201).signals[0].spans] == [1]


def test_it_looks_for_hedges_in_chats_only() -> None:
    scorer = Scorer()
    assert scorer.hesitate("", [Item("remember", CALM), Item("ask", CALM)]).signals == ()
    wire = [{"kind": "ask", "text": ""}, {"kind": "CHAT", "text": CALM}]
    assert [span.item for span in scorer.hesitate("", wire).signals[0].spans] == [1]


@table(
    ("response", "conclusions", "reasons"),
    [
        ("所以 因此 結論", 3, 0),
        ("答案是 therefore Conclusion", 3, 0),
        ("the answer, the answer, The Answer", 3, 0),
        ("所以 因此 結論 因為 但是", 3, 2),
        ("之所以 所以 所以", 3, 0),
        ("所以 所以 所以 所以 because however alternatively", 4, 3),
    ],
)
def test_it_counts_more_than_two_conclusions_that_outnumber_the_reasons(
    response: str, conclusions: int, reasons: int
) -> None:
    hesitation = hesitate(response)
    detail = f"{conclusions} conclusions vs {reasons} reasoning qualifiers"
    assert signals(hesitation) == [("overconfidence", detail, 15)]
    assert len(evidence(hesitation)) == conclusions


@table(
    "response",
    [
        "所以 因此",
        "所以 因此 結論 因為 但是 考慮到",
        "所以 因此 結論 另一方面 however because on the other hand",
        "结论 结论 结论",
        "the  answer the  answer the  answer",
    ],
)
def test_it_lets_reasons_balance_conclusions(response: str) -> None:
    assert signals(hesitate(response)) == []


def test_it_gives_the_signals_in_the_seeds_order_and_adds_their_weights() -> None:
    response = "所以 因此 結論 clearly timeout"
    hesitation = hesitate(response, CALM, patterns=[pattern("ep", "timeout")])
    assert [(signal.type, signal.weight) for signal in hesitation.signals] == [
        ("absolute-claim", 20),
        ("error-pattern", 30),
        ("no-hedge", 15),
        ("overconfidence", 15),
    ]
    assert hesitation.score == 80
    assert hesitation.suggestion == (
        "Hesitation triggered (score=80): absolute-claim, error-pattern, no-hedge, overconfidence"
    )


def test_it_stops_at_100() -> None:
    weights = {"absolute-claim": 60, "error-pattern": 60}
    assert hesitate("clearly x", patterns=[pattern("ep", "x")], weights=weights).score == 100
    assert hesitate("clearly", weights={"absolute-claim": 100}).score == 100


def test_it_is_silent_without_signals() -> None:
    assert hesitate("all is well") == Hesitation(0, True, (), "", ())


@table(
    ("score", "threshold", "confident"),
    [(29, 30, True), (30, 30, False), (31, 30, False), (0, 0, False), (100, 101, True)],
)
def test_it_is_confident_below_the_threshold(score: int, threshold: int, confident: bool) -> None:
    response = "clearly" if score else ""
    hesitation = hesitate(response, weights={"absolute-claim": score}, threshold=threshold, hold_at=101)
    assert (hesitation.score, hesitation.confident) == (score, confident)


@table("length", [201, 399, 400])
def test_it_switches_the_hedge_off_however_long_the_text_is(length: int) -> None:
    chat = "x" * length
    assert signals(hesitate(chat, chat, weights={"no-hedge": 0})) == []
    assert [name for name, _, _ in signals(hesitate(chat, chat))] == ["no-hedge"]


def test_it_switches_a_signal_of_weight_0_off() -> None:
    hesitation = hesitate("clearly x", patterns=[pattern("ep", "x")], weights={"absolute-claim": 0, "error-pattern": 0})
    assert hesitation == Hesitation(0, True, (), "", ())
    hesitation = hesitate("clearly x", patterns=[pattern("ep", "x")], weights={"error-pattern": 0})
    assert (hesitation.score, hesitation.matched_pattern_ids) == (20, ())


def test_it_points_in_code_points_of_the_text_as_sent() -> None:
    response = "😀 İ\u212a 一定 Ⱥ clearly é Kélvin"
    hesitation = hesitate(response, patterns=[pattern("ep", "KÉLVIN")])
    assert [(span.start, span.end) for signal in hesitation.signals for span in signal.spans] == [
        (5, 7),
        (10, 17),
        (20, 26),
    ]
    assert evidence(hesitation) == ["一定", "clearly", "Kélvin"]


def test_it_shows_256_places_and_counts_them_all() -> None:
    hesitation = hesitate("clearly " * 300, patterns=[pattern("ep", "clearly")])
    assert hesitation.signals[0].detail == "300 absolute claim(s) without source"
    assert [len(signal.spans) for signal in hesitation.signals] == [256, 256]


terms = st.sampled_from(
    [
        "一定",
        "clearly",
        "所以",
        "因此",
        "the answer",
        "because",
        "maybe",
        "可能",
        "不可能",
        "source",
        "key",
        "KEY",
        "İ",
        "\u212a",
        "😀",
        "é",
    ]
)
texts = st.lists(terms | st.text(max_size=3), max_size=30).map("".join).filter(lambda text: text.isprintable())


@given(texts, st.lists(texts, max_size=3))
def test_its_evidence_is_always_what_stands_there(response: str, chats: list[str]) -> None:
    hesitation = hesitate(response, *chats, patterns=[pattern("ep", "key", "é", "i")])
    for signal in hesitation.signals:
        assert signal.spans
        for span in signal.spans:
            text = response if span.item is None else chats[span.item]
            assert text[span.start : span.end] == span.text != ""


def test_threads_that_score_short_texts_at_once_do_not_disturb_each_other() -> None:
    scorer = Scorer()
    texts = [f"Clearly {number}: " + "obviously " * number for number in range(30)]

    def counted(text: str) -> list[int]:
        return [len(signal.spans) for _ in range(200) for signal in scorer.hesitate(text, []).signals]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(counted, texts))
    finally:
        sys.setswitchinterval(interval)
    assert found == [[number + 1] * 200 for number in range(30)]
