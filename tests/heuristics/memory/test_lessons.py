"""Which lessons an agent is given back: what was spoken of first, whole ones only, the oldest left out first."""

from typing import Any

from metacog.heuristics.memory.lessons import BUDGET, Lesson, choose
from tests.tables import table


def ids(lessons: Any, recent: Any = (), budget: int = BUDGET) -> list[Any]:
    return [one.lesson.id for one in choose(lessons, recent, budget)]


@table(
    ("topic", "recent", "is_called_for"),
    [
        ("deploy", "We deployed at noon.", True),
        ("deploys", "the deploy failed", True),
        ("source", "the resource pool is empty", False),  # a word of its own
        ("resource", "the source is empty", False),
        ("connection pool", "The pool had 40 connections open.", True),
        ("connection pool", "The swimming pool is closed.", False),
        ("C++", "written in c++ since 2019", True),
        ("how to", "how to begin", True),
        ("how to", "how we began", False),
        ("退款", "這筆退款已經處理了", True),
        ("退款", "这笔退款已经处理了", True),
        ("部署", "部门的署名", False),
        ("會議記錄", "会议记录在这里", True),
        ("Deploy", "DEPLOY!", True),
        ("deploy", "", False),
    ],
)
def test_a_topic_is_found_as_whole_words_in_any_inflection_and_script(
    topic: str, recent: Any, is_called_for: bool
) -> None:
    (chosen,) = choose([Lesson("one", "text", (topic,))], [recent])
    assert chosen.matches == ((topic,) if is_called_for else ())


def test_what_was_spoken_of_comes_first_and_then_the_newest() -> None:
    lessons = [Lesson("4", "d"), Lesson("3", "c", ("refund",)), Lesson("2", "b"), Lesson("1", "a", ("x", "refunds"))]
    assert ids(lessons, ["The refund was paid."]) == ["3", "1", "4", "2"]
    assert ids(lessons) == ["4", "3", "2", "1"]


@table(("budget", "given"), [(30, 3), (29, 2), (20, 2), (19, 1), (10, 1), (9, 0)])
def test_the_budget_is_kept_with_whole_lessons_and_the_oldest_goes_first(budget: int, given: Any) -> None:
    lessons = [Lesson(str(number), "x" * 10) for number in (3, 2, 1)]
    assert ids(lessons, (), budget) == ["3", "2", "1"][:given]


def test_an_older_lesson_never_takes_the_place_of_a_newer_one_that_is_too_long() -> None:
    assert ids([Lesson("3", "x" * 5), Lesson("2", "x" * 50), Lesson("1", "x")], (), 20) == ["3"]


def test_no_lessons_give_none() -> None:
    assert choose([], ["anything"]) == []
