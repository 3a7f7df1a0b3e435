"""Tags are found in every form the seeds use, never in code, and in time that grows with the text only."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics import Refused, find_items
from metacog.heuristics.text.tags import code_spans, read_tags
from tests.tables import table


def found(response: str) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in read_tags(response).items]


@table("kind", ["chat", "remember", "task", "action", "ask", "schedule", "thread"])
@table(
    "form",
    [
        "<kuro:{0}>hello</kuro:{0}>",
        "<{0}>hello</{0}>",
        "<my-agent.v2:{0}>hello</my-agent.v2:{0}>",
        '<kuro:{0} reply="true">hello</kuro:{0}>',
        "<kuro:{0}\n a='1'\n>hello</kuro:{0} >",
        "[{0}]hello[/{0}]",
        '[{0} to="x"]hello[/{0}]',
        "before <{0}> \n hello \t </{0}> after",
    ],
)
def test_it_finds_every_kind_in_every_form_and_case(kind: str, form: str) -> None:
    for written in (kind, kind.upper(), kind.title()):
        assert found(form.format(written)) == [(kind, "hello")]


@table(
    "response",
    [
        "",
        "no tags",
        "<chats>x</chats>",
        "<chatty>x</chatty>",
        "<b>x</b>",
        "< chat>x</chat>",
        "<kuro :chat>x</kuro:chat>",
        "<a:b:chat>x</a:b:chat>",
        "[CHATS]x[/CHATS]",
        "[ CHAT]x[/CHAT]",
        "[kuro:CHAT]x[/kuro:CHAT]",
        "[CHAT](https://example.org)",
        "closed only</chat>",
        "<chat",
        "<chat> \n",
        "&lt;chat&gt;x&lt;/chat&gt;",
        "<\u212achat>x</\u212achat>",
        "<taſk>x</taſk>",
    ],
)
def test_it_takes_nothing_else_for_a_tag(response: str) -> None:
    assert found(response) == []


@table(
    ("response", "attributes"),
    [
        ("<chat reply=\"true\" to='Alex' n=1>x</chat>", {"reply": "true", "to": "Alex", "n": "1"}),
        ("<chat urgent>x</chat>", {"urgent": ""}),
        ('<chat note="a > b">x</chat>', {"note": "a > b"}),
        ('[CHAT note="a ] b"]x[/CHAT]', {"note": "a ] b"}),
        ('<chat a = "1"\n\tb= "2">x</chat>', {"a": "1", "b": "2"}),
        ('<chat a="1" a="2">x</chat>', {"a": "1"}),
        ('<chat 理由="因為">x</chat>', {"理由": "因為"}),
        ("<chat>x</chat>", {}),
        (f"<chat {' '.join(f'a{n}=1' for n in range(70))}>x</chat>", {f"a{n}": "1" for n in range(64)}),
    ],
)
def test_it_reads_attributes(response: str, attributes: dict[str, str]) -> None:
    (item,) = read_tags(response).items
    assert (item.text, item.attributes) == ("x", attributes)


@table(
    ("response", "text"),
    [
        ("<chat it's>it's fine</chat>", "it's fine"),
        ("<chat it's>hidden?</chat> that's>", "hidden?"),
        ("<chat it's>hidden? that's>no</chat>", "hidden? that's>no"),
        ('<chat say="hi>hello</chat>', "hello"),
        ('<chat say="hi>hello</chat>">', "hello"),
        ('<chat say="a<b">hello</chat>', "hello"),
        ('<chat say="a<b>c">hello</chat>', 'c">hello'),
        ("<chat <chat>hello</chat>", "hello"),
        ("[CHAT it's]it's fine[/CHAT]", "it's fine"),
        ('[CHAT say="hi]hello[/CHAT]"]', "hello"),
    ],
)
def test_it_lets_no_quote_hide_what_follows_a_tag(response: str, text: str) -> None:
    assert found(response) == [("chat", text)]


@table(
    "response",
    ['<kuro:schedule next="2m" reason="x"/>', '<schedule next="2m" reason="x" />', "[SCHEDULE next=2m reason=x]"],
)
def test_it_finds_a_tag_that_only_has_attributes(response: str) -> None:
    (item,) = read_tags(f"before {response} after").items
    assert (item.kind, item.text, item.attributes) == ("schedule", "", {"next": "2m", "reason": "x"})
    assert item.start == item.end == len(f"before {response}")


def test_it_closes_at_the_first_closing_tag_of_the_kind_in_any_namespace() -> None:
    assert found("<a:chat>one</b:chat> two</a:chat>") == [("chat", "one")]
    assert found("<chat>one <chat>two</chat> three</chat>") == [("chat", "one <chat>two")]
    assert found("[CHAT]one[/CHAT][CHAT]two[/CHAT]") == [("chat", "one"), ("chat", "two")]


def test_it_finds_a_pair_inside_another_since_the_agent_would_run_both() -> None:
    response = "<chat>I will <remember>a fact</remember> and [TASK]do it[/TASK]</chat>"
    assert found(response) == [
        ("chat", "I will <remember>a fact</remember> and [TASK]do it[/TASK]"),
        ("remember", "a fact"),
        ("task", "do it"),
    ]
    crossed = "<chat>a <remember>b</chat> c</remember>"
    assert found(crossed) == [("chat", "a <remember>b"), ("remember", "b</chat> c")]


def test_it_gives_them_in_the_order_in_which_they_start() -> None:
    response = "[TASK]1[/TASK]<ask>2</ask>[CHAT]3[/CHAT]<chat>4</chat><schedule a=5/>"
    assert [kind for kind, _ in found(response)] == ["task", "ask", "chat", "chat", "schedule"]


@table(
    "response",
    [
        "Write `<chat>x</chat>` to talk.",
        "Write ``<chat>`x`</chat>`` to talk.",
        "Write `<chat>` and `</chat>`.",
        "`[CHAT]`x`[/CHAT]`",
        "```\n<chat>x</chat>\n```",
        "```xml\n<chat>x</chat>\n```\nafter",
        "~~~\n<chat>x</chat>\n~~~",
        "  ````\n```\n<chat>x</chat>\n````",
        "```\n<chat>x\n``` not the end\n</chat>\n```",
        "~~~\n```\n~~~\n```\n<chat>x</chat>\n```",
        "a `code\nspan <chat>x</chat>` b",
        "~~~ `info`\n<chat>x</chat>\n~~~",
        "- ```\n  <chat>x</chat>\n  ```",
        "1. a\n   ```\n   <chat>x</chat>\n   ```\n2. b",
        "> - ```\n>   <chat>x</chat>\n>   ```",
        "> ```\n> <chat>x</chat>\nthe quotation ends, and the code with it",
        "-\t```\n\t<chat>x</chat>\n\t```",
        "```\r\n<chat>x</chat>\r\n```\r\nafter",
        "```\r<chat>x</chat>\r```\rafter",
        "Run:\n\n    <chat>x</chat>\n\nand wait",
        "\t<chat>x</chat>",
        "- a\n\n      <chat>x</chat>",
        "\\``<chat>x</chat>`",
        "`a\\` `<chat>x</chat>`",
        "``` a ``` `<chat>x</chat>`",
        "```\n``` a remark\n<chat>x</chat>\n```",
        "```\n[CHAT]x[/CHAT]\n[SCHEDULE next=2m]\n<ask/>\n```",
        "```js title=`a`\nx\n```\n<chat>x</chat>",
    ],
)
def test_it_looks_away_from_code_and_says_so(response: str) -> None:
    assert find_items({"response": response}) == ((), ("tag-in-code",))


@table(
    ("response", "text"),
    [
        ("<chat>see `</chat>` here</chat>", "see `</chat>` here"),
        ("<chat>\n```\n</chat>\n```\ndone</chat>", "```\n</chat>\n```\ndone"),
        ("a ` b <chat>x</chat>", "x"),
        ("a ` b\n\n<chat>x</chat> ` c", "x"),
        ("a `` b <chat>x</chat> ` c", "x"),
        ("```\ncode\n```\n<chat>x</chat>", "x"),
        ("```js```\n<chat>x</chat>", "x"),
        ("~~ <chat>x</chat> ~~", "x"),
        ("```\ncode\n````\n<chat>x</chat>", "x"),
        ("<chat>Run:\n```sh\nls\n```</chat>", "Run:\n```sh\nls\n```"),
        ("<kuro:chat>```sh\nls\n\nps\n```</kuro:chat>", "```sh\nls\n\nps\n```"),
        ("[CHAT]\n~~~~\nls\n~~~~ [/CHAT]\n~~~\n<chat>y", "~~~~\nls\n~~~~"),
        ("- ```sh\n  make\n  ```\n<chat>x</chat>", "x"),
        ("1. ```sh\n   make\n   ```\n2. Done.\n\n<chat>x</chat>", "x"),
        ("> ```\n> make\n\n<chat>x</chat>", "x"),
        ("- ```\n  make\n\n<chat>x</chat>", "x"),
        ("> - ```\n>   make\n>   ```\n> <chat>x</chat>", "x"),
        ("-\t~~~\n\tmake\n\t~~~\n<chat>x</chat>", "x"),
        ("```sh\r\nmake\r\n```\r\n<chat>x</chat>", "x"),
        ("Run\n    <chat>x</chat>", "x"),
        ("- a\n\n    <chat>x</chat>", "x"),
        ("    ```\n\n<chat>x</chat>", "x"),
        ("```markdown\n```bash\nls\n```\nend\n```\n<chat>x</chat>", "x"),
        ("````markdown\n```bash\nls\n```\n````\n<chat>x</chat>", "x"),
        ("```sh\nmake\n``` # done\n<chat>x</chat>", "x"),
        ("```\n<chat>x</chat>\nnever closed", "x"),
        ("```\n~~~\ncode\n~~~\n[CHAT]x[/CHAT]", "x"),
        ("- ```\n  a\n  <chat>x</chat>", "x"),
        ("```\n<chat>x\n```</div>\n</chat>", "x\n```</div>"),
        ("<chat>x:\n```sh\nmake\n</chat>", "x:\n```sh\nmake"),
        ("<chat>x\n\n    </chat>\n\n<b>", "x"),
        ("a `b <chat>x` c</chat>", "x` c"),
        ("<chat>x `y</chat>` z", "x `y"),
        ("It`s late.\n<chat>x</chat>\nThat`s all.", "x"),
        ("the boys` toys <chat>x</chat> it`s", "x"),
        ("a \\` b <chat>x</chat> ` c", "x"),
        ("\\`<chat>x</chat>\\`", "x"),
        ("Write `<chat>` and `</chat>`.\n<chat>x</chat>", "x"),
        ("Write `<chat>`. <chat>x</chat>", "x"),
        ("- a `b\n- <chat>x</chat> ` c", "x"),
        ("# a ` b\n<chat>x</chat> ` c", "x"),
    ],
)
def test_it_knows_where_code_ends(response: str, text: str) -> None:
    assert found(response) == [("chat", text)]


def test_code_that_cuts_two_pairs_hides_neither() -> None:
    one_fence = "<chat>a\n```\nls\n</chat>\n<remember>c</remember>\n<chat>b\n```\nps\n</chat>"
    assert found(one_fence) == [("chat", "a\n```\nls"), ("remember", "c"), ("chat", "b\n```\nps")]


@table(
    ("response", "items", "flags"),
    [
        ("<chat>a and so we", [("chat", "a and so we", True)], ["tag-unclosed"]),
        ("[CHAT] a", [("chat", "a", True)], ["tag-unclosed"]),
        ('[CHAT to="x"] a', [("chat", "a", True)], ["tag-unclosed"]),
        ("<chat>a</task>", [("chat", "a</task>", True)], ["tag-unclosed"]),
        ("[CHAT]a</chat>", [("chat", "a</chat>", True)], ["tag-unclosed"]),
        ("<chat>a</chat> <chat>b", [("chat", "a", False), ("chat", "b", True)], ["tag-unclosed"]),
        ("<chat>a [ASK]b[/ASK]", [("chat", "a [ASK]b[/ASK]", True), ("ask", "b", False)], ["tag-unclosed"]),
        (
            "<chat>a. Write `<chat>x</chat>`",
            [("chat", "a. Write `<chat>x</chat>`", True)],
            ["tag-in-code", "tag-unclosed"],
        ),
        ("</chat>a<chat>", [], ["tag-unclosed"]),
        ("<chat to=", [], ["tag-unclosed"]),
        ("<chat>a <chat>b</chat> c</chat>", [("chat", "a <chat>b", False)], ["tag-nested"]),
        ("<chat>a <chat>b", [("chat", "a <chat>b", True)], ["tag-nested", "tag-unclosed"]),
        ("<chat>a [CHAT]b[/CHAT]</chat>", [("chat", "a [CHAT]b[/CHAT]", False), ("chat", "b", False)], []),
        ("<chat>use `<chat>`</chat>", [("chat", "use `<chat>`", False)], ["tag-in-code"]),
        ("[CHAT](https://example.org) and [chat](#x)", [], []),
        ("[SCHEDULE next=2m] <ask/>", [("schedule", "", False), ("ask", "", False)], []),
        ("```\n<schedule next='2m'/>", [("schedule", "", False)], []),
        ("a</chat>", [], []),
    ],
)
def test_it_says_what_came_of_a_tag_without_an_item_of_its_own(
    response: str, items: list[tuple[str, str, bool]], flags: list[str]
) -> None:
    came = find_items({"response": response})
    assert [(item.kind, item.text, item.is_unclosed) for item in came.items] == items
    assert list(came.flags) == flags


def test_an_open_fence_is_code_where_it_hides_no_tag() -> None:
    assert code_spans("a\n```\nb") == [(2, 7)]
    assert code_spans("<chat>a</chat>\n```\nb") == [(15, 20)]


def test_it_looks_at_4096_openings_and_refuses_more() -> None:
    opened = "[CHAT]" * 4_095 + "hello[/CHAT]"
    assert len(read_tags(opened).items) == 1
    with pytest.raises(Refused, match="more than 4,096 openings") as caught:
        read_tags("[CHAT]" + opened)
    assert caught.value.status == 422


def test_it_takes_256_tags_and_refuses_more() -> None:
    assert len(read_tags("<ask>?</ask>" * 256).items) == 256
    with pytest.raises(Refused, match="257 tags") as caught:
        read_tags("<ask>?</ask>" * 256 + "[ASK]?[/ASK]")
    assert caught.value.errors[0]["pointer"] == "/response"


MEBIBYTE = 1_048_576
FLOODS = [
    *["<chat>", "<chat ", "[CHAT]", "[CHAT ", "<", "[", "<a:", "</chat>", "<chat/>", "<chat a=b "],
    *[
        '<chat a="',
        '<chat ">"',
        "<chat \"'>",
        '[chat a="[chat b=\'" ',
        *[
            "```a\n",
            "> ```a\n",
            "- ```a\n",
            "> - ```\n",
            "````\n```\n",
            "```a`\n```\n",
            "```</chat>\n",
            "\t",
            "    a\n\n",
        ],
        *[
            "- ",
            "- - a\n",
            "> > ",
            ">",
            "1. a\n",
            "[^",
            "* * ",
            "\\",
            "\\`",
            "it`s ",
            "`<chat>",
            "<chat>`</chat>` ",
            "\n",
            "\r",
        ],
        "`",
        "` `` ",
        "```\n",
        "~~~\n",
        "`a\n\n",
        "\n\n",
    ],
]


@table("unit", FLOODS)
def test_it_answers_a_flood_in_time_that_grows_with_its_length_only(unit: str) -> None:
    """No timer: what is quadratic would take many minutes here."""
    flood = (unit * (MEBIBYTE // len(unit)))[: MEBIBYTE - 6]
    for response in (flood, "<chat>" + flood, "<chat>" + flood[:-14] + "</chat>"):
        with contextlib.suppress(Refused):
            assert len(read_tags(response).items) <= 256


pieces = st.sampled_from(
    [
        *[
            "<",
            ">",
            "[",
            "]",
            "/",
            "chat",
            "task",
            ":",
            " ",
            "a=",
            '"',
            "'",
            "`",
            "```",
            "~~~",
            "\n",
            "\n\n",
            "x",
            "İ",
            "😀",
        ],
        *["<chat>", "</chat>", "[TASK]", "[/TASK]", "<k:chat ", "<ask/>", "\\"],
    ]
)


@given(st.lists(pieces, max_size=40).map("".join))
def test_it_always_says_where_a_text_stands(response: str) -> None:
    for item in read_tags(response).items:
        assert response[item.start : item.end] == item.text == item.text.strip()
        assert item.start is not None
