"""Scripts, words, sentences and questions, in English and in Chinese."""

from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.text import words
from tests.tables import table


@table(
    ("text", "script"),
    [
        ("The cache is stale and needs a restart.", "latin"),
        ("快取過期了，需要重新啟動。", "han"),
        ("请用 Django 写一个 REST API，并部署到 PostgreSQL 上", "han"),
        ("The words 不可能 and 不一定 mean impossible and not certain.", None),
        ("The word 猫 is Chinese for cat and is read as mao.", "latin"),
        ("キャッシュが古いので再起動してください。", "kana"),
        ("캐시가 오래되어 다시 시작해야 합니다.", "hangul"),
        ("Кэш устарел, его нужно перезапустить сегодня.", "other"),
        ("café résumé naïve déjà vu", "latin"),
        ("42", None),
        ("OK", None),
        ("Django?", None),
        ("漢朝。", None),
        ("", None),
    ],
)
def test_it_tells_the_script_of_most_words(text: str, script: str | None) -> None:
    assert words.script_of(text) == script


def test_it_tells_the_script_of_a_single_word_where_that_is_wanted() -> None:
    assert words.script_of("漢朝。", least=0) == "han"


@table(
    ("text", "variant"),
    [
        ("這個問題還沒有結論。", "zh-Hant"),
        ("这个问题还没有结论。", "zh-Hans"),
        ("天上有白雲", None),  # one character proves nothing
        ("你好", None),
        ("這個问题還没有结論", None),
        ("Hello", None),
    ],
)
def test_it_tells_traditional_from_simplified(text: str, variant: str | None) -> None:
    assert words.variant_of(text) == variant


@table(
    ("text", "folded"),
    [
        ("ＡＢＣ？！，", "abc?!,"),
        ("為什麼這樣", "为什么这样"),
        ("“Don’t”", '"don\'t"'),
        ("İstanbul", "istanbul"),
    ],
)
def test_it_folds_what_means_the_same(text: str, folded: str) -> None:
    assert words.fold_signs(text) == folded


@given(st.text())
def test_it_keeps_every_place_when_it_folds_and_blanks(text: str) -> None:
    folded = words.fold_signs(text)
    assert len(folded) == len(text)
    assert len(words.prose(folded)) == len(text)


@table(
    ("text", "left"),
    [
        ("run `ls -la` now", "run now"),
        ("see https://example.com/?a=b for it", "see for it"),
        ('<kuro:chat reply="true">hello</kuro:chat>', "hello"),
        ("[CHAT]hello[/CHAT]", "hello"),
        ("a ```\nrm -rf /\n``` b", "a b"),
        ("a < b and b > c", "a < b and b > c"),
        ("an `open backtick", "an `open backtick"),
        ("[1] and [see below]", "[1] and [see below]"),
    ],
)
def test_it_blanks_code_links_and_tags(text: str, left: str) -> None:
    assert " ".join(words.prose(words.fold_signs(text)).split()) == left


@table(
    ("text", "asked"),
    [
        ("What does it cost?", ["What does it cost?"]),
        ("What does it cost? When does it arrive?", ["What does it cost?", "When does it arrive?"]),
        ("What does it cost, and when does it arrive?", ["What does it cost", "when does it arrive?"]),
        ("費用是多少？什麼時候到？", ["費用是多少？", "什麼時候到？"]),
        ("这个多少钱，什么时候到？", ["这个多少钱", "什么时候到？"]),
        ("Django 怎麼裝？And how do I run it?", ["Django 怎麼裝？", "And how do I run it?"]),
        ("how do i reset my password", ["how do i reset my password"]),
        ("can you cancel my order", ["can you cancel my order"]),
        ("為什麼天是藍的", ["為什麼天是藍的"]),
        ("你吃飯了嗎", ["你吃飯了嗎"]),
        ("What?! Why??", ["What?!", "Why??"]),
        ("A refund, right? For what?", ["A refund, right?", "For what?"]),
        ("Where is it, huh?", ["Where is it, huh?"]),
        ("Is that what you mean by it?", ["Is that what you mean by it?"]),
        ("Does the hedgehog say huh?", ["Does the hedgehog say huh?"]),
        ("I cancelled it, right?", ["I cancelled it, right?"]),
        ("取消了，好嗎？", ["取消了，好嗎？"]),
        ("Who wrote it and when was it sold?", ["Who wrote it", "when was it sold?"]),
        ("Which one do I need, and how many?", ["Which one do I need", "how many?"]),
        ("What's the price and is shipping included?", ["What's the price", "is shipping included?"]),
        ("Tell me, what's the fee and why is it due?", ["Tell me, what's the fee", "why is it due?"]),
        ("公司在哪裡和誰是負責人？", ["公司在哪裡", "誰是負責人？"]),
        ("你們幾點開門，有沒有車位", ["你們幾點開門", "有沒有車位"]),
        # One question.
        ("What I know and what I need is this?", ["What I know and what I need is this?"]),
        ("When I save and when I quit, does it sync?", ["When I save and when I quit, does it sync?"]),
        ("What is red and is round?", ["What is red and is round?"]),
        ("誰和誰結婚了？", ["誰和誰結婚了？"]),
        ("你和誰去？", ["你和誰去？"]),
        # and nothing is asked by
        ("What a day and what a night!", []),
        ("It costs a lot.", []),
        ("How nice. What a day.", []),
        ("When it rains, I stay in.", []),
        ('He asked "why?" and left.', []),
        ("I cancelled it. Right? ok?", []),
        ("Oh, a refund, huh?", []),
        ("It ships on Monday, eh?", []),
        ("So it's late... huh??", []),
        ("Is that what you're saying?", []),
        ("It is late. Is that what you mean?", []),
        ("好嗎？", []),
        ("我不知道為什麼。", []),
        ("無論如何都要試。", []),
        ("他什麼都吃。", []),
        ("see https://example.com/?a=b", []),
        ("`a ? b : c`", []),
        ("", []),
        ("???", []),
    ],
)
def test_it_finds_what_is_asked(text: str, asked: list[str]) -> None:
    places = words.questions(words.prose(words.fold_signs(text)))
    assert [text[start:end] for start, end in places] == asked


@table(
    ("message", "reply", "shared"),
    [
        ("reset", "resetting it", True),
        ("cancellation", "It was cancelled.", True),
        ("the art", "start", False),
        ("my car", "the carpet", False),
        ("order 12", "order 123", True),  # by "order"
        ("12", "123", False),
        ("重設密碼", "密码已经改了", True),
        ("貓", "我的貓", True),
        ("貓", "熊貓", True),
        ("我的", "我的", False),
        ("the of and", "the of and", False),
    ],
)
def test_it_finds_the_terms_of_one_text_in_another(message: str, reply: str, shared: bool) -> None:
    spaced = words.spaced(words.tokens(words.fold_signs(reply)))
    assert any(term in spaced for term in words.terms(words.tokens(words.fold_signs(message)))) is shared


@given(st.text())
def test_it_finds_every_term_of_a_text_in_that_text(text: str) -> None:
    tokens = words.tokens(words.fold_signs(text))
    assert all(term in words.spaced(tokens) for term in words.terms(tokens))


@given(st.text(st.sampled_from("aB9 ，不書书カ국é＿Ａ😀𠀀\u200b?"), max_size=40))
def test_it_hashes_every_token_once(text: str) -> None:
    tokens = set(words.tokens(words.fold_signs(text)))
    assert sorted(words.hashes(text)) == sorted(crc32(token.encode()) for token in tokens)
