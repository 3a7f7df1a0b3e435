"""Thought threads: read, written, shown, recognised and suggested."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.memory.thread_markdown import Parsed, ThreadError, format_thread, read_threads
from metacog.heuristics.memory.threads import (
    Step,
    Streak,
    Thread,
    recognise_thread,
    shown_slug,
    slug_of,
    threads_section,
    topic_streak,
    whole_slug_of,
    within_budget,
)
from metacog.heuristics.text.timesense import mark_every_date
from tests.tables import table

TODAY = date(2026, 2, 16)
# Seed 001, "組件一：Thought Thread".
SEED = """\
# Thread: 約束與湧現的實踐

## Meta
- Created: 2026-02-12
- Last touched: 2026-02-15
- Status: active
- Touches: 7

## Trail
- [02-12] 讀 Oulipo 三層約束功能 → 約束產生自由
- [02-13] BotW 3規則>253patterns → 少規則+豐富環境
- [02-13] Kanchipuram zari → 假約束比無約束危險
- [02-14] Bicross constraint propagation → 約束傳播=品質保證
- [02-15] 想寫一篇 journal 把這些串起來

## Next
寫出「約束三維度」的統一框架：(1)約束產生自由 (2)假約束比無約束危險 (3)約束傳播消除歧義
"""


def parse_threads(markdown: str) -> list[Parsed]:
    """Read all threads of which nothing is wrong, or raise what is wrong with the first that has something."""
    found = read_threads(markdown)
    for each in found:
        if isinstance(each, ThreadError):
            raise each
    return [each for each in found if not isinstance(each, ThreadError)]


def parse_thread(markdown: str) -> Thread:
    return parse_threads(markdown)[0].thread


def test_it_reads_the_seeds_thread() -> None:
    thread = parse_thread(SEED)
    assert (thread.title, thread.slug) == ("約束與湧現的實踐", "約束與湧現的實踐")
    assert (thread.status, thread.touches) == ("active", 7)
    assert (thread.created, thread.last_touched) == (date(2026, 2, 12), date(2026, 2, 15))
    assert thread.trail[0] == Step("讀 Oulipo 三層約束功能 → 約束產生自由", date(2026, 2, 12))
    assert [step.on and step.on.day for step in thread.trail] == [12, 13, 13, 14, 15]
    assert thread.next.startswith("寫出「約束三維度」")


def test_it_writes_the_seeds_thread_back_to_the_letter() -> None:
    assert format_thread(parse_thread(SEED)) == SEED


@table(
    ("line", "step"),
    [
        ("- [02-12] read", Step("read", date(2026, 2, 12))),
        ("* [02-12] read", Step("read", date(2026, 2, 12))),
        ("- [2026-02-12] read", Step("read", date(2026, 2, 12))),
        ("- [2026-02-12 evening] read", Step("read", date(2026, 2, 12), "evening")),
        ("- [02-12 evening] read", Step("read", date(2026, 2, 12), "evening")),
        ("- (2026-02-12) read", Step("read", date(2026, 2, 12))),
        ("- （2026-02-12）讀", Step("讀", date(2026, 2, 12))),
        ("- [02-15] read", Step("read", date(2026, 2, 15))),
        ("- [02-16] read", Step("read", date(2025, 2, 16))),  # not after the last touch
        ("- [12-31] read", Step("read", date(2025, 12, 31))),
        ("- [02-29] read", Step("read", date(2024, 2, 29))),
        ("- [02-30] read", Step("[02-30] read")),
        ("- [13-01] read", Step("[13-01] read")),
        ("- [1] read", Step("[1] read")),
        ("- read", Step("read")),
        ("- [02-12] read\n  and wrote", Step("read\nand wrote", date(2026, 2, 12))),
        ("+ [02-12] read", Step("read", date(2026, 2, 12))),
        ("1. [02-12] read", Step("read", date(2026, 2, 12))),
        ("12) [02-12] read", Step("read", date(2026, 2, 12))),
        ("  - [02-12] read\n    - a book\n\n    and wrote", Step("read\n- a book\n\nand wrote", date(2026, 2, 12))),
        ("- [02-12]\n  ```sh\n  ## Next\n  ```", Step("```sh\n## Next\n```", date(2026, 2, 12))),
        ("- [02-12]", Step("[02-12]")),
        ("- \\[02-12] read", Step("[02-12] read")),
    ],
)
def test_it_understands_every_form_of_date(line: str, step: Step) -> None:
    thread = parse_thread(f"# Thread: T\n\n## Meta\n- Last touched: 2026-02-15\n\n## Trail\n{line}\n")
    assert thread.trail == (step,)


def test_it_keeps_a_date_whose_year_nobody_knows_as_text() -> None:
    assert parse_thread("# T\n## Trail\n- [02-12] read\n").trail == (Step("[02-12] read"),)


@table(
    ("status", "read"),
    [
        ("active", "active"),
        ("Paused", "paused"),
        ("resolved", "resolved"),
        ("resting", "paused"),
        ("active | paused | resolved", "active"),  # as the seed's own example has it
        ("paused|resolved", "paused"),
        ("resting (done for now)", "paused"),
        ("**resolved**", "resolved"),
        ("⏸ paused, was active", "paused"),
    ],
)
def test_it_reads_every_status(status: str, read: str) -> None:
    assert parse_thread(f"# T\n## Meta\n- Status: {status}\n").status == read


def test_it_fills_in_what_is_missing() -> None:
    assert parse_thread("# T\n## Trail\n- one\n- two\n") == Thread(
        "T", "t", touches=2, trail=(Step("one"), Step("two"))
    )


@table(
    ("markdown", "line", "reason"),
    [
        ("", 1, "needs a title"),
        ("## Meta\n- Status: active\n", 1, "needs a title"),
        ("# T\n## Meta\n- Status: done\n", 3, 'the status is "done"'),
        ("# T\r\n\u2028\r\n## Meta\r\n- Status: inactive\r\n", 4, 'the status is "inactive"'),
        ("# T\n## Meta\n- Slug: No slug!\n", 3, 'would have to be "no-slug"'),
        ("# T\n## Meta\n- Created: yesterday\n", 3, '"yesterday" is no date'),
        ("# T\n\n## Meta\n- Last touched: 2026-02-30\n", 4, '"2026-02-30" is no date'),
    ],
)
def test_it_says_where_a_thread_cannot_be_read(markdown: str, line: int, reason: str) -> None:
    with pytest.raises(ThreadError, match=reason) as caught:
        parse_thread(markdown)
    assert caught.value.line == line


def test_it_loses_no_section_it_does_not_know() -> None:
    markdown = SEED + "\n## Sources\n- Oulipo\n\n### Books\n- Exercises in Style\n"
    thread = parse_thread(markdown)
    assert thread.notes == "## Sources\n- Oulipo\n\n### Books\n- Exercises in Style"
    assert format_thread(thread) == markdown


def test_it_keeps_a_slug_that_is_not_the_titles() -> None:
    thread = Thread("約束與湧現的實踐", "constraint-and-emergence")
    assert parse_thread(format_thread(thread)) == thread
    assert "Slug" not in format_thread(Thread("約束與湧現的實踐", "約束與湧現的實踐"))


LINE = st.text(alphabet="ab約束 [](12-)", min_size=1).map(str.strip).filter(bool).map("x{}".format)
DAY = st.dates(date(2020, 1, 1), date(2026, 2, 15))


@given(
    st.builds(
        Thread,
        title=LINE,
        slug=st.just(""),
        status=st.sampled_from(["active", "paused", "resolved"]),
        created=DAY | st.none(),
        last_touched=st.just(date(2026, 2, 15)),
        touches=st.integers(0, 99),
        trail=st.lists(st.builds(Step, LINE, DAY | st.none(), st.sampled_from(["", "evening"]))).map(tuple),
        next=LINE | st.just(""),
    )
)
def test_it_reads_back_what_it_writes(thread: Thread) -> None:
    undated = tuple(step if step.on else Step(step.text) for step in thread.trail)
    read = parse_thread(format_thread(thread))
    assert (read.title, read.status, read.created, read.touches, read.next, read.trail) == (
        thread.title,
        thread.status,
        thread.created,
        thread.touches,
        thread.next,
        undated,
    )


def test_it_shows_a_thread_as_the_seed_does() -> None:
    trail = (
        Step("older", date(2026, 2, 11)),
        Step("Oulipo 三層約束功能", date(2026, 2, 12)),
        Step("Bicross constraint propagation", date(2026, 2, 14)),
        Step("想寫 journal 串起來", date(2026, 2, 15)),
    )
    thread = Thread(
        "約束與湧現的實踐",
        "constraints",
        last_touched=date(2026, 2, 15),
        touches=7,
        trail=trail,
        next="寫「約束三維度」統一框架",
    )
    assert threads_section([thread], TODAY) == (
        "<threads>\n"
        "Thread: 約束與湧現的實踐 (Status: active, Touches: 7)\n"
        "Trail:\n"
        "- [02-12 ⟨4d ago⟩] Oulipo 三層約束功能\n"
        "- [02-14 ⟨2d ago⟩] Bicross constraint propagation\n"
        "- [02-15 ⟨yesterday⟩] 想寫 journal 串起來\n"
        "Next: 寫「約束三維度」統一框架\n"
        "</threads>"
    )


def test_it_shows_the_three_active_threads_touched_last() -> None:
    threads = [Thread(f"T{day}", f"t{day}", last_touched=date(2026, 2, day)) for day in (3, 1, 4, 2)]
    threads.append(Thread("P", "p", status="paused", last_touched=date(2026, 2, 9)))
    assert threads_section(threads) == (
        "<threads>\n"
        "Thread: T4 (Status: active, Touches: 0)\n---\n"
        "Thread: T3 (Status: active, Touches: 0)\n---\n"
        "Thread: T2 (Status: active, Touches: 0)\n"
        "</threads>"
    )


@table("threads", [[], [Thread("P", "p", status="paused")], [Thread("R", "r", status="resolved")]])
def test_it_shows_nothing_without_an_active_thread(threads: list[Thread]) -> None:
    assert threads_section(threads, TODAY) == ""


CONSTRAINTS = Thread("約束與湧現的實踐", "constraint-and-emergence")
CACHE = Thread("Cache invalidation strategies", "cache-invalidation")
TIME = Thread("Time", "time")
PAUSED = Thread("Paper folding machines", "paper-folding", status="paused")
THREADS = [CONSTRAINTS, CACHE, TIME, PAUSED]


@table(
    ("response", "slug", "by"),
    [
        ("Back to constraint-and-emergence today.", "constraint-and-emergence", "name"),
        ('<kuro:action thread="cache-invalidation">read</kuro:action>', "cache-invalidation", "name"),
        ("繼續推進「約束與湧現的實踐」這條線索。", "constraint-and-emergence", "name"),
        ("继续推进「约束与涌现的实践」这条线索。", "constraint-and-emergence", "name"),
        ("CACHE INVALIDATION STRATEGIES again", "cache-invalidation", "name"),
        ("I compared two strategies that invalidate a cache.", "cache-invalidation", "words"),
        ("今天讀的書說明約束如何產生湧現，我想放進實踐裡。", "constraint-and-emergence", "words"),
        ("Time is what time does.", "time", "name"),
        ("Back to “time” today.", "time", "name"),
        ("繼續線索：time", "time", "name"),
        ("On with the thread time: it flies.", "time", "name"),
        # near misses
        ("It took a long time.", None, None),
        ("It is “time for tea” in all threads", None, None),
        ('<kuro:action thread="time">read</kuro:action>', None, None),
        ("The cache is stale.", None, None),
        ("The cache is stale. I tried three strategies for the parser.", None, None),
        ("約束條件很多。新的框架已經湧現。", None, None),
        ("一天的約束", None, None),
        ("Paper folding machines, again paper-folding", None, None),
        ("precache-invalidation2", None, None),
        ("", None, None),
    ],
)
def test_it_recognises_the_active_thread(response: str, slug: str | None, by: str | None) -> None:
    recognised = recognise_thread(response, THREADS)
    assert (recognised and recognised.slug, recognised and recognised.by) == (slug, by)


def test_it_takes_the_thread_named_most_often() -> None:
    recognised = recognise_thread(
        "cache-invalidation, then constraint-and-emergence, constraint-and-emergence", THREADS
    )
    assert recognised is not None
    assert recognised.slug == "constraint-and-emergence"


@table(
    ("response", "evidence"),
    [
        ("我想約束與湧現的實踐是對的", ["約束與湧現的實踐"]),
        ("Two STRATEGIES to invalidate the cache", ["cache", "invalidate", "STRATEGIES"]),
    ],
)
def test_it_shows_what_it_recognised_the_thread_by(response: str, evidence: list[str]) -> None:
    recognised = recognise_thread(response, THREADS)
    assert recognised is not None
    assert [span.text for span in recognised.spans] == evidence
    assert all(response[span.start : span.end] == span.text for span in recognised.spans)


@table(
    ("cycles", "streak"),
    [
        ([["cache"], ["cache"], ["cache"]], Streak("cache", 3)),
        ([["cache"], ["cache"]], None),
        ([["cache"], ["cache"], ["other"], ["cache"]], None),
        ([["cache"], ["cache"], []], None),
        ([["Cache"], ["other", "cache"], ["ＣＡＣＨＥ"]], Streak("ＣＡＣＨＥ", 3)),
        ([["快取"], ["快取"], ["快取", "新題"]], Streak("快取", 3)),
        ([["b"], ["a", "b"], ["a", "b"], ["a", "b"]], Streak("b", 4)),
        ([["a", "b"], ["a", "b"], ["b", "a"]], Streak("b", 3)),
        ([["time"], ["time"], ["time"]], None),  # has a thread
        ([["invalidating caches"]] * 3, None),  # in other words
        ([["約束與湧現"]] * 3, None),
        ([["约束与涌现"]] * 3, None),
        ([["緩存"], ["缓存"], ["緩存"]], Streak("緩存", 3)),
        ([["缓存"], ["快取"], ["缓存"]], None),
        ([["rate limits"], ["rate-limit"], ["Rate limits"]], Streak("Rate limits", 3)),
        ([["資料庫 索引"], ["資料庫索引"], ["资料库-索引"]], Streak("资料库-索引", 3)),
        ([["process"], ["proces"], ["process"]], None),
        ([["status"], ["statu"], ["status"]], None),
        ([["ads"], ["ad"], ["ads"]], None),
        ([["資料"], ["資料庫"], ["資料"]], None),
        ([["rate limits"], ["rates limit"], ["rate limiter"]], None),
        ([["invalidating sessions"]] * 3, Streak("invalidating sessions", 3)),
        ([], None),
    ],
)
def test_three_cycles_on_a_topic_suggest_a_thread(cycles: list[list[str]], streak: Streak | None) -> None:
    assert topic_streak(cycles, THREADS) == streak


@table(
    ("budget", "kept"),
    [
        (14, ["oldest", "mid", "new"]),
        (13, ["mid", "new"]),
        (7, ["mid", "new"]),
        (6, ["new"]),
        (3, ["new"]),
        (2, []),
        (0, []),
    ],
)
def test_the_oldest_entries_are_left_out_first(budget: int, kept: list[str]) -> None:
    assert within_budget(["oldest", "mid", "new"], budget) == kept


def test_nothing_older_is_kept_for_being_short() -> None:
    assert within_budget(["a", "much too long", "new"], 5) == ["new"]


@table(
    ("title", "slug"),
    [
        ("Constraint and Emergence", "constraint-and-emergence"),
        ("約束與湧現的實踐", "約束與湧現的實踐"),
        ("  C++ / Rust?! ", "c-rust"),
        ("ＡＢＣ", "abc"),
        ("!!!", "thread"),
        ("x" * 150, "x" * 100),
    ],
)
def test_a_slug_keeps_letters_of_every_script(title: str, slug: str) -> None:
    assert slug_of(title) == slug


@table(
    ("text", "marked"),
    [
        ("[02-12] read", "[02-12 ⟨4d ago⟩] read"),
        ("[2026-02-12] read", "[2026-02-12 ⟨4d ago⟩] read"),
        ("[2026-02-12 evening] read", "[2026-02-12 evening ⟨4d ago⟩] read"),
        ("(2026-02-15) read", "(2026-02-15 ⟨yesterday⟩) read"),
        ("（2026-02-16）讀", "（2026-02-16 ⟨today⟩）讀"),
        ("[12-31] read", "[12-31 ⟨2mo ago⟩] read"),
        ("[2026-02-17] read", "[2026-02-17 ⟨-1d ago⟩] read"),
        ("[2026-02-30] read", "[2026-02-30] read"),
        ("[2026-02-12 ⟨4d ago⟩] read", "[2026-02-12 ⟨4d ago⟩] read"),
        ("2026-02-12, 02-12, [1]", "2026-02-12, 02-12, [1]"),
        ("rows[10-12], f(x)[01-02], read[2026-02-12]", "rows[10-12], f(x)[01-02], read[2026-02-12 ⟨4d ago⟩]"),
        ("約束[02-12]讀完", "約束[02-12 ⟨4d ago⟩]讀完"),
        ("pages (10-12), (02-12 to 02-14), （10-12）", "pages (10-12), (02-12 to 02-14), （10-12）"),
    ],
)
def test_every_form_of_date_is_marked_for_people(text: str, marked: str) -> None:
    assert mark_every_date(text, TODAY) == marked


@table(
    "lines",
    ["## Meta\n-{blanks}x", "## Meta\n- Slug{blanks}x", "## Trail\n- [2026-02-12{blanks}x", "## Trail\n- x{rows}"],
)
def test_blanks_and_lines_without_end_make_it_no_slower(lines: str) -> None:
    blanks, rows = "\u3000" * 300_000, "\nx" * 400_000
    assert parse_thread("# T\n" + lines.format(blanks=blanks, rows=rows)).title == "T"


@table(
    ("title", "response", "said"),
    [
        ("約束與湧現", "約、束，與湧…現", ["約、束", "湧…現"]),
        ("API rotation", "All apikeys: of the API, a rotation.", ["API", "rotation"]),
    ],
)
def test_it_points_at_the_words_it_recognised_a_thread_by(title: str, response: str, said: list[str]) -> None:
    recognised = recognise_thread(response, [Thread(title, "another-name")])
    assert recognised is not None
    assert [span.text for span in recognised.spans] == said


@table("title", ["！", "…", "\u200b", "???"])
def test_signs_alone_name_no_thread(title: str) -> None:
    assert recognise_thread("So !! … … \u200b\u200b ??? ???", [Thread(title, "a-slug")]) is None


KEY = "AB3DE5GH7JK9MN1P"


@table("secret", [f"AKIA{KEY}", f"mck_{KEY}{KEY}", f"https://me:{KEY}@host/x", f"--token {KEY}", f"password={KEY}"])
def test_the_slug_of_a_title_with_a_secret_has_none_of_it_and_is_that_titles_alone(secret: str) -> None:
    slug, other = slug_of(f"Rotate {secret}"), slug_of(f"Rotate {secret.replace(KEY, KEY[::-1])}")
    assert KEY[:6].lower() not in slug
    assert slug.startswith("rotate-")
    assert slug != other
    assert slug == slug_of(slug) == slug_of(f"rotate  {secret}")
    assert len(slug_of(f"{'Rotate it ' * 15}{secret}")) <= 100
    thread = Thread(f"Rotate {secret}", slug)
    for text in (f"About Rotate {secret} now.", f"About {slug} now.", f"About {whole_slug_of(thread.title)} now."):
        found = recognise_thread(text, [thread])
        assert found, text
        assert found.by == "name", text
    assert read_threads(format_thread(thread))[0].thread.slug == slug  # type: ignore[union-attr]


def test_people_read_no_secret_in_a_slug_of_former_releases() -> None:
    title = f"Rotate AKIA{KEY} soon"
    whole = whole_slug_of(title)
    assert KEY.lower() in whole
    assert shown_slug(whole, title) == slug_of(title)
    assert shown_slug("keys", title) == "keys"
    assert shown_slug("rotate-soon", "Rotate soon") == "rotate-soon"
    assert "Slug" not in format_thread(Thread(title, whole))
