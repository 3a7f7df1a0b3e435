"""What is said in items and not in the response, and in languages that nobody reads: scored, told and shown."""

from __future__ import annotations

import json
from typing import Any

from django.core.management import call_command
from django.urls import reverse

from metacog.models import Policy
from reviews.models import AgentResponse, HeldItem, Signal
from reviews.scoring.replay import Replayer
from tests.tables import table

ZEBRA = "It is clearly the zebra cache. Therefore no test is needed."
CALM = "The build has finished."
JAPANESE = "絶対に間違いありません。原因はキャッシュです。"


def spans(verdict: dict[str, Any]) -> dict[str, list[tuple[int | None, str]]]:
    told = verdict["hesitation"]["signals"]
    return {signal["type"]: [(span.get("item"), span["text"]) for span in signal["spans"]] for signal in told}


def chat(text: str, kind: str = "chat") -> dict[str, Any]:
    return {"kind": kind, "text": text}


@table(
    "profile, response, items, score, expected",
    [
        # Nowhere but in the item.
        ("seed", "hello", [chat(ZEBRA)], 50, {"absolute-claim": [(0, "clearly")], "error-pattern": [(0, "cache")]}),
        ("aware", "hello", [chat(ZEBRA)], 50, {"absolute-claim": [(0, "clearly")], "error-pattern": [(0, "cache")]}),
        (
            "seed",
            "",
            [chat(ZEBRA, "remember")],
            50,
            {"absolute-claim": [(0, "clearly")], "error-pattern": [(0, "cache")]},
        ),
        # The higher score counts: of one of them, never of both added up.
        (
            "seed",
            "Obviously so.",
            [chat("The cache.")],
            30,
            {"absolute-claim": [(None, "Obviously")], "error-pattern": [(0, "cache")]},
        ),
        (
            "seed",
            "Obviously the cache.",
            [chat("Clearly.")],
            50,
            {"absolute-claim": [(None, "Obviously"), (0, "Clearly")], "error-pattern": [(None, "cache")]},
        ),
        # Each text by itself: the response's source is not the item's, nor the item's its neighbor's.
        (
            "seed",
            "See http://a.b/",
            [chat("Clearly."), chat("source: x. Obviously.")],
            20,
            {"absolute-claim": [(0, "Clearly")]},
        ),
        # What stands in the response is scored there; a question is left alone.
        (
            "seed",
            f"{ZEBRA} [1]",
            [chat(ZEBRA)],
            50,
            {"absolute-claim": [(None, "clearly")], "error-pattern": [(None, "cache")]},
        ),
        ("seed", "hello", [chat("Is it clearly the cache?", "ask")], 0, {}),
        ("seed", "hello", [chat(" \u200b")], 0, {}),
        # Two that say the same.
        (
            "seed",
            "hello",
            [chat("Clearly."), chat("Clearly."), chat("Clearly.", "task")],
            20,
            {"absolute-claim": [(0, "Clearly"), (1, "Clearly"), (2, "Clearly")]},
        ),
    ],
    rolled_back=True,
)
def test_what_only_an_item_says_is_scored_as_a_response_of_its_own(
    kuro: Any, profile: str, response: str, items: list[Any], score: int, expected: dict[str, Any]
) -> None:
    Policy.objects.update(profile=profile)
    verdict = kuro.respond(response, items=items)
    assert (verdict["hesitation"]["score"], spans(verdict)) == (score, expected)
    kinds = {item["kind"]: item["disposition"] for item in verdict["items"]}
    assert kinds.get("ask", "pass") == "pass"
    if score >= 50:
        assert set(kinds.values()) == {"hold"}
    # What adds nothing to the score weighs nothing.
    assert sum(signal["weight"] for signal in verdict["hesitation"]["signals"]) == score
    for stored in AgentResponse.objects.select_related("agent__team"):
        replayed = Replayer().replay(stored)
        assert (replayed.is_equal, replayed.differences) == (True, [])


def test_a_pattern_fires_once_a_response_whichever_texts_it_stands_in(kuro: Any) -> None:
    verdict = kuro.respond("The cache.", items=[chat("A cache again."), chat("The other cache.")])
    assert verdict["hesitation"]["matched_pattern_ids"] == ["ep-cache"]
    assert [(signal.type, signal.pattern.public_id) for signal in Signal.objects.all()] == [
        ("error-pattern", "ep-cache")
    ]


def test_people_see_in_which_item_it_stands(kuro: Any, alice: Any, as_person: Any) -> None:
    verdict = kuro.respond("hello", items=[chat(CALM), chat(ZEBRA)])
    first, second = (item["held"] for item in verdict["items"])
    client = as_person(alice)
    pages = {held: client.get(reverse("item", args=[held])).content.decode() for held in (first, second)}
    assert all("in item 2" in page for page in pages.values())
    assert "<mark" in pages[second]
    assert "<mark" not in pages[first]


def test_erasure_takes_the_words_of_items_too(kuro: Any, aurora: Any) -> None:
    from reviews.retention import without_texts

    kuro.respond("hello", items=[chat(ZEBRA)])
    left = json.dumps(without_texts(AgentResponse.objects.get().wire_verdict()))
    assert "clearly" not in left
    assert "zebra" not in left


def test_what_a_pattern_would_do_is_told_of_items_too(kuro: Any, aurora: Any) -> None:
    from reviews.learning.backtest import backtest

    kuro.respond("hello", items=[chat("It is the zebra."), chat("Calm.")])
    found = backtest(aurora, ["zebra"])
    assert (found.fired, found.keywords) == (1, {"zebra": 1})


def test_the_command_line_scores_items_as_well(kuro: Any, capsys: Any) -> None:
    from metacog.heuristics import Scorer

    body = {"response": "hello", "items": [chat(ZEBRA)]}
    patterns = [{"id": "ep-cache", "keywords": ["cache"], "description": "cause named before it was measured"}]
    assert Scorer(patterns).score(body)["hesitation"] == kuro.respond(**body)["hesitation"]
    call_command("rescore")
    assert "nothing" in capsys.readouterr().out


@table(
    "response, items, flags, of_items",
    [
        (JAPANESE, [], ["language-unread"], []),
        ("확실히 캐시가 원인입니다. 의심할 여지가 없습니다.", [], ["language-unread"], []),
        ("Das ist definitiv die Ursache, garantiert und immer.", [], ["language-unread"], []),
        ("זה בהחלט נכון, אין ספק.", [], ["language-unread"], []),
        ("It is clearly the cache.", [], [], []),
        ("一定是快取的問題。", [], [], []),
        (
            "hello",
            [chat(JAPANESE), chat(CALM), chat(JAPANESE, "ask")],
            ["language-unread"],
            [["language-unread"], [], ["language-unread"]],
        ),
        (f"Reply: <chat>{JAPANESE}</chat> `<chat>`", None, ["language-unread", "tag-in-code"], [["language-unread"]]),
        (f"<chat>{CALM}</chat>", None, [], [[]]),
        (JAPANESE, [{"kind": "tool_call", "name": "say", "arguments": {"text": JAPANESE}}], ["language-unread"], [[]]),
    ],
    rolled_back=True,
)
def test_a_language_that_no_rule_reads_is_flagged(
    kuro: Any, response: str, items: list[Any] | None, flags: list[str], of_items: list[list[str]]
) -> None:
    verdict = kuro.respond(response, items=items)
    assert (verdict["flags"], [item["flags"] for item in verdict["items"]]) == (flags, of_items)
    (stored,) = AgentResponse.objects.select_related("agent__team")
    assert (stored.unread, stored.flagged) == (bool(flags), len(flags) > 1)
    assert Replayer().replay(stored).is_equal


def test_people_read_how_much_of_an_agent_nobody_reads(kuro: Any, alice: Any, as_person: Any, contexts: None) -> None:
    client = as_person(alice)
    agent = reverse("agent", args=[kuro.id])
    kuro.respond(CALM)
    assert "no rule reads" not in client.get(agent).content.decode()
    held = kuro.respond(JAPANESE, items=[{**chat(JAPANESE), "require_review": True}])["items"][0]["held"]
    page = client.get(agent).content.decode()
    assert "Of its last 2 responses, 1 is in a language that no rule reads" in page
    assert "No rule reads this language" in client.get(reverse("item", args=[held])).content.decode()
    (row,) = client.get("/responses/?show=unread").context["rows"]
    assert row.pk == HeldItem.objects.get().response_id
    metrics = client.get("/metrics").content.decode()
    assert f'metacog_language_unread_total{{agent="{kuro.id}"}} 1.0' in metrics


@table("profile", ["seed", "aware"], rolled_back=True)
def test_hundreds_of_items_are_scored_each(kuro: Any, profile: str) -> None:
    Policy.objects.update(profile=profile)
    items = [chat(f"{number}: calm.", "task") for number in range(255)]
    verdict = kuro.respond("hello", items=[*items, chat(ZEBRA)])
    assert spans(verdict) == {"absolute-claim": [(255, "clearly")], "error-pattern": [(255, "cache")]}


@table(
    "body, signals, quality",
    [
        ({"response": "Based on the supplied passage, it opened in 1931."}, [], []),
        ({"response": "It opened in 1931."}, ["no-source"], []),
        ({"response": "You are owed $6.28.", "command_output": "6.280000000000001"}, [], []),
        ({"response": "The following day, 2024-05-21, works.", "command_output": "2024-05-20"}, [], []),
        ({"response": "We definitely won't ship this today."}, [], []),
        ({"response": "Clea\u0301rly b\u0301v\u0301 so."}, ["absolute-claim", "hidden-text"], []),
        ({"user_message": "Is the shop open?", "response": "Yes."}, [], []),
        (
            {"user_message": "Can you mend the search?", "response": "Whales are mammals, and all breathe air."},
            [],
            ["off-topic"],
        ),
    ],
    rolled_back=True,
)
def test_what_is_grounded_or_an_answer_is_left_alone(
    kuro: Any, body: dict[str, Any], signals: list[str], quality: list[str]
) -> None:
    Policy.objects.update(profile="aware")
    verdict = kuro.respond(**body)
    assert (sorted(spans(verdict)), verdict["quality"]["flags"]) == (signals, quality)
    assert verdict["quality"]["passed"]
