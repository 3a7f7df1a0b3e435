"""What items say beside the response: each text by itself, the higher score, and no more work than one long text."""

import time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics import Item, Scorer
from metacog.heuristics.hesitation.aware import LEAST_TERMS
from metacog.heuristics.hesitation.sense import MAX_TERMS
from metacog.heuristics.text.spans import MAX_SPANS

PATTERNS = [{"id": name, "keywords": [name], "description": ""} for name in ("zebra", "yak")]
SCORERS = [Scorer(PATTERNS, profile=profile) for profile in ("seed", "aware")]
PIECES = ["clearly ", "一定", "zebra ", "yak ", "so ", "therefore ", "因為", "\u200b", "source: x ", "x " * 150]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@given(TEXTS, st.lists(st.tuples(st.sampled_from(["chat", "remember", "task", "action", "ask"]), TEXTS), max_size=4))
def test_the_score_is_the_highest_of_all_texts_and_what_counts_adds_up_to_it(
    response: str, sent: list[tuple[str, str]]
) -> None:
    items = [Item(kind, text) for kind, text in sent]
    for scorer in SCORERS:
        found = scorer.weigh(response, items)
        beside = [item for item in items if item.kind != "ask" and item.text not in response]
        each = [scorer.hesitate(item.text, [item]) for item in beside]
        whole = scorer.hesitate(response, items)
        assert found.score == max(one.score for one in (whole, *each) if one)
        assert sum(signal.weight for signal in found.signals) == found.score
        assert {signal.type for signal in found.signals} == {s.type for one in (whole, *each) for s in one.signals}
        assert len(found.signals) == len({signal.type for signal in found.signals})
        for span in (span for signal in found.signals for span in signal.spans):
            text = response if span.item is None else items[span.item].text
            assert text[span.start : span.end] == span.text


def test_many_short_texts_are_looked_at_no_further_than_a_long_one() -> None:
    looked_at: list[int] = []
    aware = Scorer(profile="aware")
    each: Any = aware._each

    items = [Item("chat", f"{number} " + "clearly " * 400) for number in range(256)]
    for one in each(items, (), ""):
        (signal,) = [signal for signal in one.signals if signal.type == "absolute-claim"]
        looked_at.append(len(signal.spans))
    assert sum(looked_at) <= MAX_TERMS + 256 * LEAST_TERMS
    assert min(looked_at) >= LEAST_TERMS // 2
    found = aware.weigh("hello", items)
    assert all(len(signal.spans) <= MAX_SPANS for signal in found.signals)


def test_what_is_looked_at_around_a_term_ends_before_the_text_does() -> None:
    """1 MiB of each took 7.1 and 2.5 s, and takes 0.1 and 0.2."""
    for piece in ("therefore ", "42% of "):
        text = piece * (1_000_000 // len(piece))
        begun = time.process_time()
        SCORERS[1].weigh(text, [Item("chat", text)])
        assert time.process_time() - begun < 1, piece
