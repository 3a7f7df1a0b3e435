"""The installed app in a real browser: its service worker, what it keeps, its notices, and the item under the thumb."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from metacog.accounts import keys
from metacog.models import PushDevice
from metacog.notices import push
from tests.browser.axe import faults
from tests.metacog.notices.phones import Phone
from tests.reviews.api.test_tool_calls import held_by
from tests.reviews.outbox.receiving import Receiver

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 390, "height": 844}
# What is pushed to a worker that is still activating is lost.
ACTIVE = """async () => {
    const { active } = await navigator.serviceWorker.ready;
    while (active.state !== "activated") await new Promise(requestAnimationFrame);
    return active.scriptURL;
}"""
KEPT = """async () => {
    const kept = [];
    for (const name of await caches.keys())
        for (const { url } of await (await caches.open(name)).keys()) kept.push(new URL(url).pathname);
    return kept.sort();
}"""
SHOWN = """async () => {
    const registration = await navigator.serviceWorker.ready;
    const began = performance.now();
    while (performance.now() - began < 1_000) {
        for (const { title, body, tag } of await registration.getNotifications()) return { title, body, tag };
        await new Promise(requestAnimationFrame);
    }
}"""
# In place of the push service of the browser's maker, which a test cannot reach.
SUBSCRIBED = """(given) => {
    const subscription = { toJSON: () => given, options: {} };
    PushManager.prototype.getSubscription = async () => (window.isSubscribed ? subscription : null);
    PushManager.prototype.subscribe = async (options) => {
        window.isSubscribed = options.userVisibleOnly;
        return subscription;
    };
}"""


@pytest.fixture
def page(open_page: Any, alice: Any) -> Any:
    push.ensure_key()
    return open_page(alice, viewport=PHONE, service_workers="allow", permissions=["notifications"])


def test_without_a_connection_it_says_so_and_nothing_private_is_kept(page: Any, kuro: Any) -> None:
    held = held_by(kuro)
    page.goto(reverse("item", args=[held]))
    assert page.evaluate(ACTIVE).endswith("/service-worker.js?language=en")
    page.reload()  # what it opens now goes through the worker
    expect(page.locator("#approve")).to_be_visible()
    kept = page.evaluate(KEPT)
    assert "/offline/" in kept
    assert [path for path in kept if not path.startswith("/static/")] == ["/offline/"]
    session = page.context.new_cdp_session(page)
    assert json.loads(session.send("Page.getAppManifest")["data"])["start_url"] == "/queue/"
    assert session.send("Page.getAppManifest")["errors"] == []
    wrong = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {each["errorId"] for each in wrong} <= {"in-incognito"}, "as each of these browsers is, if it says so"
    page.context.set_offline(True)
    try:
        page.goto(reverse("item", args=[held]))
        expect(page.get_by_role("heading", name="No connection")).to_be_visible()
        assert page.evaluate("getComputedStyle(document.querySelector('.gate')).maxWidth") != "none", "it has its style"
        assert faults(page) == []
    finally:
        page.context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.locator("#approve")).to_be_visible()


def test_a_notice_opens_the_item_with_its_buttons_under_the_thumb(page: Any, kuro: Any) -> None:
    held = held_by(kuro)
    page.goto(reverse("queue"))
    page.evaluate(ACTIVE)
    message = push.Message(
        "Tool call from kuro", "Bash: delete", push.HELD, reverse("item", args=[held]), "high", 60, "en",
        actions=[("Approve…", f"{reverse('item', args=[held])}#to-decide")], closed="/notices/closed/none",
    )  # fmt: skip
    session = page.context.new_cdp_session(page)
    found: list[Any] = []
    session.on("ServiceWorker.workerRegistrationUpdated", lambda told: found.extend(told["registrations"]))
    session.send("ServiceWorker.enable")
    page.wait_for_function("true")
    origin = page.evaluate("location.origin")
    [registration] = [each["registrationId"] for each in found if each["scopeURL"] == f"{origin}/"]
    for _ in range(20):  # a busy browser drops some of what comes to a worker as new as this one, without a word
        session.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": origin, "registrationId": registration, "data": message.payload},
        )
        if shown := page.evaluate(SHOWN):
            break
    assert shown == {"title": "Tool call from kuro", "body": "Bash: delete", "tag": "held"}
    page.goto(message.actions[0][1])
    button = page.locator("#approve button").bounding_box()
    assert button["y"] > PHONE["height"] * 0.75, "at the thumb"
    assert button["y"] + button["height"] <= PHONE["height"]
    assert button["height"] >= 40
    page.locator("#approve button").click()
    expect(page.locator("#told")).to_contain_text("Approved")


def test_a_person_turns_notices_on_and_removes_the_device(page: Any, alice: Any, settings: Any) -> None:
    settings.CALLBACK_ALLOW = frozenset({"http://127.0.0.1:9"})
    given = Phone(Receiver(url="http://127.0.0.1:9/hook")).subscription
    subscription = {"endpoint": given.pop("endpoint"), "keys": given}
    page.goto(reverse("preferences"))
    page.evaluate(ACTIVE)
    page.evaluate(SUBSCRIBED, subscription)
    page.get_by_role("button", name="Turn on for this device").click()
    expect(page.get_by_text("Notices are on for this device. The first one")).to_be_visible()
    device = PushDevice.objects.get(person=alice)
    assert json.loads(keys.decrypted(device.subscription_encrypted) or "") == subscription
    expect(page.get_by_text("this device", exact=True)).to_be_visible()
    assert faults(page) == []
    page.get_by_role("button", name=f"Remove {device.name}").click()
    expect(page.get_by_text("no longer gets notices")).to_be_visible()
    assert not PushDevice.objects.exists()
