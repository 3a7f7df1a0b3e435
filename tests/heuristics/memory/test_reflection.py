"""Looking back: what is told from how many times on, in both languages, and what comes close and is not told."""

import json
from typing import Any

from hypothesis import given
from hypothesis.strategies import lists, text

from metacog.heuristics.memory.reflection import Held, Turn, reflect
from metacog.heuristics.memory.subjects import shared
from metacog.heuristics.stats.intervals import difference
from tests.tables import table


def turns(*fields: Any, **common: Any) -> list[Any]:
    return [Turn(id=f"r{number}", **{**common, **each}) for number, each in enumerate(fields)]


def asked(*messages: Any) -> Any:
    return turns(*({"message": message} for message in messages))


def names(found: Any) -> list[Any]:
    return [(topic.name, len(topic.responses)) for topic in found.topics]


class TestTopics:
    @table(
        ("messages", "told"),
        [
            (["Where is my refund?", "Refunds, please!", "was the refund paid?"], [("refund", 3)]),
            (["Where is my refund?", "Refunds, please!", "was it paid?"], []),  # twice is chance
            (["refund refund refund"], []),  # one message is once
            (["How can I help you?"] * 3, []),  # function words
            (["Please check and explain this"] * 3, []),  # words of asking
            (["The connection pool is full", "this connection pool?", "connection pools!"], [("connection pool", 3)]),
            (["`refund` is a name", "“refund” she said", "> refund"], []),  # code and quotations
            (["這筆退款在哪裡？", "退款好了嗎", "请问退款呢"], [("退款", 3)]),
            (["這筆退款在哪裡？", "退款好了嗎", "請問呢"], []),
            (["請幫我查一下"] * 3, []),
            (["幫我找遠距工作的資料。", "遠距工作有效嗎？", "再談遠距工作"], [("遠距工作", 3)]),
            (["42 43", "42 43", "42 43"], []),
            (['{"refund": 1}', '{"refund": 2}', '{"refund": 3}'], []),  # a tool's output
        ],
    )  # fmt: skip
    def test_a_phrase_that_three_messages_share_is_one(self, messages: Any, told: Any) -> None:
        assert names(reflect(asked(*messages))) == told

    def test_what_the_agent_named_comes_before_what_was_written(self) -> None:
        found = reflect(
            turns({"topics": ("Deploys",)}, {"topics": ("deploy",)}, {"topics": ("DEPLOY",)}, message="x y")
        )
        assert names(found) == [("Deploys", 3)]

    def test_the_most_frequent_come_first_and_ten_at_most(self) -> None:
        named = [({"topics": (f"topic{chr(97 + number)}",)}) for number in range(12) for _ in range(3 + number)]
        found = reflect(turns(*named)).topics
        assert [len(topic.responses) for topic in found] == list(range(14, 4, -1))

    @table(
        ("texts", "told"),
        [
            (["blue whale"] * 4 + ["a whale"] * 2, ["blue whale"]),
            (["blue whale"] * 4 + ["a whale"] * 3, ["whale"]),
            (["部署腳本"] * 4 + ["部署"] * 2, ["部署腳本"]),
            (["部署腳本"] * 4 + ["部署"] * 3, ["部署"]),
        ],
    )
    def test_a_phrase_gives_way_to_a_longer_one_that_is_two_thirds_as_common(self, texts: Any, told: Any) -> None:
        assert [phrase.text for phrase in shared(texts, 3)] == told


def corrected(language: str = "en", *, messages: Any, previous: str, topics: Any = ("deploy",)) -> Any:
    said = [
        each
        for message in messages
        for each in (
            {"message": "and?", "response": previous, "topics": topics},
            {"message": message, "topics": topics},
        )
    ]
    return reflect(turns(*said, session="s"), language=language)


class TestCorrections:
    @table(
        ("language", "messages", "previous", "topic", "lesson"),
        [
            ("en", ["No, that's wrong. You forgot the rollback plan.", "You forgot the rollback plan again!"],
             "Run the script.", "deploys", "When asked about deploys, also mention rollback plan."),
            ("zh-Hant", ["不對，你忘了回復計畫。", "我提醒你，要有回復計畫。"], "執行腳本。", "部署",
             "被問到部署時，也要提到回復計畫。"),
            ("zh-Hans", ["不对，你忘了回复计划。", "我提醒你，要有回复计划。"], "执行脚本。", "部署",
             "被问到部署时，也要提到回复计划。"),
        ],
    )  # fmt: skip
    def test_what_they_ask_for_and_the_agent_left_out_is_a_lesson(
        self, language: str, messages: Any, previous: str, topic: str, lesson: Any
    ) -> None:
        found = corrected(language, messages=messages, previous=previous, topics=(topic,))
        assert [each.text(len(each.responses)) for each in found.proposals] == [lesson]
        assert (found.corrections, found.proposals[0].responses, found.proposals[0].topics) == (
            2,
            ("r1", "r3"),
            (topic,),
        )

    @table(
        ("messages", "previous", "told"),
        [
            (["You forgot the rollback plan."], "Run it.", False),  # once is chance
            (["Thanks, the rollback plan is good."] * 2, "Run it.", False),  # no correction
            (["You forgot the rollback plan.", "That's wrong: the port is 80."], "Run it.", False),  # nothing shared
            (["You forgot the rollback plan."] * 2, "Run it; here is the rollback plan.", False),  # it was there
            (["That's wrong."] * 3, "Run it.", True),  # alike in the subject alone: from three times on
            (["不對。", "不對。"], "執行。", False),
            (["你忘了回復計畫。", "你忘了回復計畫。"], "執行。", True),
        ],
    )
    def test_what_comes_close_is_none(self, messages: Any, previous: str, told: Any) -> None:
        assert bool(corrected(messages=messages, previous=previous).proposals) is told

    def test_without_a_topic_they_are_grouped_by_what_they_say(self) -> None:
        messages = [
            "You forgot the rollback plan and the checklist.",
            "You forgot the checklist, the rollback plan too.",
        ]
        found = corrected(messages=messages, previous="Run it.", topics=())
        (proposal,) = found.proposals
        assert proposal.text(2).startswith("You were corrected 2 times on ")

    def test_another_session_is_another_conversation(self) -> None:
        said = turns(
            {"message": "and?", "response": "Run it.", "session": "a"},
            {"message": "You forgot the rollback plan.", "session": "b"},
            {"message": "You forgot the rollback plan.", "session": "c"},
            topics=("deploy",),
        )
        assert [each.asked for each in reflect(said).repeated] == [("rollback plan",)], (
            "what is not known to be said is missing"
        )


LOW = {"confidence": "low", "retrieval": {"facts": 2}}
LITTLE = {"confidence": "medium", "retrieval": {"scores": [0.39, 0.1]}}
OPEN = {"unanswered": True}


class TestGaps:
    @table(
        ("fields", "counts"),
        [
            ([LOW] * 3, (3, 0, 0)),
            ([LOW] * 2, None),
            ([{**LOW, "confidence": "medium"}] * 3, None),
            ([{**LOW, "retrieval": None}] * 3, None),  # low since the topic is new: that says nothing of what it knows
            ([LITTLE] * 3, (0, 3, 0)),
            ([{"retrieval": {"scores": [0.4]}}] * 3, None),
            ([{"retrieval": {"scores": []}}] * 3, (0, 3, 0)),
            ([{"retrieval": {"facts": 0}}] * 3, (0, 3, 0)),
            ([{"retrieval": {"facts": 1}}] * 3, None),
            ([OPEN] * 3, (0, 0, 3)),
            ([LOW, LITTLE, OPEN], (1, 1, 1)),
        ],
    )
    def test_a_topic_of_which_little_was_known_three_times_is_one(self, fields: Any, counts: Any) -> None:
        found = reflect(turns(*fields, topics=("退款",))).gaps
        assert [(gap.low_confidence, gap.low_retrieval, gap.unanswered) for gap in found] == (
            [counts] if counts else []
        )

    @table(
        ("language", "text"),
        [
            ("en", "When asked about refunds, look it up first or say what you do not know "
                   "(3 times: low confidence or questions left open)."),
            ("zh-Hant", "被問到refunds時，先查證，或說明你不知道什麼（3 次：信心低或問題沒有回答）。"),
            ("zh-Hans", "被问到refunds时，先查证，或说明你不知道什么（3 次：信心低或问题没有回答）。"),
        ],
    )  # fmt: skip
    def test_it_proposes_a_lesson_in_the_agents_language(self, language: str, text: str) -> None:
        found = reflect(turns(LOW, LOW, {**LOW, **OPEN}, topics=("refunds",)), language=language)
        assert [each.text(len(each.responses)) for each in found.proposals] == [text]

    def test_what_each_is_about_decides(self) -> None:
        found = reflect(turns(LOW, LOW, {**LOW, "topics": ("deploys",)}, topics=("refunds",)))
        assert found.gaps == ()


class TestTrend:
    @table(
        ("older", "newer", "says"),
        [
            ((2, 9), (9, 10), "too-few"),
            ((2, 10), (9, 10), "better"),
            ((9, 10), (2, 10), "worse"),
            ((5, 10), (7, 10), "no-different"),
            ((10, 10), (10, 10), "no-different"),
            ((40, 100), (60, 100), "better"),
        ],
    )
    def test_the_newer_half_is_told_from_the_older_where_the_interval_excludes_nought(
        self, older: tuple[int, int], newer: tuple[int, int], says: str
    ) -> None:
        said = [passed for part, whole in (older, newer) for passed in [True] * part + [False] * (whole - part)]
        found = reflect(turns(*({"passed": passed} for passed in said))).trend
        assert (tuple(found.older), tuple(found.newer), found.says) == (older, newer, says)

    def test_what_was_not_judged_does_not_count(self) -> None:
        found = reflect(turns({"passed": None}, {"passed": True, "day": "2026-01-02"}, {"passed": False})).trend
        assert (found.older, found.newer) == ((1, 1), (0, 1))
        assert found.days == (("", 0, 1), ("2026-01-02", 1, 1))

    def test_the_interval_is_newcombes(self) -> None:
        low, high = difference(48, 80, 56, 70)  # Newcombe 1998, table II, example (a): 0.2, 0.0524 to 0.3339
        assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)


class TestReasons:
    def reject(self, *told: str, preset: str = "No evidence: ", outcome: Any = "rejected") -> Any:
        return reflect([], [Held(f"r{number}", outcome, (), preset + own, own) for number, own in enumerate(told)])

    @table(
        ("preset", "told", "text"),
        [
            ("No evidence: ", ["no count was taken", "Where from?", "No count was taken."],
             "No evidence: no count was taken"),
            ("No evidence: ", ["No evidence for the count"] * 3, "No evidence for the count"),
            ("沒有根據：", ["沒有量測"] * 3, "沒有根據: 沒有量測"),
            ("", ["Cite the docs", "cite the docs.", "Cite the docs!"], "Cite the docs"),
            ("No evidence: ", ["no count was taken"] * 2, None),
            ("", ["Cite the docs", "That is rude", "It rains"], None),
        ],
    )  # fmt: skip
    def test_the_same_reason_three_times_is_a_lesson(self, preset: str, told: list[str], text: str | None) -> None:
        proposals = [each.text(len(each.responses)) for each in self.reject(*told, preset=preset).proposals]
        said = "People rejected 3 responses for this reason, so check it before you answer"
        assert proposals == ([f"{said}: {text}."] if text else []), "one sentence"

    def test_a_preset_reason_alone_makes_no_lesson(self) -> None:
        held = [Held(f"r{number}", "rejected", (), "No evidence") for number in range(9)]
        found = reflect([], held)
        assert [(reason.text, len(reason.responses)) for reason in found.reasons] == [("No evidence", 9)]
        assert found.proposals == ()

    def test_the_words_of_a_reason_are_only_words(self) -> None:
        (proposal,) = self.reject(*["No {count} taken"] * 3, preset="").proposals
        assert proposal.text(3).endswith("check it before you answer: No {count} taken.")

    def test_several_items_of_one_response_are_one(self) -> None:
        held = [Held(f"r{number // 2}", "rejected", (), "Where from?", "Where from?") for number in range(5)]
        (found,) = reflect([], held[:4]).reasons
        assert found.responses == ("r0", "r0", "r1", "r1")
        assert reflect([], held[:4]).proposals == ()
        (proposal,) = reflect([], held).proposals
        assert proposal.responses == ("r0", "r1", "r2")

    def test_only_what_was_rejected_counts(self) -> None:
        assert self.reject(*["where from"] * 3, outcome="edited").reasons == ()


@table(("count", "is_told"), [(2, False), (3, True)])
def test_impasses_on_one_topic_are_a_lesson_from_three_on(count: int, is_told: bool) -> None:
    found = reflect(turns(*[{"impasse": True}] * count, topics=("tax",)))
    assert len(found.impasses) == count
    assert [each.kind for each in found.proposals] == (["impasse"] if is_told else [])


def test_nothing_gives_nothing() -> None:
    found = reflect([])
    assert (found.responses, found.topics, found.proposals, found.says_something) == (0, (), (), False)


def test_the_same_values_give_the_same_reflection_and_it_is_json() -> None:
    messages = [
        "Where is my refund?",
        "You forgot the invoice.",
        "退款呢",
        "Refund!",
        "the refund",
        "You forgot the invoice",
    ]
    said = asked(*messages)
    first = reflect(said, [Held("r1", "rejected", ("no-hedge",), "x")])
    assert first == reflect(said, [Held("r1", "rejected", ("no-hedge",), "x")])
    told = json.loads(json.dumps(first.as_dict()))
    assert (told["topics"][0], told["held"]) == ({"name": "refund", "responses": ["r0", "r3", "r4"]}, {"rejected": 1})


@given(lists(text(alphabet="aé退款對不İ“`>\n .,?!\u200b\U0001f600", max_size=30), max_size=6))
def test_anything_may_be_said(messages: Any) -> None:
    found = reflect(asked(*messages), language="zh-Hant")
    assert found.responses == len(messages)
    assert all(set(topic.responses) <= {f"r{number}" for number in range(6)} for topic in found.topics)
