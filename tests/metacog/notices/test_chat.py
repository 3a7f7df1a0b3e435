"""A team's chat: told what waits, in words that are only words, at an address nobody sees again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from metacog.accounts import keys
from metacog.models import Agent, AuditEvent, Channel, Notice, Policy, Team
from metacog.notices import notices
from patterns.models import ErrorPattern
from reviews.models import HeldItem
from tests import team_settings
from tests.metacog.notices.conftest import DAY, HOUR, MINUTE, NOW, hold, sweep
from tests.reviews.outbox.receiving import Receiver, listening
from tests.tables import table

pytestmark = pytest.mark.django_db

SLACK = "https://hooks.slack.com/services/T0/B0/s3cr3tAbCd"
CHOICES = {"chat-url": SLACK, "chat-minutes": "20", "chat-language": "en"}


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    with listening() as found:
        settings.CALLBACK_ALLOW = frozenset({found.origin})
        yield found


def set_up(team: Any, person: Any, url: str, **fields: Any) -> Channel:
    notices.set_channel(team, person, url=url, **{"minutes": 15, "language": "en", "texts": False, **fields})
    return Channel.objects.get()


def texts(receiver: Receiver) -> list[str]:
    return [json.loads(seen.body)["text"] for seen in receiver.seen]


def test_it_is_told_of_each_item_once_and_no_more_than_it_may(
    aurora: Any, olga: Any, kuro: Any, other: Any, receiver: Receiver, settings: Any
) -> None:
    settings.MAIL_FROM = ""
    set_up(aurora, olga, receiver.url)
    held = hold(kuro, NOW - 2 * MINUTE)
    hold(other, NOW - 2 * MINUTE)
    sweep(NOW)
    assert texts(receiver) == [
        "1 new held item in Aurora, score 50. The oldest has been held for 2 min.\n"
        "• CHAT from kuro, score 50: Absolute claim, Error pattern\n"
        f"https://metacog.example.org/queue/{held}/"
    ]
    for _ in range(4):
        hold(kuro, NOW + MINUTE)
    sweep(NOW + 14 * MINUTE)
    assert len(receiver.seen) == 1
    sweep(NOW + 15 * MINUTE)
    assert texts(receiver)[1].startswith(
        "4 new held items in Aurora, the highest score 50. The oldest has been held for 17 min."
    )
    assert texts(receiver)[1].endswith("1 more is in the queue.\nhttps://metacog.example.org/queue/")
    sweep(NOW + DAY)
    assert len(receiver.seen) == 2
    assert AuditEvent.objects.filter(action="channel-told", team=aurora).count() == 2


def test_a_hint_is_not_among_the_reasons(aurora: Any, olga: Any, kuro: Any, receiver: Receiver) -> None:
    set_up(aurora, olga, receiver.url)
    Policy.objects.update(profile="aware")
    hold(kuro, NOW - 2 * MINUTE, response="顯然是快取。cache\u200b")
    sweep(NOW)
    assert "score 60: Error pattern, Hidden characters\n" in texts(receiver)[0]


@pytest.mark.usefixtures("translated")
def test_in_chinese_it_has_chinese_colons_and_full_stops(aurora: Any, olga: Any, kuro: Any, receiver: Receiver) -> None:
    set_up(aurora, olga, receiver.url, language="zh-hant")
    hold(kuro, NOW - 2 * MINUTE)
    sweep(NOW)
    first, second, _address = texts(receiver)[0].splitlines()
    assert first == "Aurora 有 1 個新的暫留項目，最高 50 分。最早的已暫留 2 分鐘。"
    assert second == "• kuro 的 CHAT，50 分：絕對用語、錯誤模式"


def test_an_item_is_told_of_once_it_is_a_minute_old(aurora: Any, olga: Any, kuro: Any, receiver: Receiver) -> None:
    set_up(aurora, olga, receiver.url)
    hold(kuro, NOW - MINUTE)  # another's transaction, begun before it, may still be open
    sweep(NOW - MINUTE / 60)
    assert receiver.seen == []
    sweep(NOW)
    assert len(receiver.seen) == 1


def test_while_it_is_away_one_notice_waits_for_it(aurora: Any, olga: Any, kuro: Any, receiver: Receiver) -> None:
    set_up(aurora, olga, receiver.url)
    receiver.answers = [500]
    for n in range(3):
        hold(kuro, NOW + n * 20 * MINUTE)
        Notice.objects.update(attempts=8, next_attempt_at=NOW + 2 * HOUR)
        sweep(NOW + n * 20 * MINUTE + MINUTE)
    assert (len(receiver.seen), Notice.objects.count()) == (1, 1)


@table("back", [HOUR, 8 * DAY])
@table("died", [False, True], rolled_back=True)
def test_what_was_put_off_before_the_clock_was_set_back_is_told(
    aurora: Any, olga: Any, kuro: Any, receiver: Receiver, back: timedelta, died: bool
) -> None:
    set_up(aurora, olga, receiver.url)
    receiver.answers = [500]
    hold(kuro, NOW - 2 * MINUTE)
    sweep(NOW)
    if died:
        Notice.objects.update(leased_until=NOW + MINUTE)
    sweep(NOW - back)
    assert Notice.objects.get().state == "sent"


@pytest.mark.parametrize(("status", "trouble"), [(404, "status"), (302, "status"), (500, "status")])
def test_what_it_does_not_take_is_tried_again_as_it_stands_then(
    aurora: Any, olga: Any, kuro: Any, receiver: Receiver, status: int, trouble: str
) -> None:
    set_up(aurora, olga, receiver.url)
    hold(kuro, NOW - HOUR)
    receiver.answers = [status]
    sweep(NOW)
    assert Notice.objects.get().trouble == trouble
    hold(kuro, NOW - MINUTE / 2)
    sweep(NOW + MINUTE)
    assert "2 new held items" in texts(receiver)[1]
    sweep(NOW + 2 * MINUTE)
    assert (len(receiver.seen), Notice.objects.get().state) == (2, "sent")


def test_a_private_address_is_not_reached(aurora: Any, olga: Any, kuro: Any, receiver: Receiver, settings: Any) -> None:
    set_up(aurora, olga, receiver.url)
    settings.CALLBACK_ALLOW = frozenset()
    hold(kuro, NOW - HOUR)
    sweep(NOW)
    assert (receiver.seen, Notice.objects.get().trouble) == ([], "forbidden")


def test_a_chat_that_was_removed_is_told_nothing(aurora: Any, olga: Any, kuro: Any, receiver: Receiver) -> None:
    set_up(aurora, olga, receiver.url)
    hold(kuro, NOW - HOUR)
    receiver.answers = [500]
    sweep(NOW)
    notices.remove_channel(aurora, olga)
    sweep(NOW + MINUTE)
    assert (len(receiver.seen), Notice.objects.get().state) == (1, "moot")


HOSTILE = (
    "\u202e\u200b _i_ "
    "<!channel> <@U123> @channel @everyone @here <https://evil.example|click> [click](https://evil.example) "
    "![x](http://evil.example/x.png) *b* `code` ~s~ &lt;!here&gt; https://evil.example www.evil.example\r\n"
)


@pytest.mark.parametrize("times", [1, 40])
def test_hostile_texts_and_names_call_nobody_link_nowhere_and_fit(
    aurora: Any, olga: Any, kuro: Any, receiver: Receiver, times: int
) -> None:
    set_up(aurora, olga, receiver.url, texts=True)
    pattern = ErrorPattern.objects.get(team=aurora)
    pattern.description = (HOSTILE * times)[:500]
    pattern.save()
    for _ in range(3):
        hold(kuro, NOW - HOUR)
    HeldItem.objects.update(text=HOSTILE * times)
    Agent.objects.filter(public_id=kuro.id).update(name=(HOSTILE * times)[:100])
    Team.objects.filter(pk=aurora.pk).update(name=("&" + HOSTILE)[:100])
    sweep(NOW)
    [text] = texts(receiver)
    assert len(text) <= 2000
    ours = re.compile(r"https://metacog\.example\.org/queue/\S*")
    assert len(ours.findall(text)) == 3
    rest = ours.sub("", text)
    assert not re.search(r"[<>&@*~`|\[\]\u202e\u200b]|\b_|_\b|://|www\.e|https?:/", rest)
    assert "U+202E" in rest or times > 1
    assert "U+2060" not in rest, "what breaks links is not taken for the agent's"


@pytest.mark.parametrize("texts_out", [True, False])
def test_excerpts_go_out_only_where_the_owner_lets_them(
    aurora: Any, olga: Any, kuro: Any, receiver: Receiver, texts_out: bool
) -> None:
    set_up(aurora, olga, receiver.url, texts=texts_out)
    hold(kuro, NOW - HOUR)
    sweep(NOW)
    assert ("The cause is clearly the cache." in texts(receiver)[0]) == texts_out


def test_the_address_is_kept_encrypted_and_never_shown_or_recorded(aurora: Any, olga: Any, as_person: Any) -> None:
    client = as_person(olga)
    assert team_settings.save(client, aurora, **CHOICES).status_code == 302
    channel = Channel.objects.get()
    assert keys.decrypted(channel.url_encrypted) == SLACK
    assert "s3cr3t" not in channel.url_encrypted
    page = client.get(reverse("team")).content.decode()
    assert "hooks.slack.com/…AbCd" in page
    assert "s3cr3t" not in page
    event = AuditEvent.objects.get(action="channel-changed")
    assert (event.actor, event.data) == ("olga", {"fields": ["minutes", "language", "texts", "mentions", "url"]})
    for _ in range(2):
        team_settings.save(client, aurora, **CHOICES | {"chat-url": "", "chat-minutes": "30"})
    assert keys.decrypted(Channel.objects.get().url_encrypted) == SLACK
    changed = AuditEvent.objects.filter(action="channel-changed")
    assert (changed.count(), changed[0].data) == (2, {"fields": ["minutes"]}), "the same again is no change"
    team_settings.save(client, aurora, **CHOICES | {"chat-url": SLACK.replace("AbCd", "WxYz")})
    assert "hooks.slack.com/…WxYz" in client.get(reverse("team")).content.decode()


@table(
    ("field", "value", "said"),
    [
        ("url", "", "Give the address that the chat gave you."),
        ("url", "hooks.slack.com/x", "Enter an address such as"),
        ("url", "https://user:password@chat/x", "Enter an address such as"),
        ("url", "http://chat.example.org/x", "The address must begin with https://"),
        ("minutes", "0", "greater than or equal to 1"),
        ("language", "tlh", "Select a valid choice"),
    ],
    rolled_back=True,
)
def test_it_says_what_cannot_be_set(aurora: Any, olga: Any, as_person: Any, field: str, value: str, said: str) -> None:
    answer = team_settings.save(as_person(olga), aurora, **CHOICES | {f"chat-{field}": value})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Channel.objects.exists()


@pytest.mark.parametrize(
    ("status", "said"),
    [(200, "The chat accepted the test message."), (403, "could not be sent: The chat refused the message.")],
)
def test_a_test_message_says_what_came_of_it(
    aurora: Any, olga: Any, as_person: Any, receiver: Receiver, status: int, said: str
) -> None:
    set_up(aurora, olga, receiver.url)
    receiver.answers = [status]
    answer = as_person(olga).post(reverse("channel-test", args=[aurora.pk]), follow=True)
    assert said in answer.content.decode()
    assert texts(receiver) == ["This is a test. Notices about held items are posted here."]
    assert not Notice.objects.exists()


def test_an_address_under_a_lost_secret_key_is_told_as_such(
    aurora: Any, olga: Any, kuro: Any, receiver: Receiver, settings: Any
) -> None:
    set_up(aurora, olga, receiver.url)
    settings.SECRET_KEY = "x" * 50
    hold(kuro, NOW - HOUR)
    sweep(NOW)
    assert (receiver.seen, Notice.objects.get().trouble) == ([], "lost")
