"""Threads as people write them: nothing of a file is lost, and what was written is read to the same."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metacog.heuristics.memory.thread_markdown import ThreadError, format_thread
from metacog.heuristics.memory.threads import Step, Thread, slug_of
from tests.heuristics.memory.test_threads import parse_thread, parse_threads
from tests.tables import table

MANY = """\
---
# by hand
tags: [a, b]
---
Before the title.
# Thread: Meta kept?

A line under the title.

## **Meta**
- **Created**: 2026-02-12 (a Thursday)
* __Last touched:__ 2026-02-15
- **Status: resting** (done for now)
Touches: 2+
- Owner: kuro
  - and rin
- Status: active

## Trail
Intro sentence.
1. [02-12] first
   - a detail
2. [02-13] second
+ third

## Next
Try:
```md
## Trail
- not an entry
```
Then go on.
    ## Meta

## Sources
- Oulipo
```
# Thread: in code
## Next
"""


def test_what_has_no_place_is_kept_as_notes_and_written_out_again() -> None:
    thread = parse_thread(MANY + "```\n")
    assert (thread.title, thread.status, thread.touches) == ("Meta kept?", "paused", 2)
    assert (thread.created, thread.last_touched) == (date(2026, 2, 12), date(2026, 2, 15))
    assert thread.trail == (
        Step("first\n- a detail", date(2026, 2, 12)),
        Step("second", date(2026, 2, 13)),
        Step("third"),
    )
    assert thread.next == "Try:\n```md\n## Trail\n- not an entry\n```\nThen go on.\n    ## Meta"
    assert thread.notes == (
        "---\n# by hand\ntags: [a, b]\n---\nBefore the title.\n\n\nA line under the title.\n\n"
        "- Owner: kuro\n  - and rin\n- Status: active\n"
        "- **Created**: 2026-02-12 (a Thursday)\n- **Status: resting** (done for now)\nTouches: 2+\n\n"
        "Intro sentence.\n\n"
        "## Sources\n- Oulipo\n```\n# Thread: in code\n## Next\n```"
    )
    written = format_thread(thread)
    assert "\n## Notes\n---\n# by hand\n" in written
    assert parse_thread(written) == thread
    assert format_thread(parse_thread(written)) == written


@table("ending", ["\n", "\r\n", "\r"])
@table("mark", ["", "\ufeff"])
def test_line_endings_and_a_mark_before_all_make_no_difference(ending: str, mark: str) -> None:
    assert parse_threads(mark + MANY.replace("\n", ending)) == parse_threads(MANY)


def test_a_fence_that_nothing_closes_hides_no_heading() -> None:
    thread = parse_thread("# T\n## Next\n~~~\nx\n## Trail\n- one\n")
    assert (thread.next, thread.trail) == ("~~~\nx", (Step("one"),))


def test_several_threads_stand_in_one_file_however_the_first_is_called() -> None:
    first, second = "# One\n## Trail\n- a\n", "# thread： Two\n## Next\n# Thread\n"
    parsed = parse_threads(f"{first}{second}")
    assert [(read.thread.title, read.places.title) for read in parsed] == [("One", 1), ("Two", 4)]
    assert parse_threads(f"# All my threads\n\n{second}")[0].thread.notes == "# All my threads"
    with pytest.raises(ThreadError, match="line 4: needs a title"):
        parse_threads(f"{first}# Thread:\n")


def test_it_says_in_which_lines_the_parts_begin() -> None:
    places = parse_threads(MANY)[0].places
    assert (places.title, places.next, places.notes, places.trail) == (6, 27, 1, (21, 23, 24))


# Pieces of which the files are made that people and agents write, each with a word of its own.
LINE = st.sampled_from(
    r"""
## Meta|## Trail|## Next|## Notes|## Sources {}| ## **Next:**|    ## Trail {}|### Trail {}|# {}|# Thread|\# Thread: {}
- {}|* {}|+ {}|7. {}|8) {}|- [02-12] {}|- (2026-02-13 evening) {}|  - {}|-|- \[02-12] {}|- [13-40] {}|- [02-12]
```{}|```|~~~|~~~~ {}|  ```|- ```{}|\```|\\## {}|\## Next|---|> {}|<!-- {} -->|  {}|   {} {}|{}|線索 {}|  |
- Owner: {}|- **Slug {}**: x|Related：{}|- Touches: 3 {}|- Status: paused {}|- Created: 2026-02-12 {}|>- {}|%{}|@{}
* **Last touched:** 2026-02-15""".translate(str.maketrans("\n>%@", "|\t\u3000\u2028"))
    .strip("|")
    .split("|")
)


@st.composite
def files(draw: st.DrawFn) -> str:
    lines = [line.replace("{}", f"w{at}w") for at, line in enumerate(draw(st.lists(LINE, max_size=25)))]
    lines.insert(draw(st.integers(0, len(lines))), "# Thread: The title")
    return draw(st.sampled_from(["", "\ufeff"])) + draw(st.sampled_from(["\n", "\r\n"])).join(lines)


@settings(max_examples=2 * settings().max_examples)
@given(files(), st.booleans())
def test_no_line_is_lost_and_what_was_written_is_read_to_the_same(text: str, has_second: bool) -> None:
    try:
        parsed = [read.thread for read in parse_threads(text + "\n# Thread: Another\n" * has_second)]
    except ThreadError:  # the title stands behind a section, or in code
        return
    written = "\n".join(map(format_thread, parsed))
    assert [read.thread for read in parse_threads(written)] == parsed
    assert set(re.findall(r"w[0-9]+w", text)) <= set(re.findall(r"w[0-9]+w", written))


TEXT = st.lists(LINE.map(lambda line: line.replace("{}", "x")), max_size=8).map("\n".join)
DAY = st.dates(date(2020, 1, 1), date(2027, 1, 1))
BLOCK = TEXT.filter(lambda text: text == text.strip())


@settings(max_examples=2 * settings().max_examples)
@given(
    st.builds(
        Thread,
        title=st.sampled_from(["T", "Thread: T", "# T", "約束", "```"]),
        slug=st.just(""),
        last_touched=st.just(date(2026, 2, 15)),
        trail=st.lists(st.builds(Step, BLOCK.filter(bool), DAY | st.none()), max_size=4).map(tuple),
        next=BLOCK,
        notes=BLOCK,
    )
)
def test_whatever_somebody_wrote_in_the_console_is_read_back(thread: Thread) -> None:
    read = parse_threads(f"{format_thread(thread)}\n{format_thread(thread)}")
    wanted = replace(thread, slug=slug_of(thread.title))
    assert [parsed.thread for parsed in read] == [wanted, wanted]


@table(
    "lines",
    [
        "\n" * 400_000,
        "```x\n" * 200_000,
        "- " * 400_000,
        "`" * 800_000,
        "## Meta\n- Status: active" + "\u3000" * 300_000 + "x",
        "".join(f"{'`' * (2_000 - at)}\n" for at in range(1_000)),
    ],
)
def test_what_repeats_without_end_makes_it_no_slower(lines: str) -> None:
    assert parse_thread(f"# T\n{lines}").title == "T"
