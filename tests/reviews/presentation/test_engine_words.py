"""What the engine says in English, people read in their language."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.test import override_settings
from django.utils import translation
from django.utils.translation import trans_real

from metacog.heuristics import History, Scorer
from metacog.heuristics.lexicon.languages import NAMES
from metacog.heuristics.stuck.stuck import DETAILS
from reviews.presentation.engine_words import translated, translated_reason
from tests.tables import table

OFF_TOPIC = "Bananas are yellow fruits from warm countries. " * 4
FRUIT = (
    "Bananas, apples, cherries, plums, lemons, melons, grapes, figs, dates, pears, limes, mangoes, papayas, oranges, "
    "peaches, apricots, quinces, berries, kiwis and olives."
)
CHINESE = "因為憑證在前一晚過期了，所以部署失敗，我們會重新簽發。"
SIMPLIFIED = "这个问题是因为证书过期，我们应该重新签发证书，然后再部署一次。"
FIGURES = "It fell by 37% in 2019, says the 3rd report of 12 March 2021."
LONG = "The deployment failed because the certificate had expired the night before. " * 3
FRENCH = "Le déploiement a échoué parce que le certificat était expiré, et nous allons le renouveler pour vous."
QUESTION = "Why did the deployment to production fail? And when will the certificate be renewed?"
EVERY_KNOWN = {"scores": [0.91, 0.4], "facts": 3, "topic_mentions": 7, "identity_covered": True}


@pytest.fixture(scope="module", autouse=True)
def _translated(languages: tuple[Path, dict[str, object]]) -> Iterator[None]:
    folder, read = languages
    with override_settings(LOCALE_PATHS=[folder]), mock.patch.object(trans_real, "_translations", read):
        yield


def details(policy: dict[str, Any], body: dict[str, Any], history: History | None = None) -> list[str]:
    verdict = Scorer(policy=policy).assess(body, history or History()).verdict
    hesitation, quality = verdict["hesitation"], verdict["quality"]
    return [one["detail"] for one in (*hesitation["signals"], *quality["details"])]


@table(
    ("flag", "policy", "body"),
    [
        ("nothing is said", {}, {"response": ""}),
        ("shares hardly", {}, {"response": OFF_TOPIC, "user_message": QUESTION}),
        ("shares no word", {}, {"response": FRUIT, "user_message": LONG + FIGURES}),
        ("question(s) not", {}, {"response": OFF_TOPIC, "user_message": QUESTION}),
        ("forbidden phrase", {"quality": {"forbidden": ["certificate"]}}, {"response": LONG}),
        ("written in zh-Hans", {"language": "zh-Hant"}, {"response": SIMPLIFIED}),
        ("agent's language in", {"language": "zh-Hant"}, {"response": LONG}),
        ("the message in", {}, {"response": CHINESE, "user_message": QUESTION}),
        ("in French, the message in English", {}, {"response": FRENCH, "user_message": QUESTION}),
        ("expected", {}, {"response": "ok"}),
        ("at most", {}, {"response": "The certificate had expired. " * 2_000}),
        ("without source", {"profile": "aware"}, {"response": FIGURES}),
        ("parts make", {"profile": "aware"}, {"response": "2 + 3 = 6"}),
        ("more)", {"profile": "aware"}, {"response": "2 + 3 = 6, 2 + 4 = 7."}),
        ("makes", {"profile": "aware"}, {"response": "75°F (36°C)"}),
        ("more)", {"profile": "aware"}, {"response": "75℉（36℃）, 2 + 4 = 7."}),
        ("hidden characters", {"profile": "aware"}, {"response": "pay\u200b\u200bpal is de\u200bad"}),
        ("1 test fails", {"profile": "aware"}, {"response": "完成。", "tests": {"passed": 0, "failed": 1}}),
        ("while the command failed", {"profile": "aware"}, {"response": "完成。", "command_failed": True}),
        (
            "2 tests fail and the command failed: ./x",
            {"profile": "aware"},
            {"response": "完成。", "tests": {"passed": 0, "failed": 2}, "command_failed": True, "command": "./x"},
        ),
    ],
)
def test_it_says_each_detail_in_the_readers_language(flag: str, policy: dict[str, Any], body: dict[str, Any]) -> None:
    found = [detail for detail in details(policy, body) if flag in detail]
    assert found
    for detail in found:
        with translation.override("zh-hant"):
            assert not re.search("[A-Za-z]{2,}", translated(detail)), translated(detail)
        with translation.override("en"):
            assert "(s)" not in translated(detail)


def test_it_names_every_language_it_tells() -> None:
    with translation.override("zh-hant"):
        for name in NAMES.values():
            assert not re.search("[A-Za-z]{2,}", translated(f"in {name}, the message in English")), name


def test_it_says_how_alike_another_response_is() -> None:
    for said_before, where in (((LONG,), "last"), ((LONG, OFF_TOPIC), "2 before")):
        (detail,) = [one for one in details({}, {"response": LONG}, History(recent=said_before)) if "like" in one]
        assert where in detail
        with translation.override("zh-hant"):
            assert re.fullmatch(r"[^A-Za-z%]*100%[^A-Za-z%]*", translated(detail))


@table("name", DETAILS)
def test_it_says_each_sign_of_being_stuck(name: str) -> None:
    detail = DETAILS[name].format(count=3, step=2, words="五里霧中", percent=91, minutes=40, passed=5, best=9)
    with translation.override("zh-hant"):
        assert not re.search("[A-Za-z]{2,}", translated(detail)), translated(detail)


@table(
    "sent",
    [
        EVERY_KNOWN,
        {**EVERY_KNOWN, "facts": None, "identity_covered": False},
        {"facts": 2},
        {"scores": [0.5], "topic_mentions": 0},
    ],
)
def test_it_says_the_reason_of_a_confidence(sent: dict[str, Any]) -> None:
    verdict = Scorer().score({"response": LONG, "retrieval": sent})
    with translation.override("zh-hant"):
        assert not re.search("[A-Za-z]{2,}|; ", translated_reason(verdict["confidence"]["reason"]))
    with translation.override("en"):
        assert "retrieval" in translated_reason(verdict["confidence"]["reason"])


@table(
    ("detail", "expected"),
    [
        ("1 character(s), 2 expected", "1 character, 2 expected"),
        ("2 character(s), 10 expected", "2 characters, 10 expected"),
        ("12,001 characters, 12,000 at most", "12,001 characters, 12,000 at most"),
        ("1 of 1 question(s) not accounted for", "1 of 1 question not addressed"),
        ("1 of 2 question(s) not accounted for", "1 of 2 questions not addressed"),
        ("no commit in 1 minutes of work", "no commit in 1 minute of work"),
        ("1 tests pass, 3 did", "1 test passes, 3 did before"),
        ("0 tests pass, 1 did", "0 tests pass, 1 did before"),
        ("in Latin letters, the agent's language in Chinese", "in Latin letters, the agent's language is Chinese"),
        ("in another script, the agent's language in English", "in another script, the agent's language is English"),
    ],
)
def test_it_says_one_of_a_thing_as_one(detail: str, expected: str) -> None:
    with translation.override("en"):
        assert translated(detail) == expected


def test_it_leaves_what_it_does_not_know() -> None:
    with translation.override("zh-hant"):
        assert translated("100% made up by hand") == "100% made up by hand"
