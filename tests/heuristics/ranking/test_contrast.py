"""Phrases by contrast: what is found in rejected texts, how it is judged, and what is not proposed."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from metacog.heuristics.ranking.contrast import Contrast, Counts, DecidedText, Texts, Tried, find, log_odds, phrases_of
from tests.tables import table

FINE = (
    "Your parcel is on its way.", "The invoice is attached to this mail.", "Please restart the router and try again.",
    "We have changed your address.", "The office opens at nine.", "You can pay by card.", "The manual is in the box.",
)  # fmt: skip
FINE_ZH = ("您的包裹已經寄出。", "發票在附件裡。", "請重新啟動路由器。", "地址已經更新。", "辦公室九點開門。")
WRONG = (
    "I checked it: the guarantee covers accidental damage, always.", "Yes, accidental damage is covered in full by us.",
    "Do not worry about Accidental Damage at all.",
)  # fmt: skip
WRONG_ZH = ("退款需要三十天才會到帳。", "您好，退款需要三十天左右，請等候。", "我們的退款需要三十天。")


def contrast(wrong: Sequence[str], fine: Sequence[str], session: str = "r{}") -> Contrast:
    rejected = [DecidedText(text, session.format(n), True) for n, text in enumerate(wrong)]
    return find(Texts([*(DecidedText(text, f"a{n}", False) for n, text in enumerate(fine)), *rejected]))


@table(
    ("wrong", "fine", "phrase"),
    [(WRONG, FINE, "Accidental Damage"), (WRONG_ZH, FINE_ZH, "退款需要三十天")],
)
def test_what_rejected_texts_have_in_common_is_proposed(wrong: Sequence[str], fine: Sequence[str], phrase: str) -> None:
    (found,) = contrast(wrong, fine).phrases
    assert found.text == phrase, "as the newest text writes it"
    assert [place - len(fine) for place in found.rejected] == [0, 1, 2]
    assert found.tried == Tried(3, 3, 3 + len(fine), 3)
    low, high = found.tried.interval
    assert (round(low, 2), high) == (0.44, 1)


def test_what_approved_texts_say_too_is_not() -> None:
    assert contrast(WRONG, [f"For accidental damage: {text}" for text in FINE]).phrases == ()


@table(("wrong", "session"), [(WRONG[:2], "r{}"), (WRONG, "the same"), ([*WRONG[:2], WRONG[1]], "r")])
def test_fewer_than_three_sessions_teach_nothing(wrong: Sequence[str], session: str) -> None:
    assert contrast(wrong, FINE, session).phrases == ()


def test_texts_of_no_session_are_each_their_own() -> None:
    assert contrast(WRONG, FINE, "").phrases != ()


def test_nothing_is_proposed_where_everything_or_nothing_is_rejected() -> None:
    assert contrast(WRONG, ()).phrases == contrast((), FINE).phrases == find(Texts([])).phrases == ()


def test_two_phrases_that_mean_the_same_rejections_are_one() -> None:
    wrong = [*WRONG, "Of accidental damage we say nothing.", "It is accidental damage."]
    told = [f"{text} Our lifetime promise holds." if n < 4 else text for n, text in enumerate(wrong)]
    assert [found.text for found in contrast(told, FINE * 2).phrases] == ["accidental damage"]


def test_a_phrase_is_cut_at_one_end_at_most() -> None:
    wrong = [text.replace("三十天", "三十個工作天完成處理") for text in WRONG_ZH]
    (found,) = contrast([*wrong, "退款需要三十個工作天完成處理。"], FINE_ZH).phrases
    assert found.text.startswith("退款") or found.text.endswith("處理")


def test_what_a_fifth_of_the_approved_texts_say_marks_no_mistake() -> None:
    wrong, fine = list(WRONG) * 3, [*WRONG * 4, *FINE * 5]
    assert contrast(wrong, fine).phrases == ()
    assert contrast(wrong, [*WRONG, *FINE * 5]).phrases != ()


def test_two_mistakes_are_two_phrases() -> None:
    other = [f"{name} has a lifetime promise from us" for name in ("Pump", "Hose", "Filter", "Valve")]
    assert {found.text for found in contrast([*WRONG, *other], FINE * 2).phrases} == {
        "Accidental Damage",
        "lifetime promise",
    }


@pytest.mark.parametrize(
    ("wrong", "phrase"),
    [
        ([f"{text} Released on day {n}." for n, text in enumerate(FINE)], None),
        ([f"{text} Including it: {n}." for n, text in enumerate(FINE)], None),
        ([f"{text} By Monday, number {n}." for n, text in enumerate(FINE)], None),
        ([f"{text}已經發佈問題。" for text in FINE_ZH], "發佈"),
        ([f"{text} Premature release {n}." for n, text in enumerate(FINE)], "premature release"),
    ],
    ids=["released", "including", "a weekday", "Chinese", "with another word"],
)
def test_an_everyday_word_alone_is_not(wrong: Sequence[str], phrase: str | None) -> None:
    fine = [f"{text} Seen {n}." for n, text in enumerate([*FINE, *FINE_ZH] * 4)]
    found = [each.text for each in contrast(wrong, fine).phrases]
    assert (phrase is None) == (found == []), found
    assert phrase is None or any(phrase.casefold() in each.casefold() or each in phrase for each in found)


def test_what_users_had_said_before_is_the_topic() -> None:
    fine = [DecidedText(text, f"a{n}", False) for n, text in enumerate(FINE)]

    def phrases(asked: str, times: int) -> list[str]:
        wrong = [DecidedText(text, f"r{n}", True, asked if n < times else "") for n, text in enumerate(WRONG)]
        return [found.text for found in find(Texts([*fine, *wrong])).phrases]

    assert phrases("Is ACCIDENTAL damage covered?", 2) == []
    assert phrases("Is ACCIDENTAL damage covered?", 1) == phrases("Is it covered?", 3) == ["Accidental Damage"]


def test_what_is_rejected_as_often_as_its_like_is_not() -> None:
    """Of one agent or metadata all is rejected as often: then its words tell nothing of the text."""

    def decided(text: str, number: int, rejected: bool, area: str) -> DecidedText:
        return DecidedText(text, f"s{number}", rejected, known={"area": area, "id": str(number)})

    wrong = [f"{text} Signed by the warehouse desk." for text in FINE]
    fine = [f"{text} Signed by the office." for text in FINE * 9]

    def phrases(area: str) -> list[str]:
        rows = [decided(text, n, True, area) for n, text in enumerate(wrong)]
        rows += [decided(text, 100 + n, False, "office") for n, text in enumerate(fine)]
        rows += [decided(text, 200 + n, n % 8 > 0, "depot") for n, text in enumerate(FINE * 2)]
        return [found.text for found in find(Texts(rows)).phrases]

    assert any("warehouse desk" in each for each in phrases("office"))
    assert not any("warehouse desk" in each for each in phrases("depot"))


def test_what_only_seems_to_contrast_is_judged_where_it_was_not_found() -> None:
    """Words drawn at random tell nothing; one team in four would have a proposal of them, were it not judged."""
    dice = random.Random(7)
    words = [f"{one}{other}" for one in ("alpha", "bravo", "delta", "gamma", "omega") for other in "abcdefgh"]

    def drawn(session: int) -> DecidedText:
        return DecidedText(" ".join(dice.choices(words, k=8)), str(session), dice.random() < 0.3)

    teams = [find(Texts([drawn(session) for session in range(40)])).phrases for _ in range(100)]
    assert sum(bool(phrases) for phrases in teams) <= 5


def test_a_phrase_that_held_before_and_holds_no_more_is_not_proposed() -> None:
    """One fold after the other, others than those it was found in speak against it."""
    texts = [DecidedText(f"{WRONG[n % 3]} Case {n}.", f"s{n}", n % 5 < 2) for n in range(60)]
    assert find(Texts(texts)).phrases == ()


def test_only_the_newest_texts_are_read() -> None:
    texts = [DecidedText(text, f"r{n}", True) for n, text in enumerate(WRONG)]
    texts += [DecidedText("word " * 400, f"a{n}", False) for n in range(600)]
    assert find(Texts(texts)).phrases == ()
    assert len(Texts(texts)) == 300


@table(
    ("text", "phrases"),
    [
        ("the refund policy", {"refund", "refund policy", "policy"}),
        ("refund, policy of paris", {"refund", "policy", "policy of paris", "paris"}),
        ("an art. in 2021", {"2021"}),  # profile `seed` finds "art" within other words
        ("我的退款了", {"退款"}),
        ("在python的退款", {"python", "退款"}),
    ],
)
def test_a_phrase_neither_begins_nor_ends_with_grammar(text: str, phrases: set[str]) -> None:
    assert set(phrases_of(text)) == phrases


def test_the_measure_is_that_of_monroe_colaresi_and_quinn() -> None:
    # 38 to 102 against 18 to 122, with a fifth of both as the prior on either side: by hand.
    assert round(log_odds(Counts(30, 10, 30, 10), Counts(100, 100, 100, 100)), 3) == 3.237
    assert log_odds(Counts(30, 10, 10, 10), Counts(100, 100, 100, 100)) < 3, "ten texts of a session are one witness"
    assert log_odds(Counts(10, 30, 10, 30), Counts(100, 100, 100, 100)) < 0


def test_keywords_are_found_as_a_pattern_would_find_them() -> None:
    texts = Texts(
        [DecidedText("退款需要三十天", "a", True), DecidedText("REFUND", "b", False), DecidedText("", "c", False)]
    )
    assert texts.holding(["需要三十天"]) == texts.holding(["需要三十天", ""]) == {0}
    assert texts.holding(["refund", "退款"]) == {0, 1}
    assert [texts.cover(["refund"], [1] * holding + [2] * (5 - holding)) for holding in (3, 4)] == [False, True]
    assert not texts.cover([""], [0])
    assert texts.tried({0, 1}) == Tried(2, 1, 3, 1)
    assert texts.tried({1}, out_of={1, 2}) == Tried(1, 0, 2, 0)
