"""Signing in, one-time links, and what happens after too many wrong passwords."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from metacog.accounts import members
from metacog.models import AuditEvent, Membership, User
from tests.tables import table


def sign_in(client: Client, name: str, password: str, **more: str) -> Any:
    return client.post(reverse("sign-in"), {"username": name, "password": password, **more})


def test_it_signs_in_with_the_right_password(alice: Any, client: Client) -> None:
    answer = sign_in(client, "alice", "alice-password")
    assert answer.status_code == 302
    assert answer.url == reverse("queue")


def test_it_says_plainly_that_they_do_not_go_together(alice: Any, client: Client) -> None:
    answer = sign_in(client, "alice", "wrong")
    assert "User name or password is wrong" in answer.content.decode()
    assert "alice" in answer.content.decode()  # what was typed stays


def test_it_leads_back_to_where_one_was(alice: Any, client: Any) -> None:
    first = client.get("/agents/?a=1")
    assert first.url == "/sign-in/?next=/agents/%3Fa%3D1"
    assert sign_in(client, "alice", "alice-password", next="/agents/?a=1").url == "/agents/?a=1"


@table(
    "after",
    ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/sign-in/", "/sign-out/", "\\\\evil"],
    rolled_back=True,
)
def test_it_leads_nowhere_else(alice: Any, client: Client, after: str) -> None:
    assert sign_in(client, "alice", "alice-password", next=after).url == reverse("queue")


def test_it_does_not_loop_for_who_is_signed_in(alice: Any, as_person: Any) -> None:
    assert as_person(alice).get("/sign-in/?next=/sign-in/").url == reverse("queue")


def test_signing_out_works_when_the_session_has_ended(db: None, client: Any) -> None:
    assert client.post(reverse("sign-out")).url == reverse("sign-in")
    assert client.get(reverse("sign-out")).status_code == 405


class TestTooManyAttempts:
    def fail(self, client: Client, name: str = "alice", times: int = 5) -> Any:
        for _ in range(times):
            answer = sign_in(client, name, "wrong")
        return answer

    def test_it_says_how_long_to_wait(self, alice: Any, client: Client) -> None:
        answer = self.fail(client)
        assert answer.status_code == 429
        assert answer["Retry-After"] == "900"
        assert "Wait 15 minutes" in answer.content.decode()

    def test_the_wait_is_that_of_the_name_as_it_counts(self, alice: Any, client: Client) -> None:
        assert self.fail(client, " ａlice ")["Retry-After"] == "900"

    def test_it_refuses_the_right_password_meanwhile(self, alice: Any, client: Client) -> None:
        self.fail(client)
        assert sign_in(client, "alice", "alice-password").status_code == 429

    def test_it_takes_the_right_password_afterwards(self, alice: Any, client: Client) -> None:
        self.fail(client)
        AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=15, seconds=1))
        assert sign_in(client, "alice", "alice-password").status_code == 302

    @pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(days=8)])
    def test_it_takes_the_right_password_where_the_clock_was_set_back(
        self, alice: Any, client: Client, noon: Any, back: timedelta
    ) -> None:
        self.fail(client)
        noon.at -= back
        assert sign_in(client, "alice", "alice-password").status_code == 302
        assert self.fail(Client()).status_code == 429

    def test_it_counts_by_name_and_address(self, alice: Any, bob: Any, client: Client) -> None:
        self.fail(client)
        assert sign_in(client, "bob", "bob-password").status_code == 302
        elsewhere = Client(REMOTE_ADDR="192.0.2.7")
        assert sign_in(elsewhere, "alice", "alice-password").status_code == 302

    def test_a_right_password_forgives_the_wrong_ones(self, alice: Any, client: Client) -> None:
        self.fail(client, times=4)
        assert sign_in(client, "alice", "alice-password").status_code == 302
        assert not AccessAttempt.objects.exists()

    def test_the_log_says_where_guesses_come_from_and_not_what_was_typed(
        self, alice: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        self.fail(Client(REMOTE_ADDR="192.0.2.7"))
        assert "Locking out" in caplog.messages[-1]
        assert "192.0.2.7" in caplog.messages[-1]
        assert "alice" not in caplog.text

    def test_it_counts_by_address_alone_whichever_names_are_tried(self, alice: Any, client: Client) -> None:
        answers = [sign_in(client, f"name-{number}", "wrong") for number in range(31)]
        assert [answer.status_code for answer in answers] == [200] * 30 + [429]
        assert answers[-1]["Retry-After"] == "900"
        assert "for several user names. Wait 15 minutes" in answers[-1].content.decode()
        assert sign_in(client, "alice", "alice-password").status_code == 429
        assert sign_in(Client(REMOTE_ADDR="192.0.2.7"), "alice", "alice-password").status_code == 302
        newest = AccessAttempt.objects.latest("attempt_time")  # one wrong one that no longer counts is enough
        AccessAttempt.objects.exclude(pk=newest.pk).update(attempt_time=F("attempt_time") - timedelta(minutes=14))
        assert sign_in(client, "alice", "alice-password")["Retry-After"] == "60"
        AccessAttempt.objects.exclude(pk=newest.pk).update(attempt_time=F("attempt_time") - timedelta(minutes=2))
        assert sign_in(client, "alice", "alice-password").status_code == 302

    def test_an_office_whose_people_slip_a_few_times_each_gets_in(self, alice: Any, client: Client) -> None:
        for number in range(9):
            self.fail(client, f"name-{number}", times=3)
        assert sign_in(client, "alice", "alice-password").status_code == 302

    def test_it_takes_any_bytes_for_a_name(self, db: None, client: Client) -> None:
        for name in ("\0", "x" * 5000, "名\u202e"):
            assert sign_in(client, name, "wrong").status_code == 200


class TestOneTimeLink:
    @pytest.fixture
    def newcomer(self, aurora: Any, olga: Any) -> Any:
        membership, is_new = members.add_member(aurora, "nina", "reviewer", olga)
        assert is_new
        return membership

    def path(self, membership: Any, olga: Any) -> str:
        return "/" + members.make_link(membership, olga).split("/", 3)[3]

    def use(self, client: Client, path: str, password: str = "a long new one") -> Any:
        form = client.get(path, follow=True)
        if "new_password1" not in form.content.decode():
            return form
        data = {"new_password1": password, "new_password2": password}
        return client.post(form.redirect_chain[-1][0], data)

    def test_it_sets_the_password_and_signs_in(self, newcomer: Any, olga: Any, client: Client) -> None:
        answer = self.use(client, self.path(newcomer, olga))
        assert answer.url == reverse("queue")
        assert client.get(reverse("agents")).status_code == 200
        assert AuditEvent.objects.filter(action="password-set", actor="nina").count() == 1

    def test_opening_it_uses_nothing_up(self, newcomer: Any, olga: Any, client: Client) -> None:
        path = self.path(newcomer, olga)
        for _ in range(3):
            Client().get(path, follow=True)
        assert self.use(client, path).url == reverse("queue")

    def test_it_works_once(self, newcomer: Any, olga: Any, client: Client) -> None:
        path = self.path(newcomer, olga)
        self.use(client, path)
        assert "Link expired" in self.use(Client(), path).content.decode()
        again = client.get(path).content.decode()
        assert "Link expired" in again
        assert "Ask an owner" not in again, "whoever is signed in needs none"
        assert reverse("sign-in") not in again

    def test_it_dies_when_the_person_joins_another_team(
        self, newcomer: Any, olga: Any, borealis: Any, mallory: Any
    ) -> None:
        path = self.path(newcomer, olga)
        members.add_member(borealis, "nina", "viewer", mallory)
        assert "Link expired" in self.use(Client(), path).content.decode()

    def test_it_refuses_a_weak_password(self, newcomer: Any, olga: Any, client: Client) -> None:
        answer = self.use(client, self.path(newcomer, olga), "short")
        assert answer.status_code == 200
        assert 'aria-invalid="true"' in answer.content.decode()
        assert not User.objects.get(username="nina").has_usable_password()

    def test_it_deletes_the_first_owners_file(self, db: None, client: Client, settings: Any, tmp_path: Any) -> None:
        from metacog.management.commands.up import write_link

        settings.DATA_DIR = tmp_path
        owner = User.objects.create(username="admin", is_superuser=True)
        owner.set_unusable_password()
        owner.save()
        file = tmp_path / "first-owner-link"
        write_link(file, owner)
        path = "/" + file.read_text().strip().split("/", 3)[3]
        assert self.use(client, path).url == reverse("queue")
        assert not file.exists()

    def test_it_leaves_another_persons_file(
        self, newcomer: Any, olga: Any, client: Client, settings: Any, tmp_path: Any
    ) -> None:
        settings.DATA_DIR = tmp_path
        (tmp_path / "first-owner-link").write_text("http://127.0.0.1:8000/welcome/x/y/\n")
        self.use(client, self.path(newcomer, olga))
        assert (tmp_path / "first-owner-link").exists()


def test_a_form_that_is_too_old_says_what_to_do(alice: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    answer = sign_in(client, "alice", "alice-password")
    assert answer.status_code == 403
    page = answer.content.decode()
    assert "Nothing was saved" in page
    assert "reload the page" in page


@pytest.mark.parametrize(
    ("sent", "origin"),
    [
        ({"origin": "https://metacog.example.org"}, "https://metacog.example.org"),
        ({"origin": "http://evil.example/<b>"}, "http://evil.example/&lt;b&gt;"),
        (
            {"referer": "https://proxy.example/sign-in/?next=/secret", "x-forwarded-proto": "https"},
            "https://proxy.example",
        ),
        ({"referer": "http://proxy.example/sign-in/", "x-forwarded-proto": "https"}, "http://proxy.example"),
    ],
)
def test_a_form_from_another_address_says_which_came_and_which_is_set_up(
    db: None, settings: Any, sent: dict[str, str], origin: str
) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    answer = Client(enforce_csrf_checks=True, headers=sent).post("/sign-in/", {"username": "alice"})
    page = answer.content.decode()
    assert answer.status_code == 403
    assert f"<code>{origin}</code>" in page
    assert "<code>http://127.0.0.1:8000</code> (METACOG_PUBLIC_URL)" in page
    assert "secret" not in page


def test_a_form_whose_token_is_wrong_tells_no_addresses(db: None) -> None:
    answer = Client(enforce_csrf_checks=True, headers={"origin": "http://testserver"}).post("/sign-in/", {})
    assert "Form expired" in answer.content.decode()
    assert "METACOG_PUBLIC_URL" not in answer.content.decode()


@table("host", ["evil.example", "no_name<b>", "a.example:99999", "[::1"], rolled_back=True)
def test_a_host_that_is_not_allowed_is_answered_by_our_own_page(db: None, host: str) -> None:
    page = Client().get("/queue/", headers={"host": host, "accept-language": "zh-hant"})
    assert (page.status_code, page["Content-Type"]) == (400, "text/html; charset=utf-8")
    assert "METACOG_ALLOWED_HOSTS" in page.content.decode()
    assert escape(host) in page.content.decode()
    assert 'lang="zh-hant"' in page.content.decode()
    answer = Client().get("/api/v1/held", headers={"host": host})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert "METACOG_ALLOWED_HOSTS" in answer.json()["detail"]


def test_a_person_in_no_team_is_told_what_to_do(db: None, as_person: Any) -> None:
    loner = User.objects.create_user("loner")
    assert "No team" in as_person(loner).get(reverse("team")).content.decode()
    assert not Membership.objects.exists()
