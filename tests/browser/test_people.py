"""The pages about people and agents and the admin: no fault axe can find, nothing the policy of content blocks."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from metacog.accounts import tokens
from metacog.models import Agent, Policy, Team
from metacog.notices import notices
from patterns.models import ErrorPattern, Lesson, Memory, Problem, ThoughtThread
from reviews.learning import reflections
from reviews.learning.extract import PatternProposal
from reviews.models import AgentResponse, Reflection, Research, Sample
from reviews.outbox import mail_links
from tests.admin.addresses import address
from tests.browser.axe import OF_COLOURS, faults
from tests.conftest import HELD
from tests.metacog.accounts.test_who_may import PEOPLE
from tests.patterns.api.test_problems import get_stuck

# A draft with rules on tool calls.
RULES = (
    '?rules=[{"tool":"mcp__bank__*","where":{"/eur":{"gt":50}},"do":"ask"},{"tool":"read_file","do":"allow"}'
    ',{"tool":"rm","do":"deny","shadow":true}]'
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def reflect(kuro: Any) -> None:
    agent = Agent.objects.select_related("team").get(public_id=kuro.id)
    assert reflections.reflect(agent, timezone.now())


def give_evidence(agent: Agent, person: Any) -> None:
    """Write what decisions say of an agent's weights and second looks, and of a person's review time."""
    from metacog.heuristics.hesitation.weight_fit import Fit
    from reviews.metrics import daily
    from reviews.models import DailyFigure, FittedWeights, LookFigure, ReviewTimeFigure

    now = timezone.now()
    daily.count_days(now)
    DailyFigure.objects.filter(agent=agent, day=now.date()).update(
        signals={"absolute-claim": {"fired": 84, "decided": 84, "rejected": 20}}, rejected=60, approved=240
    )
    caught = {"fitted": 9.5, "in_force": 5.0, "seed": 5.0, "length": None}
    found = Fit(120, 40, 20, "", 36, 8.0, 12.0, caught, 4.5, 1.0, 8.0, {"absolute-claim": 60}, 20, 60, 500, 30, 14)
    FittedWeights.objects.create(
        agent=agent, found=found.as_dict(), policy_version=1, since=now.date(), decision_seq=0, made_at=now
    )
    looks = {"kept": 2, "looked": 60, "contradicted": 20, "stood_let_go": 30, "stood_rejected": 10, "back_rejected": 20}
    LookFigure.objects.create(agent=agent, day=now.date(), kind="chat", **looks)
    times = {"approved": 30, "timed": 30, "hasty": 30, "tenths": {"12": 30}, "to_read": 900, "run": 30, "high_run": 3}
    ReviewTimeFigure.objects.create(
        person=person, team=agent.team, day=now.date(), counted_at=now, run_of="approve", **times
    )


# What a reader would have to push sideways, but for the numbers behind a chart.
SIDEWAYS = """[...document.querySelectorAll(".scroll:not(details *)")]
    .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.ariaLabel)"""

# What a finger may miss: lower than 40 pixels, but for links in running text.
LOW = """[...document.querySelectorAll(":is(a, button, input, select, textarea, summary):not(.skip, .unseen)")]
    .filter((each) => each.checkVisibility() && !(each.closest("p, dd, li")
        && getComputedStyle(each).display === "inline"))
    .map((each) => [(each.closest("label") ?? each).getBoundingClientRect().height, each.outerHTML.slice(0, 200)])
    .filter(([height]) => height > 0 && height < 39.5)"""


# Each in its own colours. On the wide screen pages are opened, then they are made narrow.
SCREENS = (("light", 1440), ("dark", 390))
# What may go wrong in other colours, with less room, and with what only phones show; the first screen is asked all.
NARROW_AND_DARK = (
    *OF_COLOURS, "scrollable-region-focusable", "target-size", "button-name", "link-name", "label", "select-name",
    "aria-hidden-focus", "duplicate-id-aria",
)  # fmt: skip


@pytest.mark.starts
@pytest.mark.parametrize("asked", [pytest.param(screen, id=screen[0]) for screen in SCREENS])
def test_the_pages_have_no_fault_axe_can_find(
    open_page: Any, request: pytest.FixtureRequest, olga: Any, kuro: Any, asked: tuple[str, int]
) -> None:
    from reviews.learning import sweep
    from reviews.models import ExtensionRequest, HeldItem

    for person in PEOPLE:
        request.getfixturevalue(person)
    kuro.hold()
    agent, pattern = Agent.objects.get(public_id=kuro.id), ErrorPattern.objects.get(team__name="Aurora")
    held = HeldItem.objects.get()
    Team.objects.update(mail_links=True)
    proposal = ErrorPattern.objects.create(
        team=pattern.team, keywords=["out of ideas"], description="gave up", state=ErrorPattern.State.PROPOSED
    )
    sweep.propose(pattern.team, PatternProposal(
        keywords=["out of ideas"], description="d", source="alex-correction", kind="rejection",
        row="dec_1", held=held, said="x", told="y",
    ))  # fmt: skip
    sweep.learn()
    get_stuck(kuro)
    for title in ("Hope", "約束與湧現的實踐"):
        kuro.post("/threads", {"title": title, "note": "x", "next": "y"})
    kuro.post("/threads/hope/resolve", {"note": "z"})
    for _ in range(3):
        kuro.respond("x", topics=["cache"], retrieval={"facts": 0})
    reflect(kuro)
    for text in ("The API supports pagination.", "The API does not support pagination.", HELD):
        kuro.post("/memory", {"text": text, "topic": "API", "source": "run 12"})
    for reason in ("Need TSMC Q3 revenue", "need more time"):
        kuro.post("/extensions", {"reason": reason, "evidence": ["Q2: 933.8"]})
    kuro.post("/research", {"verdict": "You should wait for 45 days.", "topic": "cache"})
    tokens.issue(olga, name="night shift", scopes=["read", "decide"], days=30)
    passed = AgentResponse.objects.filter(held_items=None, session="").latest("pk")
    Sample.objects.create(response=passed, agent=agent, day=passed.received_at.date())
    page = open_page(olga)
    for path in (
        mail_links.path(mail_links.link_to(olga, held, timezone.now())), urlsplit(notices.stop_link(olga)).path,
        reverse("agents"), reverse("agent-new"), reverse("agent", args=[kuro.id]), reverse("team"),
        reverse("agent-context", args=[kuro.id]),
        reverse("preferences"), "/nothing/here/", reverse("admin:index"),
        address(ErrorPattern, "changelist"), address(ErrorPattern, "add"), address(ErrorPattern, "change", pattern.pk),
        address(ErrorPattern, "history", pattern.pk), address(Team, "change", agent.team_id),
        address(Agent, "changelist"), address(HeldItem, "changelist"), address(HeldItem, "change", held.pk),
        reverse("extensions"), *(reverse("extension", args=[row.public_id]) for row in ExtensionRequest.objects.all()),
        reverse("memories"), *(reverse("memory", args=[row.public_id]) for row in Memory.objects.all()),
        reverse("statistics"), reverse("review-time"), reverse("spot-checks"), reverse("corrections"),
        reverse("stuck"), reverse("problem", args=[Problem.objects.get().public_id]),
        reverse("threads"), *(reverse("thread", args=[each.public_id]) for each in ThoughtThread.objects.all()),
        reverse("lessons"), reverse("lesson", args=[Lesson.objects.get().public_id]), address(Lesson, "changelist"),
        address(Lesson, "change", Lesson.objects.get().pk), address(Reflection, "changelist"),
        reverse("research-list"), reverse("research", args=[Research.objects.get().public_id]),
        reverse("reflections"), reverse("reflection", args=[Reflection.objects.get().public_id]),
        address(ThoughtThread, "changelist"), reverse("admin:thoughtthread_import"),
        address(ThoughtThread, "change", ThoughtThread.objects.get(slug="hope").pk),
        reverse("patterns"), reverse("patterns") + "?state=active", reverse("pattern", args=[pattern.pk]) + "?tried=1",
        reverse("pattern", args=[proposal.pk]), reverse("pattern-new"), reverse("search") + "?q=cache",
        reverse("policy", args=[kuro.id]), reverse("policy", args=[kuro.id]) + "?threshold=20&hold_at=20",
        reverse("policy", args=[kuro.id]) + RULES,
    ):  # fmt: skip
        screens = SCREENS[:1] if path.startswith("/admin/") else SCREENS  # Django's own pages, but for their words
        for scheme, width in screens:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # nothing half way
            page.set_viewport_size({"width": width, "height": 844})
            if (scheme, width) == SCREENS[0]:
                page.goto(path)
            if (scheme, width) == asked:
                assert faults(page, () if asked == SCREENS[0] else NARROW_AND_DARK) == [], (path, scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.evaluate(SIDEWAYS) == [], path
            if width < 820:
                assert page.evaluate(LOW) == [], path
    page.goto(reverse("agent", args=[kuro.id]))
    page.get_by_role("button", name="Issue key and secret").click()
    page.get_by_role("heading", name="Copy these now").wait_for()
    for scheme, width in SCREENS[::-1]:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 844})
        assert faults(page) == [], scheme


def test_actions_in_the_admin_need_no_inline_script(open_page: Any, carla: Any) -> None:
    page = open_page(carla)
    page.goto(address(ErrorPattern, "changelist"))
    page.get_by_role("checkbox").first.check()
    expect(page.locator("tr.selected")).to_have_count(1)  # Django's own script ran
    page.locator("select[name=action]").select_option("retire")
    page.locator("button[name=index]").click()  # "Go" or "Run", by the version of Django
    page.locator(".message", has_text="1 pattern was changed.").wait_for()
    assert ErrorPattern.objects.get(team__name="Aurora").state == "retired"


def test_what_is_shown_once_is_copied_with_one_press(open_page: Any, olga: Any) -> None:
    page = open_page(olga, permissions=["clipboard-read", "clipboard-write"])
    page.goto(reverse("team"))
    page.get_by_label("User name").fill("nina")
    page.get_by_role("button", name="Add member").click()
    page.get_by_role("button", name="Copy: The link", exact=True).click()
    expect(page.locator("#live")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator(".secret").inner_text()


def test_what_a_page_came_with_and_what_a_draft_would_have_done_is_read_out(
    open_page: Any, olga: Any, kuro: Any
) -> None:
    page = open_page(olga)
    page.goto(reverse("preferences"))
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_focused()  # in one live region
    page.goto(reverse("policy", args=[kuro.id]))
    expect(page.locator("#would")).to_have_text("Policy in force")  # which comes once the page is there
    expect(page.locator("#live")).to_contain_text("Policy in force")
    heard = page.evaluate_handle("""() => {
      const texts = [], live = document.getElementById("live"), first = () => live.innerText.split("\\n")[0];
      new MutationObserver(() => first() && texts.push(first())).observe(live, {childList: true});
      return texts;
    }""")
    page.locator("[name=threshold]").fill("35")
    expect(page.get_by_text("Scoring recent responses…").first).to_be_visible()
    expect(page.locator("#live")).to_contain_text("Preview of the draft")
    expect(page.locator("#scoring")).to_be_hidden()
    assert heard.json_value() == ["Scoring recent responses…", "Preview of the draft"]


def test_rules_are_put_in_order_with_the_mouse_and_with_keys(open_page: Any, olga: Any, kuro: Any) -> None:
    page = open_page(olga, viewport={"width": 1200, "height": 1400})
    page.goto(reverse("policy", args=[kuro.id]) + RULES)
    page.fill("[name=threshold]", "33")

    def order() -> list[str]:
        return [each.input_value() for each in page.locator(".rule .tool").all()]

    page.locator("[data-handle]").nth(1).press("ArrowDown")
    assert order() == ["mcp__bank__*", "rm", "read_file"]
    expect(page.locator("#live")).to_have_text("Moved to place 3")
    handle, last = page.locator("[data-handle]").first.bounding_box(), page.locator(".rule").last.bounding_box()
    page.mouse.move(handle["x"] + 4, handle["y"] + 4)
    page.mouse.down()
    page.mouse.move(handle["x"] + 4, last["y"] + last["height"] - 4, steps=5)
    page.mouse.up()
    assert order() == ["rm", "read_file", "mcp__bank__*"]
    page.get_by_role("button", name="Move rule 3 up").click()
    expect(page.get_by_role("button", name="Move rule 2 up")).to_be_focused()
    assert order() == ["rm", "mcp__bank__*", "read_file"]
    expect(page.locator("#preview .changes dd").nth(2)).to_contain_text("mcp__bank__*")  # it is saved as it was shown
    page.fill("[name=note]", "In order")
    page.click("button[value=save]")
    expect(page.locator(".messages")).to_have_text("Policy 2 is now in force.")
    expect(page.locator("#would")).to_have_text("Policy in force")
    saved = Policy.objects.get(version=2)
    assert [rule["tool"] for rule in saved.rules] == ["rm", "mcp__bank__*", "read_file"]
    assert saved.threshold == 33


def test_rules_that_are_being_drawn_anew_take_no_word_that_would_be_lost(open_page: Any, olga: Any, kuro: Any) -> None:
    page = open_page(olga)
    page.goto(reverse("policy", args=[kuro.id]) + RULES)
    waiting: list[Any] = []
    page.route("**/policy/", lambda route: waiting.append(route) if is_for_rules(route) else route.continue_())
    tool, argument = page.locator(".rule .tool").nth(1), page.get_by_label("Rule 2, condition 1: argument")
    add = page.get_by_role("button", name="Add a condition to rule 2")
    with page.expect_request(lambda request: "rule-if-1" in (request.post_data or "")):
        add.click()
    waiting.pop().abort()
    expect(add).to_be_focused()  # and the fields are given back
    tool.fill("read_file*")
    expect(page.locator("#preview .changes")).to_contain_text("read_file*")  # what each rule did comes with it
    with page.expect_request(lambda request: "rule-if-1" in (request.post_data or "")):
        add.click()
    tool.evaluate("tool => tool.focus()")
    page.keyboard.type("lost")
    expect(tool).to_have_value("read_file*")
    waiting.pop().continue_()
    expect(argument).to_be_focused()


def test_a_preview_of_rules_that_were_drawn_anew_since_is_dropped(open_page: Any, olga: Any, kuro: Any) -> None:
    page = open_page(olga)
    page.goto(reverse("policy", args=[kuro.id]) + RULES)
    expect(page.locator("#would")).to_have_text("Preview of the draft")
    waiting: list[Any] = []  # the first preview
    page.route(
        "**/policy/", lambda route: route.continue_() if is_for_rules(route) or waiting else waiting.append(route)
    )
    with page.expect_request(lambda request: request.headers.get("hx-target") == "preview"):
        page.locator(".rule .tool").nth(2).fill("rmdir")
    page.get_by_role("button", name="Move rule 1 down").click()
    expect(page.locator(".rule .tool").first).to_have_value("read_file")
    waiting[0].continue_()
    expect(page.locator("#preview .changes")).to_contain_text("rmdir")  # and no answer was for a rule that is gone


def test_a_corrected_argument_is_no_longer_marked_wrong(open_page: Any, olga: Any, kuro: Any) -> None:
    page = open_page(olga)
    page.goto(reverse("policy", args=[kuro.id]) + RULES)
    argument = page.get_by_label("Rule 1, condition 1: argument")
    argument.fill("eur")
    page.get_by_role("button", name="Add rule").click()  # draws the rules anew
    expect(argument).to_have_attribute("aria-invalid", "true")
    argument.fill("/eur")
    expect(page.locator("#rule-0-where-0-error")).to_be_empty()
    expect(argument).not_to_have_attribute("aria-invalid", "true")


def is_for_rules(route: Any) -> bool:
    return route.request.headers.get("hx-target") == "rules"


def test_a_policy_says_beside_each_field_what_is_typed_and_what_it_was(open_page: Any, olga: Any, kuro: Any) -> None:
    page = open_page(olga, viewport={"width": 1440, "height": 900})
    page.goto(reverse("policy", args=[kuro.id]))
    saving = page.get_by_role("button", name="Save as version 2")
    expect(saving).to_be_hidden()
    page.fill("[name=expiry_seconds]", "soonish")
    expect(page.locator("#differs-expiry_seconds")).to_contain_text("“soonish” is not a duration")
    page.fill("[name=expiry_seconds]", "90 min")
    expect(page.locator("#differs-expiry_seconds")).to_contain_text("= 1 h 30 min")
    expect(saving).to_be_in_viewport()
    page.click('[value="reset:expiry_seconds"]')
    expect(page.locator("[name=expiry_seconds]")).to_have_value("7 days")
    expect(page.locator("#differs-expiry_seconds")).to_be_hidden()
    expect(saving).to_be_hidden()
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="Memory and threads").click()
    expect(page.locator("[name=max_active_threads]")).to_be_in_viewport()
    page.fill("[name=max_active_threads]", "9")
    expect(page.locator("#count-memory")).to_have_text("1 changed")
    expect(saving).to_be_in_viewport()
    saving.click()
    expect(page.get_by_text("Enter a reason for the change.")).to_be_in_viewport()
    expect(page.locator("[name=note]")).to_be_focused()
    page.fill("[name=note]", "Deeper looks")
    saving.click()
    expect(page.locator(".messages")).to_have_text("Policy 2 is now in force.")
    expect(page.locator(".messages")).to_be_focused()
    expect(page.locator("#would")).to_have_text("Policy in force")


def test_a_draft_of_a_policy_is_left_only_when_the_browser_has_asked(open_page: Any, olga: Any, kuro: Any) -> None:
    asked = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page = open_page(olga)
    page.on("dialog", stay)
    page.goto(reverse("policy", args=[kuro.id]))
    held_from, told = page.locator("[name=hold_at]"), page.locator("#would")
    expect(told).to_have_text("Policy in force")
    queue, saving = page.get_by_role("link", name="Queue").first, page.locator("button[value=save]")
    held_from.fill("77")
    queue.click()  # before its preview
    expect(told).to_have_text("Preview of the draft")
    queue.click()
    saving.click()
    page.get_by_text("Enter a reason for the change.").wait_for()
    queue.click()
    page.fill("[name=note]", "Fewer")
    assert asked == ["beforeunload"] * 3
    saving.click()
    page.get_by_text("Policy 2 is now in force.").wait_for()
    held_from.fill("78")
    expect(told).to_have_text("Preview of the draft")
    held_from.fill("77")
    expect(told).to_have_text("Policy in force")
    queue.click()
    page.wait_for_url("**/queue/")
    assert asked == ["beforeunload"] * 3
    page.remove_listener("dialog", stay)


def test_what_is_wrong_with_a_form_far_down_is_in_sight(open_page: Any, carla: Any, aurora: Any) -> None:
    page = open_page(carla, viewport={"width": 800, "height": 500})
    page.goto("/preferences/")
    for name in ("new_password1", "new_password2"):
        page.fill(f"[name$={name}]", "a new one of mine")
    page.fill("[name$=old_password]", "not mine")
    page.press("[name$=old_password]", "Enter")
    expect(page.locator(".wrong")).to_be_in_viewport()
    pattern = ErrorPattern.objects.create(team=aurora, keywords=["a leak"], description="Cause not measured")
    page.goto(f"/patterns/{pattern.pk}/")
    page.click("#edit ~ details summary")
    page.fill("textarea[name=description]", " ")
    page.click("button[value=save]")
    expect(page.locator(".wrong")).to_be_in_viewport()
