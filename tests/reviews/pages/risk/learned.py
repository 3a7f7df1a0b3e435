"""Learned risks to show: decisions about texts with and without a word, and the rows that learning makes of them."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from django.utils import timezone

from metacog.heuristics.ranking.features import facts_of, see
from metacog.heuristics.ranking.learning import Decided, Learned, learn
from metacog.models import Agent, Team
from reviews.models import LearnedRisk, RiskModel
from reviews.risk import in_force

WORDS = "the order was sent on time and we will write again when the parcel is at the door of your house"
NO_VERDICT: dict[str, Any] = {}


@cache
def learned(by: str = "word", number: int = 400, *, turns: int = 1) -> Learned:
    """Learn from decisions that reject by a word, by length, or by nothing, so many of a session."""
    draw, decided = random.Random(1), []
    rejects: dict[str, Callable[[str], float]] = {
        "word": lambda text: 0.6 if "cache" in text else 0.1,
        "length": lambda text: len(text) / 250,
        "nothing": lambda _: 0.3,
        "never": lambda _: 0.0,
    }
    for at in range(number):
        words = [draw.choice(WORDS.split()) for _ in range(draw.randrange(5, 40))]
        if draw.random() < 1 / 3:
            words.insert(draw.randrange(len(words)), "cache")
        text = " ".join(words)
        seen = see(text, "", facts_of(text, None, NO_VERDICT))
        decided.append(Decided(seen, draw.random() < rejects[by](text), at, (f"s{at // turns}",), key=f"{at}"))
    return learn(decided)


def keep(team: Team, found: Learned, **changed: Any) -> LearnedRisk:
    """Write down what learning found for a team, as the worker does, and put it in force."""
    in_force._orders.cache_clear()  # a row that is taken back leaves its key to another
    model = None
    if found.order:
        document = found.model.as_dict()
        model = RiskModel.objects.create(team=team, public_id=document["id"], document=document, made_at=timezone.now())
        Agent.objects.filter(team=team).update(risk_model=model.pk)
    Team.objects.filter(pk=team.pk).update(risk_kind=found.order or "")
    spread = [at / 1000 for at in range(1000)]
    document = found.as_dict() | {"gate": found.as_dict()["gate"] and found.as_dict()["gate"] | changed}
    return LearnedRisk.objects.create(
        team=team, found=document, model=model, made_at=timezone.now(),
        passing={"days": 30, "items": 3000, "risks": spread},
    )  # fmt: skip


def text(answer: Any) -> str:
    """Return what a page says, without its tags; what stands one hover away in brackets."""
    page = re.sub(r' ?<abbr class="aside" tabindex="0" title="([^"]*)">±</abbr>', r" (\1)", answer.content.decode())
    page = html.unescape(re.sub(r"<[^>]*>", " ", page))
    return " ".join(page.replace("\N{NO-BREAK SPACE}", " ").split())
