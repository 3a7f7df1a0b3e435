"""A signal is one module: whatever else knows of signals follows from its spec."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest

from metacog.heuristics import signals
from metacog.heuristics.hesitation.aware import AwareSignals
from metacog.heuristics.hesitation.patterns import Patterns
from metacog.heuristics.policy.policy import Policy
from metacog.heuristics.signals import SEED, SPECS, Evidence
from metacog.heuristics.signals.spec import OF_EVERY_TEXT, SignalSpec
from metacog.heuristics.text.shadow import Shadow
from metacog.heuristics.text.spans import Span

ROOT = Path(__file__).parents[3]
SHOUTING = """
from ..text.spans import Span
from .spec import Evidence, SignalSpec, gettext_noop


def find(evidence):
    text = evidence.reading.text
    return ("all in capitals: 1", (Span(0, len(text), text),)) if text.isupper() else None


SPEC = SignalSpec(
    type="shouting", order=15, weight=40, sees=("reading.text",), find=find,
    title=gettext_noop("Shouting"), color="claim", speaks="all is in capitals", evidence="the text",
    details=(("all in capitals: (?P<count>[0-9]+)", gettext_noop("texts in capitals: %(count)s")),),
)
"""
IN_A_HURRY = """
from .spec import SignalSpec, find_words, gettext_noop

SPEC = SignalSpec(
    type="in-a-hurry", order=90, weight=10, sees=("reading.words",), find=find_words("in-a-hurry"),
    title=gettext_noop("Hurry"), color="claim", speaks="there is no time", evidence="where it is said",
)
"""
WORDS = {"en": ("asap",), "zh": ("儘快",)}
HURRYING = "Ship it ASAP, not `asap`, and not asap. The flag “asap” is set. Is it asap? 請儘快上線。"
READ = """
import json, os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "metacog.settings"
django.setup()
from metacog.accounts.policy_forms import PolicyForm
from metacog.heuristics import Scorer
from pydantic import TypeAdapter
from metacog.models import Agent
from metacog.heuristics.policy.policy import Policy
from metacog.heuristics.signals import SPECS
from metacog.heuristics.wire.assessment import Assessment
from reviews.presentation import engine_words, phrases
name = "shouting"
aware = Scorer(profile="aware")
said = aware.score({"response": "CLEARLY THIS IS SO"})["hesitation"]["signals"]
(worded,) = aware.score({"response": HURRYING})["hesitation"]["signals"]
print(json.dumps({
    "said": [(one["type"], one["weight"]) for one in said],
    "worded": [worded["type"], engine_words.translated(worded["detail"]), *(span["text"] for span in worded["spans"])],
    "weight": Policy.from_dict({}).weights.get(name),
    "form": str(PolicyForm(Agent()).fields["weight_shouting"].label),
    "openapi": name in json.dumps(TypeAdapter(Assessment).json_schema()),
    "title": phrases.signal_title(name),
    "classes": phrases.signal_class(name),
    "detail": engine_words.translated("all in capitals: 1"),
    "seed": Scorer().score({"response": "CLEARLY THIS IS SO"})["hesitation"]["score"],
}))
"""


def test_one_module_more_is_one_signal_more(tmp_path: Path) -> None:
    for folder in ("metacog", "patterns", "reviews"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.pyc.*"))  # half written
    for folder in ("templates", "static", "locale"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "metacog/heuristics/signals/shouting.py").write_text(SHOUTING)
    (tmp_path / "metacog/heuristics/signals/in_a_hurry.py").write_text(IN_A_HURRY)
    for language, words in WORDS.items():
        with (tmp_path / f"metacog/heuristics/lexicon/{language}.py").open("a") as file:
            file.write(f"IN_A_HURRY = {words}\n")
    (tmp_path / "data").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", f"HURRYING = {HURRYING!r}\n{READ}"],
        cwd=tmp_path,
        env=os.environ | {"METACOG_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "said": [["absolute-claim", 20], ["shouting", 40]],
        "worded": ["in-a-hurry", "says “ASAP”", "ASAP", "儘快"],
        "weight": 40,
        "form": "Shouting",
        "openapi": True,
        "title": "Shouting",
        "classes": "signal s-claim",
        "detail": "texts in capitals: 1",
        "seed": 20,
    }


def test_the_registry_holds_each_signal_once_and_in_order() -> None:
    assert SEED == ("absolute-claim", "error-pattern", "no-hedge", "overconfidence")
    types = [module.SPEC.type for module in vars(signals).values() if hasattr(module, "SPEC")]
    twice = {one for one in types if types.count(one) > 1}
    assert not twice, "two modules have one type"
    orders = [spec.order for spec in SPECS.values()]
    assert orders == sorted(orders)
    assert all(name == spec.type and re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name, spec in SPECS.items())


def test_a_signal_that_sees_every_text_has_no_other_asked_about_a_calm_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def asks(name: str, spec: SignalSpec) -> SignalSpec:
        def find(evidence: Evidence) -> tuple[str, tuple[Span, ...]] | None:
            asked.append(name)
            return spec.find(evidence)

        return spec._replace(find=find)

    everything = SPECS["hidden-text"]._replace(sees=("reading.text",), find=lambda evidence: None)
    for name, spec in [*SPECS.items(), ("hidden-text", everything)]:
        monkeypatch.setitem(SPECS, name, asks(name, spec))
    aware = AwareSignals(Patterns(()), Policy.from_dict({"profile": "aware"}))
    always = {name for name, spec in SPECS.items() if not OF_EVERY_TEXT.isdisjoint(spec.sees)}
    for text, others in (("The queue is warm.", []), ("Clearly the queue is warm.", ["absolute-claim"])):
        asked.clear()
        assert [one.type for one in aware.hesitate(text, []).signals] == others
        if others:
            assert {*always, *others} < set(asked)
        else:
            assert set(asked) == always


def test_what_a_signal_sees_is_there_to_be_seen() -> None:
    from metacog.heuristics.hesitation.sense import Reading

    evidence = Evidence(Reading("", Shadow("")), None, "", (), None, {}, (), "", 0)
    for name, spec in SPECS.items():
        assert not any(attrgetter(seen)(evidence) for seen in spec.sees), f"{name} sees something in an empty text"
