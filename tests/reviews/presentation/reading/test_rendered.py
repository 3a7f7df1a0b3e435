"""What an agent writes in Markdown is laid out, and nothing of it is lost: not a character, not a mark."""

from __future__ import annotations

import re
import time
from collections import Counter
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from reviews.presentation.highlight import Mark, show
from reviews.presentation.reading.rendered import LONGEST, Reading, reading
from reviews.presentation.reading.word_changes import word_changes
from tests.tables import table

TAGS = {
    "p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "hr", "table",
    "thead", "tbody", "tr", "th", "td", "div", "span", "mark",
}  # fmt: skip
ATTRIBUTES = {"class", "title", "value", "tabindex", "dir"}
SYNTAX = set("#>*_~`|-=+:[]<\\")


class Seen(HTMLParser):
    """What a reader sees of a page: its text, that which is marked, and its tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = self.marked = self.numbers = ""
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.attributes |= given.keys()
        self.numbers += f"{given['value']}.)" if "value" in given else ""
        if tag != "hr":
            self.open.append((tag, given.get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        classes = [name for _, name in self.open]
        if "unseen" in classes:
            return
        if "hid" in classes:
            runs = re.findall(r"U\+([0-9A-F]+)(?:×([\d,]+))?", data)
            data = "".join(chr(int(code, 16)) * int(times or 1) for code, times in runs)
        self.text += data
        if any(tag == "mark" for tag, _ in self.open):
            self.marked += data


def read(text: str, *spans: tuple[int, int]) -> Reading:
    return reading(show(text, [Mark(start, end, "absolute-claim") for start, end in spans]))


def chars(text: str) -> Counter[str]:
    return Counter("".join(text.split()))


PARTS = st.sampled_from([
    "# ", "## ", "- ", "1. ", "12) ", "> ", "**", "*", "_", "__", "~~", "`", "``", "```python\n", "```\n", "~~~\n", "[",
    "](u)", '](u "t")', "]", "!", "<b>", "<a:b>", "&amp;", "\\", "\\*", "\\|", "|", "| ", "|-|-|\n", "| a | b |\n",
    "---\n", "===\n", "\n", "\n\n", "\n    ", "\t", "  \n", "a", "b c", "word", "中文", "\u3000", "\u200b", "\u00a0",
    "\r\n", "\r", "\0", 'def f(x): return "s"\n', "- [ ] x\n",
])  # fmt: skip


@given(st.lists(PARTS, max_size=30).map("".join), st.data())
def test_no_character_and_no_mark_is_ever_lost(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    told = read(text, (start, end))
    if not told.html:
        return  # it is shown as it is
    seen = Seen(told.html)
    assert seen.tags <= TAGS
    assert seen.attributes <= ATTRIBUTES
    lost = chars(text) - chars(seen.text) - chars(seen.numbers)
    assert set(lost) <= SYNTAX
    assert not chars(seen.text) - chars(text)
    if (start, end) == (0, len(text)):
        return  # a mark of the whole text stands beside it
    marked = text[start:end]
    assert not chars(seen.marked) - chars(marked)
    assert set(chars(marked) - chars(seen.marked)) <= SYNTAX | set("0123456789.)")
    if marked.strip() and not seen.marked.strip():
        assert [str(each.text) for each in told.unseen] == [str(show(text[start:end]))]


@table(
    ("text", "tags", "shown"),
    [
        ("## Why\n\ntext", {"h3", "p"}, "Whytext"),
        ("## Why\n\n#### How\n\n# Then", {"h3", "h4"}, "WhyHowThen"),
        ("- a\n  - b\n- c", {"ul", "li"}, "abc"),
        ("3. a\n4. b", {"ol", "li"}, "ab"),
        ("a **b** *c* ~~d~~ `e`", {"p", "strong", "em", "s", "code"}, "a b c d e"),
        ("| a | b\\|c |\n|---|--:|\n| 1 | 2 |", {"div", "table", "thead", "tbody", "tr", "th", "td"}, "ab|c12"),
        ("[label](https://a.example \"t\")", {"p", "span"}, 'label (https://a.example "t")'),
        ("![alt](https://a.example/i.png) *x*", {"p", "span", "em"}, "!alt (https://a.example/i.png) x"),
        ("<https://a.example> *x*", {"p", "em"}, "<https://a.example> x"),
        ("[a][r] *x*\n\n[r]: https://a.example", {"p", "em"}, "[a][r] x[r]: https://a.example"),
        ("[x](javascript:alert(1))", {"p", "span"}, "x (javascript:alert(1))"),
        ("<script>alert(1)</script> &amp; *x*", {"p", "em"}, "<script>alert(1)</script> &amp; x"),
        ("*x*\n\n| a |\n|---|\n| 1 | 2 |", {"p", "em", "div"}, "x| a |\n|---|\n| 1 | 2 |"),  # too many cells
        ("C:\\_temp and \\*not\\* *x*", {"p", "em"}, "C:\\_temp and \\*not\\* x"),
        ("\u3000\u3000段落 *x*\u3000", {"p", "em"}, "\u3000\u3000段落 x\u3000"),
        ("*x*\n\n" + "> " * 30 + "deep", {"p", "em", "div"}, "x" + "> " * 30 + "deep"),  # deeper than the parser goes
        ("```python\ndef f(): pass\n```", {"p", "pre", "span"}, "pythondef f(): pass"),
        ("```klingon\nqapla'\n```", {"p", "pre"}, "klingonqapla'"),
    ],
)  # fmt: skip
def test_markdown_is_laid_out_and_what_is_not_known_stays_as_it_was_written(
    text: str, tags: set[str], shown: str
) -> None:
    seen = Seen(read(text).html)
    assert seen.tags == tags
    assert re.sub(r"\s+", " ", seen.text) == re.sub(r"\s+", " ", shown)


@table(
    ("text", "phrase"),
    [
        ("## so it **is**", "it **is"),
        ("a `clearly so` b", "clearly"),
        ("[clearly](u)", "clearly"),
        ("[a](https://clearly.example)", "clearly"),
        ("| a |\n|---|\n| clearly |", "clearly"),
        ("- x\n\n  ```python\n  # clearly\n  ```", "clearly"),
        ("> a\n> clearly *x*", "clearly"),
        ("*x* a\u200bb", "a\u200bb"),
    ],
)
def test_a_phrase_is_marked_wherever_it_stands(text: str, phrase: str) -> None:
    start = text.index(phrase)
    told = read(text, (start, start + len(phrase)))
    assert Seen(told.html).marked == phrase.replace("*", "")
    assert not told.unseen


@table("phrase", ["```", "|---|", "**"])
def test_a_mark_that_falls_on_signs_alone_is_named(phrase: str) -> None:
    text = "**b**\n\n| a |\n|---|\n| 1 |\n\n```\ncode\n```"
    start = text.index(phrase)
    (unseen,) = read(text, (start, start + len(phrase))).unseen
    assert (str(unseen.text), unseen.titles) == (phrase, "Absolute claim")


@table("text", ["Plain.\nTwo lines.\n\nTwo paragraphs.", "it's 5 < 6 and a_b", "", "x" * LONGEST + "*y*"])
def test_a_text_without_markdown_and_a_very_long_one_are_shown_as_they_are(text: str) -> None:
    told = read(text)
    assert not told.html
    assert told.is_too_long == (len(text) > LONGEST)


@table("part", ["[", "`a``b", "**a*", "[a](b)", "![](", "> - ", "| a ", "<a", "\\", "~~a", "- a\n", "_a"])
def test_no_text_takes_long(part: str) -> None:
    text = (part * LONGEST)[:LONGEST]
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 2


@table(
    ("old", "new", "told"),
    [
        ("It is so.", "It may be so.", [("same", "It "), ("del", "is"), ("ins", "may be"), ("same", " so.")]),
        ("顯然是快取。", "或許是快取。", [("del", "顯然"), ("ins", "或許"), ("same", "是快取。")]),
        ("same", "same", []),
        ("a" + " b" * 200, "a" + " b" * 200 + "!", [("same", " … " + " b" * 30), ("ins", "!")]),
    ],
)
def test_an_edit_is_told_word_by_word(old: str, new: str, told: list[tuple[str, str]]) -> None:
    assert [(change.kind, str(change.text)) for change in word_changes(old, new)] == told
