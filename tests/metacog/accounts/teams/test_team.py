"""The team page: who may see it, who may change it, and the owner who must stay."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from metacog.accounts import members, tokens
from metacog.models import Agent, AuditEvent, Membership, Role, Team, User
from reviews.held import talk
from reviews.models import AgentResponse, HeldItem
from tests import team_settings
from tests.tables import table


def add(client: Any, team: Any, **data: str) -> Any:
    return client.post(reverse("member-add", args=[team.pk]), {"role": "reviewer", **data})


def of(person: Any) -> Any:
    return Membership.objects.get(user=person)


def test_an_owner_adds_a_new_person_and_sees_the_link_once(olga: Any, aurora: Any, as_person: Any) -> None:
    client = as_person(olga)
    answer = add(client, aurora, username="nina", email="nina@example.org")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    (link,) = re.findall(r"http://[^<]*/welcome/[^<]+", page)
    assert link not in client.get(reverse("team")).content.decode()
    assert link not in str(dict(client.session))
    nina = User.objects.get(username="nina")
    assert not nina.has_usable_password()
    assert not nina.is_staff
    event = AuditEvent.objects.get(action="member-added")
    assert (event.actor, event.after, event.data["person"]) == ("olga", "reviewer", "nina")


def test_somebody_known_is_simply_added(olga: Any, aurora: Any, mallory: Any, as_person: Any) -> None:
    answer = add(as_person(olga), aurora, username="mallory", role="viewer")
    assert answer.status_code == 302
    assert Membership.objects.filter(team=aurora, user=mallory, role="viewer").exists()


@table(
    ("username", "said"),
    [
        ("alice", "already in this team"),
        ("ALICE", "use exactly this spelling"),
        ("a b", "valid username"),
        ("", "required"),
    ],
    rolled_back=True,
)
def test_it_says_why_somebody_cannot_be_added(
    olga: Any, alice: Any, aurora: Any, as_person: Any, username: str, said: str
) -> None:
    answer = add(as_person(olga), aurora, username=username)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert 'aria-describedby="id_username_error"' in page
    assert 'id="id_username_error"' in page


def test_roles_change_with_the_settings_and_are_recorded(olga: Any, alice: Any, aurora: Any, as_person: Any) -> None:
    client, role = as_person(olga), f"role-{of(alice).pk}"
    page = client.get(reverse("team")).content.decode()
    assert 'id="id_role-' in page
    answer = team_settings.save(client, aurora, **{role: "curator", "hours": "2"})
    assert answer.status_code == 302
    assert of(alice).role == Role.CURATOR
    assert User.objects.get(pk=alice.pk).is_staff
    assert Team.objects.get(pk=aurora.pk).decide_within_minutes == 120
    event = AuditEvent.objects.get(action="role-changed")
    assert (event.before, event.after) == ("reviewer", "curator")


def test_a_removed_member_sees_nothing_more(olga: Any, alice: Any, kuro: Any, as_person: Any) -> None:
    client = as_person(alice)
    assert client.get(reverse("agent", args=[kuro.id])).status_code == 200
    as_person(olga).post(reverse("member-remove", args=[of(alice).pk]), {"reason": "left"})
    assert client.get(reverse("agent", args=[kuro.id])).status_code == 404
    assert AuditEvent.objects.get(action="member-removed").before == "reviewer"


def test_a_removed_member_is_restored_as_they_were(
    olga: Any, alice: Any, aurora: Any, kuro: Any, as_person: Any
) -> None:
    members.change_role(of(alice), "curator", olga)
    held = HeldItem.objects.select_related("agent").get(public_id=kuro.hold())
    talk.assign(held, alice, olga)
    tokens.issue(alice, name="script", scopes=["read"], days=7)
    client, remove = as_person(olga), reverse("member-remove", args=[of(alice).pk])
    page = client.get(reverse("member-confirm", args=[of(alice).pk])).content.decode()
    assert "1 of their access tokens no longer works" in page
    assert "1 held item stays assigned to them" in page
    assert client.post(remove, {}).status_code == 422
    page = client.post(remove, {"reason": "By mistake."}, follow=True).content.decode()
    assert f'form="restore-member-{alice.pk}">Undo' in page
    assert f'id="restore-member-{alice.pk}"' in page
    assert AuditEvent.objects.get(action="member-removed").data["because"] == "By mistake."
    restore = reverse("member-restore", args=[aurora.pk])
    for _ in range(2):
        client.post(restore, {"person": alice.pk})
    assert of(alice).role == "curator"
    assert User.objects.get(pk=alice.pk).is_staff
    assert AuditEvent.objects.filter(action="member-restored").count() == 1


def test_nobody_else_is_restored(olga: Any, alice: Any, mallory: Any, aurora: Any, as_person: Any) -> None:
    members.remove_member(of(alice), olga)
    restore = reverse("member-restore", args=[aurora.pk])
    assert as_person(alice).post(restore, {"person": alice.pk}).status_code == 404
    assert as_person(mallory).post(restore, {"person": alice.pk}).status_code == 404
    for person in (mallory.pk, "x", "9" * 30):
        as_person(olga).post(restore, {"person": person})
    assert set(Membership.objects.filter(team=aurora).values_list("user__username", flat=True)) == {"olga"}


def test_one_whom_two_owners_remove_at_once_is_gone_for_the_second(olga: Any, alice: Any) -> None:
    first, second = of(alice), of(alice)
    members.remove_member(first, olga)
    with pytest.raises(Http404):
        members.remove_member(second, olga)
    assert AuditEvent.objects.filter(action="member-removed").count() == 1


def test_the_last_owner_stays(olga: Any, alice: Any, aurora: Any, as_person: Any) -> None:
    client, mine = as_person(olga), f"role-{of(olga).pk}"
    answer = client.post(reverse("member-remove", args=[of(olga).pk]), {"reason": "left"}, follow=True)
    assert "is the last owner of Aurora" in answer.content.decode()
    answer = team_settings.save(client, aurora, **{mine: "viewer", "hours": "2", f"role-{of(alice).pk}": "viewer"})
    page = answer.content.decode()
    assert (answer.status_code, page.count("is the last owner of Aurora")) == (422, 1)
    assert re.search(rf'name="{mine}"[^>]+autofocus', page), "where to correct it"
    assert (of(olga).role, of(alice).role, Team.objects.get(pk=aurora.pk).decide_within_minutes) == (
        Role.OWNER, Role.REVIEWER, 240,
    )  # fmt: skip
    assert not AuditEvent.objects.exists(), "all of it or nothing"
    handed = {mine: "viewer", f"role-{of(alice).pk}": "owner"}
    assert team_settings.save(client, aurora, **handed).status_code == 302, "to the next, whoever stands first"
    assert (of(olga).role, of(alice).role) == (Role.VIEWER, Role.OWNER)


def test_a_role_that_another_owner_changed_meanwhile_stays(
    olga: Any, alice: Any, bob: Any, aurora: Any, as_person: Any
) -> None:
    client = as_person(olga)
    shown = team_settings.shown(client, aurora)
    members.change_role(of(alice), "curator", olga)
    members.remove_member(of(bob), olga)
    members.add_member(aurora, "nina", "viewer", olga)
    assert team_settings.send(client, aurora, shown, hours="2").status_code == 302
    assert of(alice).role == "curator"
    assert Membership.objects.get(user__username="nina").role == "viewer"


def test_an_owner_may_go_when_another_stays(olga: Any, alice: Any, as_person: Any) -> None:
    members.change_role(of(alice), "owner", olga)
    as_person(olga).post(reverse("member-remove", args=[of(olga).pk]), {"reason": "left"})
    assert not Membership.objects.filter(user=olga).exists()
    assert not User.objects.get(pk=olga.pk).is_staff


def test_no_owner_makes_a_link_to_somebody_of_another_team(
    olga: Any, aurora: Any, mallory: Any, as_person: Any
) -> None:
    members.add_member(aurora, "mallory", "viewer", olga)
    theirs = Membership.objects.get(team=aurora, user=mallory)
    answer = as_person(olga).post(reverse("member-link", args=[theirs.pk]), follow=True)
    assert "teams you do not own" in answer.content.decode()
    assert "/welcome/" not in answer.content.decode()


def test_no_owner_makes_a_link_to_a_superuser(olga: Any, aurora: Any, as_person: Any) -> None:
    root = User.objects.create_superuser("root", password="x")
    members.add_member(aurora, "root", "viewer", olga)
    with pytest.raises(members.NotTheirs):
        members.make_link(of(root), olga)


def test_a_viewer_sees_no_forms_and_no_addresses(victor: Any, olga: Any, as_person: Any) -> None:
    User.objects.filter(pk=olga.pk).update(email="olga@example.org")
    page = as_person(victor).get(reverse("team")).content.decode()
    assert "olga" in page
    assert "olga@example.org" not in page
    assert "New member" not in page
    assert "Remove" not in page


def test_several_teams_are_chosen_at_the_top(olga: Any, borealis: Any, mallory: Any, as_person: Any) -> None:
    members.add_member(borealis, "olga", "viewer", mallory)
    client = as_person(olga)
    page = client.get(reverse("team"), {"team": borealis.pk}).content.decode()
    assert "<h1>Borealis</h1>" in page
    assert "New member" not in page
    assert "New member" in client.get(reverse("team")).content.decode()


@pytest.mark.parametrize("name", ["team", "learned-risk", "weekly-report"])
def test_a_page_of_a_team_opens_on_the_first_that_has_agents(
    olga: Any, aurora: Any, borealis: Any, mallory: Any, other: Any, as_person: Any, name: str
) -> None:
    members.add_member(borealis, "olga", "viewer", mallory)
    client = as_person(olga)
    page = client.get(reverse(name)).content.decode()
    assert re.findall(r'aria-current="page">(\w+)</a>', page.partition('<nav class="tabs"')[2])[:1] == ["Borealis"]
    Agent.objects.update(team=aurora)
    page = client.get(reverse(name)).content.decode()
    assert re.findall(r'aria-current="page">(\w+)</a>', page.partition('<nav class="tabs"')[2])[:1] == ["Aurora"]


def test_it_asks_the_database_the_same_however_many_there_are(
    olga: Any, aurora: Any, as_person: Any, django_assert_max_num_queries: Any
) -> None:
    client = as_person(olga)
    for number in range(12):
        members.add_member(aurora, f"person{number}", "viewer", olga)
    with django_assert_max_num_queries(17):
        client.get(reverse("team"))


class TestRetention:
    def keep(self, client: Any, team: Any, days: str, **data: str) -> Any:
        return team_settings.save(client, team, days=days, **data)

    def test_a_shorter_time_asks_once_more_and_says_what_goes(
        self, olga: Any, aurora: Any, kuro: Any, as_person: Any
    ) -> None:
        kuro.respond(), kuro.respond()
        AgentResponse.objects.filter(pk=AgentResponse.objects.latest("pk").pk).update(
            received_at=timezone.now() - timedelta(days=91)
        )
        client = as_person(olga)
        answer = self.keep(client, aurora, "90")
        assert answer.status_code == 200
        assert "1 response is older than that" in answer.content.decode()
        aurora.refresh_from_db()
        assert aurora.retention_days is None
        assert self.keep(client, aurora, "90", sure="1").status_code == 302
        aurora.refresh_from_db()
        assert aurora.retention_days == 90
        event = AuditEvent.objects.get(action="retention-changed")
        assert (event.actor, event.before, event.after) == ("olga", "for ever", "90 days")
        assert 'name="days" value="90"' in client.get(reverse("team")).content.decode()

    @table("days", ["", "120"], rolled_back=True)
    def test_a_longer_time_is_simply_saved(self, olga: Any, aurora: Any, as_person: Any, days: str) -> None:
        client = as_person(olga)
        self.keep(client, aurora, "90", sure="1")
        assert self.keep(client, aurora, days).status_code == 302
        aurora.refresh_from_db()
        assert aurora.retention_days == (int(days) if days else None)

    @table("age", [10, 100], rolled_back=True)
    def test_it_is_asked_where_something_may_be_older(self, olga: Any, aurora: Any, as_person: Any, age: int) -> None:
        Team.objects.update(created_at=timezone.now() - timedelta(days=age))
        answer = self.keep(as_person(olga), aurora, "90")
        assert (answer.status_code == 200, "No response is older than that." in answer.content.decode()) == (
            age > 90,
            age > 90,
        )

    @table("days", ["0", "-1", "36501", "soon", "1.5"], rolled_back=True)
    def test_it_refuses_what_is_no_number_of_days(self, olga: Any, aurora: Any, as_person: Any, days: str) -> None:
        assert self.keep(as_person(olga), aurora, days, sure="1").status_code == 422
        aurora.refresh_from_db()
        assert aurora.retention_days is None

    def test_others_read_it(self, victor: Any, aurora: Any, as_person: Any) -> None:
        assert "Forever." in as_person(victor).get(reverse("team")).content.decode()
