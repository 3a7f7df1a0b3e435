"""The settings of a team stand on the tabs of its page and are saved with one button, all of them or none."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import members
from metacog.models import AuditEvent, Channel, Membership, Team
from metacog.notices import notices
from tests import team_settings
from tests.tables import table

pytestmark = pytest.mark.django_db
CHAT = {"chat-url": "https://hooks.slack.com/services/T0/B0/AbCd", "chat-minutes": "30"}
ALL = {"hours": "1.5", "mail_links": "on", "days": "90", "names_people": "on", **CHAT}
EVENTS = {
    "decide-within-changed", "team-notices-changed", "channel-changed", "retention-changed", "names-people-on",
}  # fmt: skip


def page_of(client: Any, team: Any, **query: str) -> str:
    return str(client.get(reverse("team"), {"team": team.pk, **query}).content.decode())


def open_tab(page: str) -> list[str]:
    """Return which part shows, and what the link to it says."""
    shown = re.findall(r'class="part[^"]* is-open" id="tab-(\w+)"', page)
    return shown + re.findall(r'data-part="(\w+)"\s+aria-current="true"', page)


def changes() -> list[str]:
    """Return what the audit log has of a team's settings."""
    return list(AuditEvent.objects.filter(action__in=EVENTS).order_by("pk").values_list("action", flat=True))


def test_one_save_is_for_all_tabs_and_each_change_is_in_the_audit_log(olga: Any, aurora: Any, as_person: Any) -> None:
    client = as_person(olga)
    answer = team_settings.save(client, aurora, **ALL, sure="1", tab="data")
    assert answer.url == f"{reverse('team')}?team={aurora.pk}&tab=data", "to the tab that somebody was on"
    team = Team.objects.get(pk=aurora.pk)
    assert (team.decide_within_minutes, team.mail_links, team.mail_texts, team.retention_days) == (90, True, False, 90)
    assert (team.names_people, Channel.objects.get().minutes) == (True, 30)
    assert set(changes()) == EVENTS
    team_settings.save(client, aurora)
    assert len(changes()) == len(EVENTS), "what was not changed is no change"
    assert team_settings.save(client, aurora, mail_texts="on").url.endswith("&tab=notices"), "without a script"


@table(
    ("wrong", "tab", "names"),
    [
        ({"hours": "0"}, "deciding", ["Deciding"]),
        ({"days": "soon"}, "data", ["Data"]),
        ({"chat-url": "http://chat.example.org/x"}, "notices", ["Notices and chat"]),
        ({"chat-url": ""}, "notices", ["Notices and chat"]),  # and 30 minutes
        ({"days": "0", "chat-minutes": "0"}, "notices", ["Notices and chat", "Data"]),
    ],
    rolled_back=True,
)
def test_an_error_opens_its_tab_keeps_what_was_typed_and_saves_nothing(
    olga: Any, aurora: Any, as_person: Any, wrong: dict[str, str], tab: str, names: list[str]
) -> None:
    answer = team_settings.save(as_person(olga), aurora, **ALL | {"sure": "1"} | wrong)
    page = answer.content.decode()
    assert (answer.status_code, open_tab(page), changes()) == (422, [tab, tab], [])
    alert = re.search(r'role="alert">(.+?)</p>', page, re.DOTALL)
    assert alert
    assert "Nothing was saved." in alert[1]
    assert re.findall(r">([A-Z][\w ]+)</a>", alert[1]) == names
    assert page.count("To be corrected") == len(names)
    typed = ALL | wrong
    assert f'name="hours" value="{typed["hours"]}"' in page
    assert Team.objects.get(pk=aurora.pk).decide_within_minutes == 240


def test_what_another_owner_saved_meanwhile_stays(olga: Any, aurora: Any, as_person: Any) -> None:
    client = as_person(olga)
    mine = team_settings.shown(client, aurora)
    team_settings.save(client, aurora, names_people="on", **CHAT)
    assert team_settings.send(client, aurora, mine, hours="2", mail_texts="on").status_code == 302
    team = Team.objects.get(pk=aurora.pk)
    assert (team.names_people, team.decide_within_minutes, team.mail_texts) == (True, 120, True)
    assert Channel.objects.get().minutes == 30


def test_a_chat_that_another_owner_removed_meanwhile_keeps_nobody_from_saving(
    olga: Any, aurora: Any, as_person: Any
) -> None:
    client = as_person(olga)
    team_settings.save(client, aurora, **CHAT)
    mine = team_settings.shown(client, aurora)
    notices.remove_channel(aurora, olga)
    assert team_settings.send(client, aurora, mine, hours="2").status_code == 302
    assert Team.objects.get(pk=aurora.pk).decide_within_minutes == 120
    assert team_settings.send(client, aurora, mine, **{"chat-minutes": "60"}).status_code == 422, "it has no address"
    assert not Channel.objects.exists()


def test_it_says_that_whose_role_was_changed_is_no_longer_a_member(
    olga: Any, alice: Any, bob: Any, aurora: Any, as_person: Any
) -> None:
    client, own = as_person(olga), {person: Membership.objects.get(user=person) for person in (alice, bob)}
    for role, said in (
        ("viewer", ["Saved.", "1 person whose role you changed is no longer a member"]),
        ("", ["Saved."]),
    ):
        mine = team_settings.shown(client, aurora)
        members.remove_member(own[alice if role else bob], olga)
        changed = {f"role-{own[alice].pk}": role} if role else {}
        answer = team_settings.send(client, aurora, mine, hours="2" if role else "3", **changed)
        told = [str(each) for each in get_messages(answer.wsgi_request)]
        assert [each.partition(":")[0] for each in told] == said


def test_erasing_is_asked_about_once_more_and_nothing_is_saved_before(olga: Any, aurora: Any, as_person: Any) -> None:
    client = as_person(olga)
    Team.objects.update(created_at=timezone.now() - timedelta(days=91))
    answer = team_settings.save(client, aurora, **ALL)
    page = answer.content.decode()
    assert (answer.status_code, open_tab(page), changes()) == (200, ["data", "data"], [])
    assert "Keep 90 days and erase what is older" in page
    assert 'name="hours" value="1.5"' in page, "what was typed on the other tabs is still there"
    first = re.search(r"<form[^>]+id=\"settings\".*?<button([^>]*)>", page, re.DOTALL)
    assert first
    assert "sure" not in first[1], "Enter in any field does not erase"


def test_each_tab_has_its_address_and_a_role_sees_those_that_it_may(
    olga: Any, alice: Any, aurora: Any, as_person: Any
) -> None:
    tabs = ["people", "deciding", "notices", "webhooks", "data"]
    client = as_person(olga)
    for tab in tabs:
        assert open_tab(page_of(client, aurora, tab=tab)) == [tab, tab]
    assert open_tab(page_of(client, aurora, tab="elsewhere")) == ["people", "people"]
    page = page_of(as_person(alice), aurora, tab="notices")
    assert re.findall(r'href="#tab-(\w+)"', page) == ["people", "deciding", "data"]
    assert open_tab(page) == ["people", "people"]
    assert 'id="settings"' not in page
    for name in ("asking", "team-rules"):
        beside = as_person(alice).get(reverse(name, args=[aurora.pk])).content.decode()
        assert f'href="{reverse("team")}?team={aurora.pk}&amp;tab=data"' in beside
        assert re.search(rf'data-part="{name}"\s+aria-current="page"', beside)


def test_what_leads_into_the_page_leads_to_a_part_of_it(olga: Any, aurora: Any, as_person: Any) -> None:
    """Addresses such as /team/?team=1#decide-in are older than the tabs."""
    folder = Path(__file__).parents[4] / "templates"
    found = {
        name
        for path in folder.rglob("*.html")
        for name in re.findall(r"\{% url 'team' %\}[^\"#]*#([\w-]+)", path.read_text())
    }
    page = page_of(as_person(olga), aurora)
    parts = page[page.index('class="part') : page.index('class="save"')]
    known = {"members", "groups", "asking", "team-rules", "keeping", "factor", "target", "learning", "notices", "chat"}
    for name in found | known | {"decide-in", "webhooks", "names"}:
        assert f'id="{name}"' in parts, name
    assert "decide-in" in found
