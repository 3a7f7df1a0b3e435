"""What an event is in words: who did what to whom, how, and why."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.translation import override

from metacog.audit import audit, menu, words
from metacog.models import Agent, AuditEvent
from tests.tables import table


@pytest.fixture
def told(kuro: Any, alice: Any, aurora: Any) -> Any:
    """Return a function that tells an event: of kuro, by alice, kuro itself (called so) or nobody."""

    def tell(action: str, by: str, *, about: bool = True, **given: Any) -> str:
        agent = Agent.objects.get()
        actor = {"alice": alice, "kuro": agent, "": None}[by]
        return words.tell(audit.event(action, "x", actor=actor, team=aurora, agent=agent if about else None, **given))

    return tell


@table(
    ("action", "by", "given", "sentence"),
    [
        ("chat-approved", "alice", {}, "alice approved a CHAT of kuro"),
        ("chat-approved", "kuro", {}, "kuro approved its own CHAT on a second look"),
        ("tool_call-rejected", "alice", {}, "alice rejected a TOOL CALL of kuro"),
        ("chat-expired", "", {}, "A CHAT of kuro expired undecided"),
        ("tool_call-reported", "kuro", {"after": "done"}, "kuro reported the outcome of a TOOL CALL: done"),
        ("tool_call-reported", "kuro", {}, "kuro reported the outcome of a TOOL CALL: "),
        ("chat-assigned", "alice", {"person": "bob"}, "alice assigned a CHAT of kuro to bob"),
        ("chat-assigned", "alice", {}, "alice assigned a CHAT of kuro to …"),  # of an older release
        ("chat-escalated", "", {"people": ["bob", "eve"]}, "Nobody decided a CHAT of kuro: it went to bob, eve"),
        ("tool_call-routed", "", {"people": []}, "A TOOL CALL of kuro went to the team's chat"),
        ("thread-created", "kuro", {}, "kuro created a thread"),
        ("thread-created", "alice", {}, "alice created a thread of kuro"),
        ("agent-changed", "alice", {"fields": ["name", "language"]}, "alice changed the agent kuro (name, language)"),
        ("agent-changed", "", {}, "metacog changed the agent kuro ()"),
        ("agent-enabled", "alice", {"about": False}, "alice enabled the agent an agent"),
        ("second-factor-added", "alice", {"factor": "app"}, "alice added a second factor: authenticator app"),
        ("second-factor-added", "alice", {"factor": "sms"}, "alice added a second factor: sms"),
        ("chat-removed", "alice", {"chat": "slack"}, "alice removed Slack, in which the team decided"),
        ("chat-removed", "alice", {"chat": "irc"}, "alice removed irc, in which the team decided"),
        ("chat-approved", "alice", {"via": "mail"}, "alice approved a CHAT of kuro, by email"),
        ("chat-approved", "alice", {"via": "api"}, "alice approved a CHAT of kuro, by API"),
        ("chat-approved", "alice", {"via": "moon"}, "alice approved a CHAT of kuro"),
        ("chat-rejected", "alice", {"because": "No."}, "alice rejected a CHAT of kuro: “No.”"),
        ("chat-rejected", "alice", {"because": "No.", "via": "mail"}, "alice rejected a CHAT of kuro: “No.”, by email"),
        ("policy-changed", "alice", {"fields": ["weights"], "reason": "Too many."},
         "alice changed the policy of kuro (weights): “Too many.”"),
        # of an older release
        ("policy-changed", "alice", {"fields": ["packs"]}, "alice changed the policy of kuro (packs)"),
        ("policy-changed", "alice", {"fields": ["packs", "weights"], "packs_added": ["a", "b"], "packs_removed": ["c"]},
         "alice changed the policy of kuro (weights, pack a added, pack b added, pack c removed)"),
        ("policy-changed", "alice", {"fields": ["packs"], "packs_added": ["b"], "packs_removed": ["a"]},
         "alice changed the policy of kuro (pack a replaced by b)"),
        ("policy-changed", "alice", {"fields": ["packs"], "packs_changed": ["a"]},
         "alice changed the policy of kuro (pack a with another workspace)"),
        ("agent-enabled", "alice", {"reason": "Too many."}, "alice enabled the agent kuro"),
        ("moon-landed", "alice", {}, "alice: moon-landed"),
    ],
)  # fmt: skip
def test_an_event_is_a_sentence(told: Any, action: str, by: str, given: dict[str, Any], sentence: str) -> None:
    assert told(action, by, **given) == sentence


def test_fields_are_listed_as_the_language_lists(told: Any, translated: Any) -> None:
    with override("zh-hant"):
        assert "（name、language）" in told("agent-changed", "alice", fields=["name", "language"])


@table(
    ("kind", "sentence"),
    [
        ("tool_call", "kuro 的一則工具呼叫已暫留"),
        ("question", "kuro 的一則提問已暫留"),
        ("chat", "kuro 的一則 CHAT 已暫留"),
    ],
)
def test_a_kind_is_named_in_chinese_unless_it_is_an_agents_tag(
    told: Any, translated: Any, kind: str, sentence: str
) -> None:
    with override("zh-hant"):
        assert told(f"{kind}-held", "alice") == sentence


def test_an_agent_is_called_as_it_was_where_it_acted_itself(told: Any, kuro: Any) -> None:
    event = audit.event("chat-withdrawn", "x", actor=Agent.objects.get(), team=None, agent=Agent.objects.get())
    event.agent = Agent(name="shiro")
    assert words.tell(event) == "kuro withdrew its own CHAT"
    event.actor_kind = "system"
    assert words.tell(event) == "kuro withdrew a CHAT of shiro"


def test_people_are_called_by_their_names_as_far_as_these_are_known(kuro: Any, alice: Any, aurora: Any) -> None:
    event = audit.event("chat-assigned", "x", actor=alice, team=aurora, agent=Agent.objects.get(), person="bob")
    assert words.tell(event, {"alice": "Alice", "bob": "Bob B."}) == "Alice assigned a CHAT of kuro to Bob B."
    assert words.tell(event, {"eve": "Eve"}) == "alice assigned a CHAT of kuro to bob"


@table(
    ("done", "kind", "actions"),
    [
        ("", "", ()),
        ("approved", "chat", ("chat-approved",)),
        ("approved", "", tuple(f"{kind}-approved" for kind in (*audit.KINDS, "item"))),
        ("agent-created", "", ("agent-created",)),
        ("agent-created", "chat", ("chat-agent-created",)),  # of no item: there is none of both
        ("decision", "chat", tuple(f"chat-{each}" for each in menu.DECIDED)),
    ],
)
def test_a_choice_of_the_menu_stands_for_actions(done: str, kind: str, actions: tuple[str, ...]) -> None:
    assert menu.actions(done, kind) == actions


def test_a_kind_alone_stands_for_all_that_is_done_to_it() -> None:
    found = menu.actions("", "chat")
    assert all(action.startswith("chat-") for action in found)
    assert {"chat-held", "chat-approved", "chat-expired"} <= set(found)
    assert f"chat-{menu.DECISION}" not in found


@table(
    ("action", "name", "parts"),
    [
        ("chat-held", "CHAT · Held", ("held", "chat")),
        ("tool_call-held", "TOOL CALL · Held", ("held", "tool_call")),
        ("item-held", "ITEM · Held", ("held", "item")),
        ("agent-created", "Added", ("agent-created", "")),
        ("chat-landed", "chat-landed", ("chat-landed", "")),
        ("moon-held", "moon-held", ("moon-held", "")),
    ],
)
def test_an_action_is_named_by_kind_and_what_was_done(action: str, name: str, parts: tuple[str, str]) -> None:
    assert (menu.name_of(action), menu.parts_of(action)) == (name, parts)


def test_the_menus_offer_what_is_known_and_what_else_is_asked_for() -> None:
    first, *groups, other = menu.choices("", "chat", "approved", "agent-created", "moon-landed")
    assert (str(first[0]), str(first[1]), other) == ("", "Any action", ("moon-landed", "moon-landed"))
    assert all(isinstance(actions, list) for _group, actions in groups[:-1])
    assert [value for value, _name in menu.kinds()] == ["", *audit.KINDS]
    assert [str(name) for _value, name in menu.kinds()][:2] == ["Any kind", audit.KINDS[0].upper()]


@table(("kind", "action"), [("chat", "chat-held"), ("tool_call", "tool_call-held"), ("dance", "item-held")])
def test_an_item_of_an_unknown_kind_is_an_item(kind: str, action: str) -> None:
    assert audit.of_item(kind, "held") == action


def test_an_id_from_elsewhere_is_cut(aurora: Any) -> None:
    ids = [audit.event("x", "y" * length, actor=None, team=aurora).object_id for length in (59, 60, 61)]
    assert ids == ["y" * 59, "y" * 60, "y" * 60]


def test_an_import_is_one_event_with_its_counts(aurora: Any) -> None:
    audit.imported("patterns", ["a"] * 60, ["b"] * 60, "imp_1", actor=None, team=aurora)
    event = AuditEvent.objects.get(action="patterns-imported")
    assert (event.object_id, event.team, event.before, event.after) == ("imp_1", aurora, "", "")
    assert event.data == {"count": 120, "new": 60, "changed": 60, "ids": ["a"] * 60 + ["b"] * 40}
