"""Tags are found in every form the seeds use, never in code, and in time that grows with the text only."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics import Refused, parse_tags


def found(response: str) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in parse_tags(response)]


@pytest.mark.parametrize("kind", ["chat", "remember", "task", "action", "ask", "schedule", "thread"])
@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
        "<chat>never closed",
        "closed only</chat>",
        "</chat>the wrong way round<chat>",
        "<chat>closed by another</task>",
        "[CHAT]closed by another</chat>",
        "[CHAT] without attributes or an end",
        "<schedule next='2m'>",
        "&lt;chat&gt;x&lt;/chat&gt;",
        "<\u212achat>x</\u212achat>",
        "<taſk>x</taſk>",
    ],
)
def test_it_takes_nothing_else_for_a_tag(response: str) -> None:
    assert found(response) == []


@pytest.mark.parametrize(
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
    (item,) = parse_tags(response)
    assert (item.text, item.attributes) == ("x", attributes)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "response",
    ['<kuro:schedule next="2m" reason="x"/>', '<schedule next="2m" reason="x" />', "[SCHEDULE next=2m reason=x]"],
)
def test_it_finds_a_tag_that_only_has_attributes(response: str) -> None:
    (item,) = parse_tags(f"before {response} after")
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


@pytest.mark.parametrize(
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
        "```\n<chat>x</chat>\nnever closed",
        "```\n<chat>x\n```</div>\n</chat>",
        "```\n<chat>x\n``` not the end\n</chat>\n```",
        "~~~\n```\n~~~\n```\n<chat>x</chat>\n```",
        "a `code\nspan <chat>x</chat>` b",
    ],
)
def test_it_looks_away_from_code(response: str) -> None:
    assert found(response) == []


@pytest.mark.parametrize(
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
        ("[CHAT]\n~~~~\nls\n~~~~ [/CHAT]\n~~~\n<chat>y</chat>", "~~~~\nls\n~~~~"),
    ],
)
def test_it_knows_where_code_ends(response: str, text: str) -> None:
    assert found(response) == [("chat", text)]


def test_it_looks_at_4096_openings_and_refuses_more() -> None:
    opened = "[CHAT]" * 4_095 + "hello[/CHAT]"
    assert len(parse_tags(opened)) == 1
    with pytest.raises(Refused, match="more than 4,096 openings") as caught:
        parse_tags("[CHAT]" + opened)
    assert caught.value.status == 422


def test_it_takes_256_tags_and_refuses_more() -> None:
    assert len(parse_tags("<ask>?</ask>" * 256)) == 256
    with pytest.raises(Refused, match="257 tags") as caught:
        parse_tags("<ask>?</ask>" * 256 + "[ASK]?[/ASK]")
    assert caught.value.errors[0]["pointer"] == "/response"


MEBIBYTE = 1_048_576
FLOODS = [
    *["<chat>", "<chat ", "[CHAT]", "[CHAT ", "<", "[", "<a:", "</chat>", "<chat/>", "<chat a=b "],
    *[
        '<chat a="',
        '<chat ">"',
        "<chat \"'>",
        '[chat a="[chat b=\'" ',
        "`",
        "` `` ",
        "```\n",
        "~~~\n",
        "`a\n\n",
        "\n\n",
    ],
]


@pytest.mark.parametrize("unit", FLOODS)
def test_it_answers_a_flood_in_time_that_grows_with_its_length_only(unit: str) -> None:
    """No timer: what is quadratic would take many minutes here."""
    flood = (unit * (MEBIBYTE // len(unit)))[: MEBIBYTE - 6]
    for response in (flood, "<chat>" + flood):
        with contextlib.suppress(Refused):
            assert len(parse_tags(response)) <= 256


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
    for item in parse_tags(response):
        assert response[item.start : item.end] == item.text == item.text.strip()
        assert item.start is not None
