"""`manage.py thread`: the seed's Markdown in and out, all or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from metacog.models import Agent, AgentState, AuditEvent
from patterns.models import ThoughtThread, ThreadStep
from tests.heuristics.memory.test_threads import SEED

SLUG = "約束與湧現的實踐"
OTHER = """\
# Thread: How teams decide

## Meta
- Created: 2026-02-01
- Last touched: 2026-02-10
- Status: paused
- Touches: 4
- Slug: teams

## Trail
- [02-01 evening] read about consent
- no day, but a thought
- [2024-12-31] an older note

## Next
ask three teams
how they decide

## Sources
- a book
"""


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(text: str | bytes, name: str = "thread.md") -> str:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def exported(capsys: Any, *arguments: str) -> str:
    capsys.readouterr()
    call_command("thread", "export", *arguments)
    return str(capsys.readouterr().out)


def test_what_was_imported_is_exported_to_the_letter(kuro: Any, file: Any, capsys: Any) -> None:
    call_command("thread", "import", file(SEED, "a.md"), file(OTHER, "b.md"))
    assert "2 threads added to kuro, 0 changed." in capsys.readouterr().out
    assert exported(capsys) == f"{SEED}\n{OTHER}"
    row = ThoughtThread.objects.get(slug=SLUG)
    assert (row.state, row.touches, row.article_until) == ("active", 7, None)
    assert row.next.startswith("寫出「約束三維度」")
    assert AgentState.objects.get().active_threads == 1
    events = AuditEvent.objects.filter(action="thread-imported").order_by("pk")
    assert [(event.actor_kind, event.after) for event in events] == [("system", "active"), ("system", "paused")]


def test_what_was_exported_is_imported_without_a_change(kuro: Any, file: Any, capsys: Any, tmp_path: Path) -> None:
    kuro.post("/threads", {"title": SLUG, "slug": "emergence", "note": "讀 Oulipo", "next": "寫"})
    kuro.post("/threads/emergence/resolve", {"note": "so it is"})
    call_command("thread", "import", file(OTHER))
    everything = exported(capsys)
    call_command("thread", "import", file(everything, "all.md"))
    assert "0 threads added to kuro, 0 changed." in capsys.readouterr().out
    assert AuditEvent.objects.filter(action="thread-imported").count() == 1
    ThoughtThread.objects.all().delete()
    call_command("thread", "import", file(everything, "all.md"))
    assert exported(capsys) == everything
    call_command("thread", "export", str(tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["emergence.md", "teams.md"]
    assert (tmp_path / "out/teams.md").read_text() == OTHER


def test_a_thread_that_is_known_becomes_as_the_file_says(kuro: Any, file: Any, capsys: Any) -> None:
    call_command("thread", "import", file(SEED))
    before = list(ThreadStep.objects.values_list("pk", flat=True))
    longer = SEED.replace("\n## Next", "- [02-16] 寫完了\n\n## Next").replace("2026-02-15", "2026-02-16")
    call_command("thread", "import", file(longer.replace("Status: active", "Status: resolved")))
    assert "0 threads added to kuro, 1 changed." in capsys.readouterr().out
    row = ThoughtThread.objects.get()
    assert (row.state, f"{row.resolved_at:%Y-%m-%d}") == ("resolved", "2026-02-16")
    assert list(row.steps.values_list("pk", flat=True))[:-1] == before
    assert AgentState.objects.get().active_threads == 0
    call_command("thread", "import", file(SEED.replace("讀 Oulipo", "重讀 Oulipo")))
    assert exported(capsys) == SEED.replace("讀 Oulipo", "重讀 Oulipo")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no thread at all\n", 'line 1: needs a title: "# Thread: …".'),
        (SEED.replace("Status: active", "Status: done"), 'line 6: the status is "done", and none of active, paused'),
        (SEED + SEED.replace("Touches: 7", "Slug: a b").replace("約束", "另一"), "line 24: the slug is"),
        (f"{SEED}\n{SEED}", "line 19: the thread 約束與湧現的實踐 already occurs earlier in these files."),
        (SEED.replace("2026-02-12", "2026-02-31"), "line 4: "),
        (f"# Thread: {'x' * 201}\n", "line 1: the title is longer than 200 characters."),
        (f"# Thread: x\n## Trail\n- a\n- {'x' * 250_001}\n", "line 4: an entry of its trail is longer than 250000"),
        (f"# Thread: x\n## Next\n\n{'x' * 250_001}\n", "line 4: the text under “Next” is longer than 250000"),
        (f"# Thread: x\n\n{'x' * 250_001}\n", "line 3: its notes are longer than 250000 characters."),
        ("# Thread: x\n## Trail\n" + "- a\n" * 20_001, "line 20003: its trail has more than 20000 entries."),
        (b"# Thread: x\n\n## Next\n\xff\n", "line 4: the file is not UTF-8"),
        (b"\xef\xbb\xbf# Thread: x\r\n\r\n## Next\r\n\xff\r\n", "line 4: the file is not UTF-8"),
        ("# Thread: x\n\n## Next\n\0\n", "line 4: a NUL character"),
    ],
)
def test_a_bad_file_is_told_by_line_and_nothing_is_imported(kuro: Any, file: Any, text: Any, said: str) -> None:
    good, bad = file(OTHER, "good.md"), file(text, "bad.md")
    with pytest.raises(CommandError) as caught:
        call_command("thread", "import", good, bad)
    assert str(caught.value).startswith("Nothing was imported.\n")
    assert f"{bad}, {said}" in str(caught.value) or said in str(caught.value)
    assert bad in str(caught.value)
    assert not ThoughtThread.objects.exists()


LOSSY = """\
---
tags: [a, b]
---
# Thread: Meta kept?

A line under the title.

## Meta
- Created: 2026-02-12
- **Status**: resting (done for now)
- Owner: kuro

## Trail
Intro sentence.
1. [02-12] first
2. [02-13] second
   with a detail

## Next
Try:
```md
## Trail
- not an entry
```
Then go on.
"""


NOTED = "7 lines matched no field and were kept as notes.\n2 entries of trails have no day.\n"


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        (LOSSY, NOTED),
        ("\ufeff" + LOSSY.replace("\n", "\r\n"), NOTED),
        ("# Thread: No day\n## Trail\n- [02-12] first\n## Next\n~~~\n", "1 entry of a trail has no day.\n"),
        (LOSSY.replace("- Owner", "- Touches: many\n- Owner"), NOTED.replace("7", "8")),
        (SEED.replace("Touches: 7", "Touches: 7.0"), ""),
    ],
)
def test_no_line_is_lost_on_the_way_in_and_out_and_in(kuro: Any, file: Any, capsys: Any, text: str, noted: str) -> None:
    call_command("thread", "import", file(text))
    assert capsys.readouterr().out == f"1 thread added to kuro, 0 changed.\n{noted}"
    call_command("thread", "import", file(text))
    assert capsys.readouterr().out == "0 threads added to kuro, 0 changed.\n"
    row, written = ThoughtThread.objects.get(), exported(capsys)
    if "resting" in text:
        assert (row.state, row.touches) == ("paused", 2)
        assert row.next == "Try:\n```md\n## Trail\n- not an entry\n```\nThen go on."
        assert list(row.steps.values_list("text", flat=True)) == ["[02-12] first", "[02-13] second\nwith a detail"]
        for line in ("tags: [a, b]", "A line under", "(done for now)", "- Owner: kuro", "Intro sentence.", row.next):
            assert line in written
    call_command("thread", "import", file(written))
    assert "0 threads added to kuro, 0 changed." in capsys.readouterr().out
    row.delete()
    call_command("thread", "import", file(written))
    assert exported(capsys) == written


def test_a_long_thread_is_taken_whole_and_told_to_the_agent_within_its_budget(kuro: Any, file: Any) -> None:
    code = "```\n## Meta\n```\n"
    entry, following = "- [2026-02-12] " + "read " * 400, code + "考慮下一步。" * 15_000
    call_command("thread", "import", file(f"# Thread: Long\n\n## Trail\n{entry}\n\n## Next\n{following}\n"))
    row = ThoughtThread.objects.get()
    assert (len(row.next), row.next[:16]) == (90_016, code)
    threads = kuro.get("/context").json()["threads"]
    assert len(threads["text"]) < 6_000
    assert "Next: ``` ## Meta ``` 考慮" in threads["text"]
    assert threads["text"].count("more characters cut⟩") == 2
    (item,) = threads["items"]
    assert item["next"].endswith("⟨89,016 more characters cut⟩")
    assert item["trail"][0]["note"].endswith("⟨999 more characters cut⟩")
    assert kuro.get("/threads").json()["items"][0]["next"] == item["next"]
    assert kuro.get("/threads/long").json()["next"] == row.next
    kuro.post("/threads/long/resolve", {})
    (article,) = kuro.get("/context").json()["articles"]
    assert len(article["text"]) < 3_000


def test_more_active_threads_than_may_be_are_refused(kuro: Any, file: Any) -> None:
    for title in ("A one", "B two", "C three"):
        kuro.post("/threads", {"title": title})
    with pytest.raises(CommandError, match=r"4 threads would be active .*; the limit is 3. Give some the status"):
        call_command("thread", "import", file(SEED))
    assert ThoughtThread.objects.count() == 3
    call_command("thread", "import", file(SEED.replace("Status: active", "Status: resting")))
    assert ThoughtThread.objects.get(slug=SLUG).state == "paused"


def test_a_file_that_is_not_there_is_told(kuro: Any, file: Any, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.md cannot be read: No such file.* Check its name"):
        call_command("thread", "import", file(SEED), str(tmp_path / "nowhere.md"))
    assert not ThoughtThread.objects.exists()


def test_a_folder_that_cannot_be_made_is_named_with_what_to_do(kuro: Any, file: Any) -> None:
    call_command("thread", "import", file(SEED))
    with pytest.raises(CommandError, match=r"^/proc/out cannot be written: .* (Check its name|name another)"):
        call_command("thread", "export", "/proc/out")
    with pytest.raises(CommandError, match=r"thread\.md cannot be written: File exists\. Name another\."):
        call_command("thread", "export", file(SEED))


class TestWhose:
    def test_without_an_agent_there_is_nothing_to_choose(self, db: None) -> None:
        with pytest.raises(CommandError, match="There is no agent yet"):
            call_command("thread", "export")

    def test_among_several_it_wants_a_name(self, kuro: Any, other: Any, file: Any, capsys: Any) -> None:
        with pytest.raises(CommandError, match="say which with --agent"):
            call_command("thread", "import", file(SEED))
        with pytest.raises(CommandError, match="Unknown agent"):
            call_command("thread", "import", file(SEED), "--agent", "nobody")
        call_command("thread", "import", file(SEED), "--agent", "other")
        assert ThoughtThread.objects.get().agent.name == "other"
        assert exported(capsys, "--agent", "kuro") == ""

    def test_among_agents_of_one_name_it_wants_the_team(self, kuro: Any, other: Any, file: Any) -> None:
        Agent.objects.update(name="twin")
        with pytest.raises(CommandError, match="say of which --team it is"):
            call_command("thread", "import", file(SEED), "--agent", "twin")
        call_command("thread", "import", file(SEED), "--agent", "twin", "--team", "Borealis")
        assert ThoughtThread.objects.get().agent.team.name == "Borealis"
