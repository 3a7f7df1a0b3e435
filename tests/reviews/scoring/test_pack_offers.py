"""Packs on pages: chosen with a new agent, and the one that fits applied with one press."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from metacog import heuristics
from metacog.accounts.agents import create_agent
from metacog.heuristics.tool_calls.pack import packs
from metacog.models import Agent, AuditEvent, Policy
from patterns.patterns.scorer import scorer_shown
from reviews.scoring.calls_preview import calls_preview
from tests.conftest import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def coder(aurora: Any) -> Caller:
    agent, key, secret = create_agent(aurora, "coder", None)
    return Caller(agent.public_id, key, secret)


def call(coder: Caller, command: str, **more: Any) -> Any:
    item = {"kind": "tool_call", "name": "Bash", "arguments": {"command": command}, **more}
    return coder.post("/responses", {"response": "", "items": [item]}).json()["items"][0]


def test_a_new_agent_asks_about_everything_by_a_pack(coder: Caller) -> None:
    item = call(coder, "ls")
    assert item["disposition"] == "hold"
    assert (item["rule"]["pack"], item["rule"]["version"]) == ("everything-asks", 1)
    assert Policy.objects.get().hold_words_with_calls


def test_an_agent_is_added_with_a_pack_and_its_folder(olga: Any, aurora: Any, as_person: Any) -> None:
    page = as_person(olga)
    offered = page.get(reverse("agent-new")).text
    assert "Passes" in offered
    assert "What <code>coding</code> asks about" in offered
    data = {"team": aurora.pk, "name": "coder", "language": "en", "pack": "coding", "workspace": "/srv/app"}
    added = page.post(reverse("agent-new"), data)
    assert added.status_code == 200
    assert "manage.py hook claude-code --settings" in added.text
    assert "metacog-client hook" not in page.post(reverse("agent-new"), data | {"name": "mailer", "pack": "mail"}).text
    assert Policy.objects.get(agent__name="coder").packs == [{"name": "coding", "workspace": "/srv/app"}]


def test_a_pack_to_compare_is_tried_in_place_of_those_in_force(olga: Any, aurora: Any, as_person: Any) -> None:
    packs = [{"name": "coding", "workspace": "/srv/app"}]
    agent, key, secret = create_agent(aurora, "coder", None, packs=packs)
    call(Caller(agent.public_id, key, secret), "ls /srv/app")
    page = as_person(olga)
    policy = reverse("policy", args=[agent.public_id])
    shown = page.get(policy + "?rules=[]").text
    drafts = re.findall(r'<a\s+href="(\?packs=[^"]+)">Read only</a>', shown)
    assert len(drafts) == 1
    names = re.findall('name="pack-name" value="([^"]+)"', page.get(policy + drafts[0]).text)
    assert names == ["read-only"]


def test_pages_say_that_packs_decide(olga: Any, aurora: Any, as_person: Any) -> None:
    agent, _key, _secret = create_agent(aurora, "coder", None, packs=[{"name": "coding"}])
    page = as_person(olga)

    def said() -> tuple[str, str]:
        pages = (page.get(reverse(name, args=[agent.public_id])).text for name in ("agent", "policy"))
        first, second = (" ".join(re.sub("<[^>]*>", " ", text).split()) for text in pages)
        return first, second

    of_agent, of_policy = said()
    own = f"Pack Coding: {len(packs()['coding'].rules)} rules"
    assert f"Tool calls {own}" in of_agent
    assert "others:" not in of_agent
    assert "No rules of its own: those of its packs decide." in of_policy
    assert "The default policy of a new agent, with its packs of rules: Coding." in of_policy
    Policy.objects.update(rules=[{"tool": "x", "do": "deny"}])
    of_agent, of_policy = said()
    assert f"Tool calls 1 rule · {own}" in of_agent
    assert "No rules" not in of_policy
    assert "takes the place" not in of_policy
    Policy.objects.update(packs=[{"name": "everything-asks"}])
    assert "It takes the place of “Everything asks”: the calls that it passes are no longer held." in said()[1]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The pack “Coding” asks: cannot be read for certain. Why: its syntax is not understood."),
        ("zh-hant", "規則包「寫程式」要求詢問：無法判讀。原因：語法無法理解。"),
        ("zh-hans", "规则包“写代码”要求询问：无法判读。原因：语法无法理解。"),
    ],
)
def test_a_held_call_says_its_packs_reason_once(
    olga: Any, aurora: Any, as_person: Any, translated: None, language: str, said: str
) -> None:
    agent, key, secret = create_agent(aurora, "coder", None, packs=[{"name": "coding"}])
    olga.language = language
    olga.save()
    item = call(Caller(agent.public_id, key, secret), "echo $(")
    assert item["rule"]["reason"] == "cannot be read for certain"
    page = as_person(olga).get(reverse("item", args=[item["held"]])).text
    assert said in page
    assert "A policy rule asks" not in page


def test_the_pack_that_fits_is_shown_after_fifty_calls_and_applied(olga: Any, coder: Caller, as_person: Any) -> None:
    page, address = as_person(olga), reverse("agent", args=[coder.id])
    for number in range(48):
        call(coder, f"cat a{number}.py")
    assert "48 so far" in page.get(address).text
    assert "coder" not in page.get(reverse("to-do")).text
    call(coder, "git push origin main")
    call(coder, "git push origin fix")
    told = page.get(address).text
    assert "a person would have been asked 2 times instead of 50" in told
    assert "less strict: Coding, Coding, careful, Operations" in re.sub(r"</?b\s*>", "", told)
    assert "git push origin main" in told
    assert "coder" in page.get(reverse("to-do")).text
    page.post(reverse("agent-pack", args=[coder.id]), {"pack": "read-only", "based_on": "1"})
    assert Agent.objects.get(name="coder").policy_version == 2
    assert Policy.objects.get(version=2).packs == [{"name": "read-only"}]
    assert AuditEvent.objects.filter(action="policy-changed").count() == 1
    assert call(coder, "cat b.py")["disposition"] == "pass"
    policy = page.get(reverse("policy", args=[coder.id]), {"from": 2}).text
    assert "With another pack" in policy


def test_only_owners_apply_one(alice: Any, coder: Caller, as_person: Any) -> None:
    answer = as_person(alice).post(reverse("agent-pack", args=[coder.id]), {"pack": "coding", "based_on": "1"})
    assert answer.status_code == 403
    assert Policy.objects.count() == 1


def test_rules_in_shadow_are_counted_over_packs_and_change_nothing_of_what_these_do(coder: Caller) -> None:
    for command in ("cat a.py", "git push origin main", "git status"):
        call(coder, command)
    demanded = call(coder, "rm -rf /", require_review=True)
    assert demanded["disposition"] == "hold"
    agent = Agent.objects.get(name="coder")
    shadow = {"tool": "Bash", "effects": {"any": ["read", "publish"]}, "do": "deny", "shadow": True}
    draft = Policy.objects.get().as_dict() | {"packs": [{"name": "coding"}], "rules": [shadow]}
    found = calls_preview(agent, scorer_shown(agent), heuristics.Policy.from_dict(draft))
    assert (found.now.fates, found.then.fates) == ({"asked": 4}, {"allowed": 2, "asked": 2})
    tally = found.packs.tallies["coding"]
    assert (tally.asked, tally.denied, tally.passed) == (2, 0, 2)  # a review that is demanded beats what denies
    in_shadow = found.rules[0]
    assert (in_shadow.rule, in_shadow.calls, in_shadow.fates["denied"]) == (shadow, 3, 3)
