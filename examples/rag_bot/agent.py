"""A bot that answers from six articles, and asks a person where it does not know; no model: it quotes what it found.

Before each answer it asks metacog how much it can know from what it found. Where that is little, or two articles fit
equally well, a colleague chooses or answers in a form; what was typed goes into the team's memory and answers the same
question the next time. An answer that metacog holds is sent as it was decided.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from metacog_client import Client, NotAnswered, Text

ARTICLES: dict[str, str] = json.loads((Path(__file__).parent / "articles.json").read_text())
QUESTIONS = [
    "How long does delivery to Norway take?",
    "How do I reset my password?",
    "Can I wash the jacket?",
    "When will the down vest be back in stock?",
    "Is the battery of the lamp dangerous?",
]
LITTLE = frozenset(
    re.findall(r"\w+", "a an and are be can do does how i in is it my of on or the to what when will you")
)
LEAST = 0.4  # of a question's words that an article must have


def words(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in re.findall(r"\w+", text.lower())) - LITTLE


def search(question: str) -> list[tuple[float, str]]:
    """Return each article's share of the question's words, and its title; the best first."""
    wanted = words(question)
    found = [(len(wanted & words(f"{title} {text}")) / len(wanted), title) for title, text in ARTICLES.items()]
    return sorted((each for each in found if each[0] > 0), reverse=True)


def compose(client: Client, number: int, question: str) -> str | None:
    """Make an answer of what was found, remembered, or said by a colleague; None where there is none."""
    for memory in client.recall(question):
        if memory["source"] == question:
            return memory["text"]
    found = search(question)
    sure = client.call(
        "POST", "/confidence", {"session": client.run, "retrieval": {"scores": [score for score, _ in found]}}
    )
    best = [title for score, title in found if score >= LEAST and score == found[0][0]]
    say(f"{number}: {question} Confidence: {sure['level']}; found: {', '.join(best) or 'nothing that fits'}.")
    if len(best) == 1:
        return ARTICLES[best[0]]

    def asked(held: str, url: str) -> None:
        say(f"{number}: a colleague is asked, {url}")

    asking: dict[str, Any] = {"call_id": f"which-{number}", "user_message": question, "on_asked": asked}
    try:
        if best:
            return ARTICLES[client.ask(f"“{question}” Which article answers this?", choices=best, **asking)]
        typed: str = client.ask(f"“{question}” No article answers this. What do we say?", **asking)
    except NotAnswered as error:
        say(f"{number}: {error}")
        return None
    client.remember(typed, topic="answers", source=question)
    return typed


def answer(client: Client, number: int, question: str) -> str:
    client = client.for_run(f"rag-bot-{number}")
    text = compose(client, number, question)
    if text is None:
        return f"{number}: no answer"
    outcome = client.gate(
        Text(text, call_id=f"answer-{number}"),
        user_message=question,
        on_held=lambda told: say(f"{number}: the answer is held, {told.review_url}"),
    )
    return f"{number}: {outcome.text if outcome.allowed else outcome.message}"


def say(line: str) -> None:
    """Print a line whole: several threads do."""
    print(f"{line}\n", end="", flush=True)


def main() -> None:
    with Client(deadline=None) as client, ThreadPoolExecutor(len(QUESTIONS)) as pool:
        numbered = enumerate(QUESTIONS, 1)
        answers = list(pool.map(lambda each: answer(client, *each), numbered))
    print("\n", *answers, sep="\n")


if __name__ == "__main__":
    main()
