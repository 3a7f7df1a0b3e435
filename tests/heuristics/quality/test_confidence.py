"""How sure an agent may be, from what it retrieved and what it has seen before."""

from itertools import product
from typing import Any

from metacog.heuristics.quality.confidence import Confidence, estimate
from tests.tables import table

LONG_SESSION = 10**9


def estimated(**known: Any) -> Confidence:
    confidence = estimate(**{"retrieval": None, **known})
    assert confidence is not None
    return confidence


@table(
    ("known", "level", "score"),
    [
        ({"retrieval": {"scores": [0.64] * 3}, "turns": LONG_SESSION}, "high", 0.7),
        ({"retrieval": {"scores": [0.63] * 3}, "turns": LONG_SESSION}, "medium", 0.69),
        ({"retrieval": {"scores": [0.28] * 3}, "turns": LONG_SESSION}, "medium", 0.4),
        ({"retrieval": {"scores": [0.27] * 3}, "turns": LONG_SESSION}, "low", 0.39),
        ({"retrieval": {"scores": [1.0] * 3}, "turns": LONG_SESSION}, "high", 1.0),
        ({"retrieval": {"scores": [1.0]}, "turns": LONG_SESSION}, "high", 0.83),
        ({"retrieval": {"scores": [0.9], "facts": 3, "topic_mentions": 2}}, "medium", 0.6),
        ({"retrieval": {"scores": [0.94], "facts": 5, "topic_mentions": 0}}, "medium", 0.63),
        ({"retrieval": {"scores": []}}, "low", 0.0),
        ({"retrieval": {"scores": [], "facts": 4}, "turns": 3}, "medium", 0.68),
        ({"retrieval": {"facts": 0}}, "low", 0.0),
        ({"retrieval": {"facts": 4}, "turns": 3}, "medium", 0.68),
        ({"retrieval": {"topic_mentions": 3}, "turns": 1}, "medium", 0.5),
        ({"topics": ["cache"], "familiarity": {"cache": 3}, "turns": 1}, "medium", 0.5),
        ({"topics": ["cache", "new"], "familiarity": {"cache": 3}, "turns": 1}, "low", 0.29),
        ({"topics": ["new"], "familiarity": {}}, "low", 0.0),
    ],
)
def test_it_weighs_what_is_known(known: dict[str, Any], level: str, score: float) -> None:
    confidence = estimated(**known)
    assert (confidence.level, confidence.score) == (level, score)


@table(
    "known",
    [
        {},
        {"retrieval": {}},
        {"retrieval": {"scores": None, "facts": None, "topic_mentions": None, "identity_covered": None}},
        {"turns": 9},
        {"retrieval": {"identity_covered": True}, "turns": 9},
        {"topics": ["cache"]},  # nobody counted
        {"familiarity": {"cache": 3}},
    ],
)
def test_it_says_nothing_where_nothing_tells_of_memory(known: dict[str, Any]) -> None:
    assert estimate(**{"retrieval": None, **known}) is None


@table(
    ("less", "more"),
    [
        ({"retrieval": {"scores": [0.4]}}, {"retrieval": {"scores": [0.5]}}),
        ({"retrieval": {"scores": [0.9, 0.1]}}, {"retrieval": {"scores": [0.9, 0.8]}}),
        ({"retrieval": {"facts": 1}}, {"retrieval": {"facts": 2}}),
        ({"retrieval": {"scores": [0.2], "facts": 0}}, {"retrieval": {"scores": [0.2], "facts": 4}}),
        ({"retrieval": {"topic_mentions": 1}}, {"retrieval": {"topic_mentions": 9}}),
        ({"retrieval": {"facts": 1}, "turns": 0}, {"retrieval": {"facts": 1}, "turns": 1}),
        (
            {"retrieval": {"facts": 1, "identity_covered": False}},
            {"retrieval": {"facts": 1, "identity_covered": True}},
        ),
    ],
)
def test_it_grows_with_each_thing_that_is_known(less: dict[str, Any], more: dict[str, Any]) -> None:
    assert estimated(**less).score < estimated(**more).score


def test_a_weak_find_takes_nothing_from_the_facts_that_are_known() -> None:
    none, weak = ({"scores": scores, "facts": 4} for scores in ([], [0.2]))
    assert estimated(retrieval=weak).score == estimated(retrieval=none).score


def test_it_does_not_count_scores_after_the_third() -> None:
    first = estimated(retrieval={"scores": [0.9, 0.8, 0.7]})
    assert estimated(retrieval={"scores": [0.1, 0.7, 0.8, 0.9]}).score == first.score


def test_it_believes_the_agents_count_before_our_own() -> None:
    confidence = estimated(retrieval={"topic_mentions": 0}, topics=["cache"], familiarity={"cache": 99})
    assert confidence.score == 0.0


@table(
    ("language", "prompt"),
    [
        (
            "en",
            "Your confidence level for this response is: medium. You have limited memory about this topic.",
        ),
        ("zh-Hant", "你對這次回應的信心程度是：中。你對這個主題的記憶有限。"),
        ("zh-Hans", "你对这次回应的信心程度是：中。你对这个主题的记忆有限。"),
    ],
)
def test_it_tells_the_agent_in_the_seeds_sentence(language: str, prompt: str) -> None:
    assert estimated(retrieval={"topic_mentions": 3}, turns=1, language=language).prompt == prompt


def test_it_does_not_call_a_good_memory_limited_in_a_cold_start() -> None:
    assert estimated(retrieval={"scores": [0.9]}).prompt == (
        "Your confidence level for this response is: medium. You have good memory about this topic."
    )


SAYS = {
    "en": {"good": "good memory", "limited": "limited memory", "hardly any": "hardly any memory"},
    "zh-Hant": {"good": "充分", "limited": "有限", "hardly any": "幾乎沒有"},
    "zh-Hans": {"good": "充分", "limited": "有限", "hardly any": "几乎没有"},
}
SHARES = [None, 0.0, 0.2, 0.4, 0.55, 0.69, 0.8, 1.0]


@table("language", SAYS)
def test_what_it_says_of_memory_never_contradicts_the_level(language: str) -> None:
    said: dict[str, set[str]] = {"high": set(), "medium": set(), "low": set()}
    for best, mentions, turns, covered in product(SHARES, (None, 0, 1, 2, 4, 7, 50), (0, 1, 9), (None, False, True)):
        sent = {"scores": best if best is None else [best], "topic_mentions": mentions, "identity_covered": covered}
        if found := estimate(retrieval=sent, turns=turns, language=language):
            memory = [name for name, words in SAYS[language].items() if words in found.prompt]
            assert len(memory) <= 1
            assert found.prompt == found.prompt.strip()
            said[found.level] |= set(memory or ["nothing"])
    assert said == {
        "high": {"good", "nothing"},
        "medium": {"good", "limited"},
        "low": {"limited", "hardly any"},
    }


# Of what is known more each time; what is not known is nothing, but for the identity, which says no or yes.
MORE: dict[str, list[Any]] = {
    "scores": [None, [], [0.3], [0.3, 0.1], [0.69], [0.69, 0.69], [0.9, 0.69], [0.94, 0.9, 0.7], [1.0, 0.94, 0.9, 0.2]],
    "facts": [None, 0, 1, 3, 5, 40],
    "topic_mentions": [None, 0, 1, 2, 7, 50],
    "identity_covered": [False, None, True],
    "turns": [0, 1, 9],
}
SENTENCES = ["low hardly any", "low limited", "medium limited", "medium good", "high", "high good"]


def rank(found: Confidence | None) -> int:
    """Say how good the sentence is; none at all is the least."""
    if found is None:
        return -1
    memory = [name for name, words in SAYS["en"].items() if words in found.prompt]
    return SENTENCES.index(" ".join([found.level, *memory]))


def test_better_evidence_never_gets_the_worse_sentence() -> None:
    ranks: dict[tuple[int, ...], int] = {}
    for steps in product(*(range(len(values)) for values in MORE.values())):
        known = {name: values[step] for (name, values), step in zip(MORE.items(), steps, strict=True)}
        turns = known.pop("turns")
        ranks[steps] = rank(estimate(retrieval=known, turns=turns))
        for place, step in enumerate(steps):
            if step:
                less = (*steps[:place], step - 1, *steps[place + 1 :])
                assert ranks[less] <= ranks[steps], (known, turns)
    assert set(ranks.values()) == set(range(-1, len(SENTENCES)))


def test_it_gives_its_reasons() -> None:
    retrieval = {"scores": [0.91, 0.4], "facts": 3, "topic_mentions": 7, "identity_covered": True}
    assert estimated(retrieval=retrieval, turns=5).as_dict() == {
        "level": "high",
        "score": 0.8,
        "reason": (
            "retrieval 0.77 (2 score(s), best 0.91, 3 fact(s)); familiarity 0.70 (7 mention(s)); "
            "session 0.83 (5 turn(s) before); covered by the identity"
        ),
        "prompt": "Your confidence level for this response is: high. You have good memory about this topic.",
    }
