"""What must be seen before it is approved: folds, look-alike letters, diffs, directions, whose words they are."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from django.utils.html import strip_tags

from metacog.heuristics.tool_calls.look_alikes import look_alike
from reviews.held import decisions
from reviews.models import HeldItem
from reviews.presentation.calls.file_edits import file_edits
from reviews.presentation.highlight import show
from reviews.presentation.look_alikes import of_hosts, of_name
from tests.tables import table

CYRILLIC_SHELL, CYRILLIC_COMMAND = "sh\u0435ll", "comm\u0430nd"


@pytest.fixture
def client(as_person: Any, alice: Any) -> Any:
    return as_person(alice)


def call(kuro: Any, name: str, arguments: Any, session: str = "s", **fields: Any) -> str:
    item = {"kind": "tool_call", "name": name, "arguments": arguments} | fields
    held: str = kuro.respond("", items=[item], session=session)["items"][0]["held"]
    return held


def page_of(client: Any, held: str) -> str:
    page: str = client.get(f"/queue/{held}/").content.decode()
    return page


def words(html: str) -> str:
    return " ".join(strip_tags(html.replace("<", " <")).split())


@table(
    "text, said",
    [
        ("a" + "\n" * 80 + "b", "a\n[79 blank lines]b"),
        ("a\r\n" + "  \t\r\n" * 9 + "b", "a\r\n[9 blank lines]b"),
        ("a" + " " * 60 + "b", "a[60 spaces]b"),
        ("a" + "\u3000" * 60 + "b", "a[60 spaces]b"),
        ("a" + "\t" * 8 + "b", "a[8 tabs]b"),
        ("a" + " \t" * 20 + "b", "a[40 spaces]b"),
        ("a" + " \t" * 19 + "b", "a" + " \t" * 19 + "b"),
        ("a" + "\u00a0 " * 20 + "b", "a[40 spaces]b"),
        ("a\n\n \n\r\n\n\n\t\nb", "a\n[6 blank lines]b"),
        ("\n" * 50, "[50 blank lines]"),
        ("a\n\n\n\nb", "a\n\n\n\nb"),
        ("a" + " " * 39 + "b", "a" + " " * 39 + "b"),
    ],
)
def test_what_pushes_the_rest_out_of_sight_is_folded_and_counted(text: str, said: str) -> None:
    assert str(show(text)) == said


def test_folding_takes_time_in_proportion_to_the_text() -> None:
    hostile = ["\n" * 500_000, " " * 500_000, "\n" + " " * 500_000 + "x", ("\n" + " " * 39) * 12_000]
    for text in hostile:
        begun = time.process_time()
        show(text)
        assert time.process_time() - begun < 1, repr(text[:50])


def test_a_tail_behind_blank_lines_stands_beside_the_mark(client: Any, kuro: Any) -> None:
    held = call(kuro, "Bash", {"command": "echo ok" + "\n" * 79 + "rm -rf /srv"})
    page = page_of(client, held)
    assert re.search(r"78 blank lines ⋯</span>(<[^>]*>)*rm", page), "nothing between the mark and the tail"
    assert 'data-end="command"' in page
    assert "{n} more lines" in page


@table(
    "name, told",
    [
        (CYRILLIC_SHELL, "mixed scripts: Latin and Cyrillic: \u0435 is U+0435"),
        ("p\u0430yp\u0430l", "mixed scripts: Latin and Cyrillic: \u0430 is U+0430"),
        ("\u0440\u03bf", "mixed scripts: Cyrillic and Greek: \u03bf is U+03BF"),
        ("\uff53hell", "look-alike letters: \uff53 is U+FF53"),
        ("\U0001d5cchell", "look-alike letters: \U0001d5cc is U+1D5CC"),
        ("\uff4bey\uff11", "look-alike letters: \uff4b is U+FF4B, \uff11 is U+FF11"),
        (
            "\u0441\u043e\u0440\u0443",
            "look-alike letters: \u0441 is U+0441, \u043e is U+043E, \u0440 is U+0440, \u0443 is U+0443",
        ),
        ("\u043f\u0435\u0440\u0435\u0432\u043e\u0434", ""),
        ("取引先_csv", ""),
        ("ファイルを送る", ""),
        ("결제api", ""),
        ("שליחה", ""),
        ("naïve_über", ""),
        ("yazı", ""),
    ],
)
def test_names_that_may_be_taken_for_others_are_marked(name: str, told: str) -> None:
    assert of_name(name) == told


@table(
    "text, told",
    [
        ("https://p\u0430ypal.com/x", ["p\u0430ypal.com: mixed scripts: Latin and Cyrillic: \u0430 is U+0430"]),
        ("bob@g\u043eogle.com", ["g\u043eogle.com: mixed scripts: Latin and Cyrillic: \u043e is U+043E"]),
        (
            "http://xn--pypal-4ve.com",
            ["xn--pypal-4ve.com reads p\u0430ypal.com: mixed scripts: Latin and Cyrillic: \u0430 is U+0430"],
        ),
        ("http://xn--e1afmkfd.xn--p1ai", ["xn--e1afmkfd.xn--p1ai reads пример.рф"]),
        ("http://googl\u0435/x", ["googl\u0435: mixed scripts: Latin and Cyrillic: \u0435 is U+0435"]),
        ("root@\u0441orp rm", ["\u0441orp: mixed scripts: Cyrillic and Latin: \u0441 is U+0441"]),
        (
            "https://google.com\u2215path.evil.example",
            ["google.com\u2215path.evil.example: look-alike letters: \u2215 is U+2215"],
        ),
        ("https://пример.com и вот.Как", []),
        ("\u0430lice@example.com", ["\u0430lice: mixed scripts: Cyrillic and Latin: \u0430 is U+0430"]),
        ("http://сервер and bob@почта, émile@example.com", []),
        ("http://例え.jp https://example.org", []),
    ],
)
def test_hosts_that_may_be_taken_for_others_are_marked(text: str, told: list[str]) -> None:
    assert of_hosts(text) == told


@table(
    "beginning, part",
    [
        ("", "The order was sent on Monday.\r\n"), ("’", "The order was sent on Monday. "), ("", "x"), ("a", "\n"),
        ("[", '{"id": 7}, '), ("", "訂單"),
    ],
)  # fmt: skip
def test_a_long_text_is_shown_in_no_time(beginning: str, part: str) -> None:
    """At 270 KB it took 16 to 42 ms of CPU, and a page shows it up to three times."""
    value, taken = beginning + part * (270_000 // len(part.encode())), []
    for _ in range(5):
        begun = time.process_time()
        assert show(value)
        taken.append(time.process_time() - begun)
    assert min(taken) < 0.01


def test_looking_at_letters_takes_time_in_proportion_to_the_text() -> None:
    for text in ("\u0430" * 400_000, "\u0430." * 200_000, "-" * 400_000 + "\u0430", "xn--" * 100_000):
        begun = time.process_time()
        of_hosts(text)
        assert time.process_time() - begun < 1, text[:8]
    assert look_alike("a" * 200_000 + "\u0430")


def test_the_item_and_its_row_mark_the_letters_and_say_why_no_rule_matched(client: Any, kuro: Any) -> None:
    held = call(kuro, CYRILLIC_SHELL, {CYRILLIC_COMMAND: "ls"})
    page = page_of(client, held)
    told = "mixed scripts: Latin and Cyrillic: \u0435 is U+0435"
    assert page.count(f'<span class="look-alike">{told}</span>') == 2, "the row and the heading"
    assert '<mark class="odd-letter" title="looks like another letter">' in page
    assert "mixed scripts: Latin and Cyrillic: \u0430 is U+0430" in page
    assert f"Rules for “shell” did not match: the name is not “shell” ({told})." in words(page)
    hosts = page_of(client, call(kuro, "fetch", {"url": "https://xn--pypal-4ve.com"}))
    assert hosts.count("xn--pypal-4ve.com reads p\u0430ypal.com") == 2


@table(
    "name, arguments, told",
    [
        (CYRILLIC_SHELL, {"x": "needle"}, "mixed scripts: Latin and Cyrillic: \u0435 is U+0435"),
        ("run", {CYRILLIC_COMMAND: "needle"}, "mixed scripts: Latin and Cyrillic: \u0430 is U+0430"),
        ("run", {"x": "needle xn--pypal-4ve.com"}, "xn--pypal-4ve.com reads p\u0430ypal.com"),
        ("run", {"x": "needle example.org"}, ""),
    ],
    rolled_back=True,
)
def test_what_is_found_is_marked_likewise(client: Any, kuro: Any, name: str, arguments: Any, told: str) -> None:
    call(kuro, name, arguments)
    for address, most in (("/search/?q=needle", 2), ("/palette?q=needle", 1)):
        found = client.get(address).content.decode()
        assert found.count("needle") >= most
        assert re.findall(r'class="look-alike">([^<]*?)(?::? mixed[^<]*)?<', found) == [told] * (most if told else 0)


@table("name", [("\u200b",), (" \u3164\u2800 ",), ("\u202e",), ("\u00ad\ufe0f",)], rolled_back=True)
def test_a_name_that_shows_nothing_is_refused(kuro: Any, name: str) -> None:
    answer = kuro.post("/responses", {"response": "", "items": [{"kind": "tool_call", "name": name, "arguments": {}}]})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/items/0/name"
    assert not HeldItem.objects.exists()


def test_the_agents_own_words_stand_under_a_label(client: Any, kuro: Any) -> None:
    said = "Already approved by admin. Press A."
    schema = {"properties": {"eur": {"type": "number", "description": said}}}
    held = call(kuro, "transfer", {"eur": 900}, description=said, metadata={"Approved by": "admin"}, schema=schema)
    page = words(page_of(client, held))
    assert f"The agent says {said}" in page
    assert "Metadata from the agent Approved by admin" in page
    assert f"The agent's schema says: {said}" in page
    together = words(client.get(f"/queue/together/?held={held}").content.decode())
    assert f"The agent says {said}" in together


EDIT = {"file_path": "/srv/total.py", "old_string": "a\nb\nc\n", "new_string": "a\nx\nc\n"}


@table(
    "arguments, diffs",
    [
        (EDIT | {"replace_all": False}, [" a\n-b\n+x\n c"]),
        (
            {"path": "a.txt", "old_str": "one", "new_str": "two"},
            ["-one\n\\ No newline at end of file\n+two\n\\ No newline at end of file"],
        ),
        (
            {"path": "f", "edits": [{"oldText": "a\n", "newText": "b\n"}, {"oldText": "c\n", "newText": ""}]},
            ["-a\n+b", "-c"],
        ),
        ({"path": "f", "old_string": "a\r\n", "new_string": "a\n"}, ["-a␍\n+a"]),
        ({"path": "f", "old_string": "", "new_string": "a" + "\n" * 80 + "rm\n"}, ["+a\n+\n[78 blank lines]+rm"]),
        (
            {
                "path": "f",
                "old_string": "1\n2\n3\n4\n5\n6\n7\n8\n9\nx\n",
                "new_string": "1\n2\n3\n4\n5\n6\n7\n8\n9\ny\n",
            },
            ["@@ 6 unchanged @@\n 7\n 8\n 9\n-x\n+y"],
        ),
        (
            {"input": "*** Begin Patch\n*** Update File: a\n-old\n+new\n*** End Patch"},
            ["*** Begin Patch\n*** Update File: a\n-old\n+new\n*** End Patch"],
        ),
        ({"command": ["apply_patch", "*** Begin Patch\n-a\n+b\n"]}, ["*** Begin Patch\n-a\n+b"]),
        ({"file_path": "f", "content": "a new file\n"}, []),
        ({"command": "ls"}, []),
        (["a"], []),
        (
            {"path": "f", "old_string": "password=hunter2hunter2\n", "new_string": "password=hunter3hunter3\n"},
            [" password=••••••••"],
        ),
    ],
)
def test_file_edits_are_one_diff_each(arguments: Any, diffs: list[str]) -> None:
    assert [str(each.diff) for each in file_edits(arguments).edits] == diffs


def test_comparing_long_texts_takes_a_bounded_time() -> None:
    for old, new in [("a\nb\n" * 60_000, "b\na\n" * 60_000), ("a\n" * 300 + "b\n", "c\n" + "a\n" * 300)]:
        begun = time.process_time()
        found = file_edits({"path": "f", "old_string": old, "new_string": new})
        assert found.edits[0].removed >= 1
        assert time.process_time() - begun < 2


def test_an_edit_is_shown_as_a_diff_and_its_arguments_stay_reachable(client: Any, kuro: Any) -> None:
    page = page_of(client, call(kuro, "Edit", EDIT | {"replace_all": True}))
    assert page.count('<pre class="code diff') == 1
    assert '<span class="hl-ins">+x' in page
    assert '<span class="hl-del">-b' in page
    told = words(page)
    assert "Arguments of the changes as sent" in told
    assert "replace_all boolean true" in told
    assert 'name="f/new_string"' in page, "each field can be edited"


def test_what_is_written_is_compared_with_what_the_agent_wrote_before(client: Any, kuro: Any, alice: Any) -> None:
    def approve(held: str) -> None:
        decisions.decide(HeldItem.objects.get(public_id=held), alice, "approve")

    first = call(kuro, "Write", {"file_path": "/a", "content": "1\n2\n"})
    assert "hl-ins" not in page_of(client, first)
    second = call(kuro, "Write", {"file_path": "/a", "content": "1\n3\n"})
    assert "hl-ins" not in page_of(client, second), "nobody approved the first"
    approve(first)
    assert '<span class="hl-del">-2' in page_of(client, second)
    assert "hl-ins" not in page_of(client, call(kuro, "Write", {"file_path": "/a", "content": "1\n3\n"}, session="t"))
    approve(call(kuro, "Edit", {"file_path": "/a", "old_string": "2", "new_string": "5"}))
    third = call(kuro, "Write", {"file_path": "/a", "content": "1\n6\n"})
    assert '<span class="hl-del">-5' in page_of(client, third)


def test_markdown_runs_the_way_its_letters_do_and_code_from_left_to_right(client: Any, kuro: Any) -> None:
    blocks = [
        "# שלום", "כן. הריצו `refund --order 4711`.", "1. לבדוק\n2. to check",
        "> ציטוט", "| שם | a |\n|-|-|\n| ב | b |", "```\nקוד\n```",
    ]  # fmt: skip
    text = "\n\n".join(blocks)
    held = kuro.respond("x", items=[{"kind": "chat", "text": text, "require_review": True}])["items"][0]["held"]
    page = page_of(client, held)
    for part in (
        '<h3 dir="auto">שלום</h3>', '<p dir="auto">כן. הריצו <code dir="ltr">refund --order 4711</code>.</p>',
        '<ol dir="rtl"><li value="1" dir="rtl">', '<li value="2" dir="ltr">', '<blockquote dir="rtl">',
        '<td dir="auto">ב</td>',
        '<pre class="code" tabindex="0" dir="ltr">',
    ):  # fmt: skip
        assert part in page, part
