"""A language is one file: whatever it gives, each subject hears and says, and nothing else has to know of it."""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from metacog.heuristics.lexicon import LANGUAGES, either, shapes, together
from tests.tables import table

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
spec = importlib.util.spec_from_file_location("hearing", HERE / "hearing.py")
assert spec is not None
assert spec.loader is not None
hearing = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hearing)
SHAPES: list[Any] = [
    shape for shape in vars(shapes).values() if isinstance(shape, type) and shape.__name__.endswith("Words")
]


def given(language: ModuleType) -> dict[str, Any]:
    """Give what a language says for all to hear."""
    return {name: of for name, of in vars(language).items() if name.isupper() and not name.startswith("_")}


def kinds(value: Any) -> Any:
    """Tell of what kind a value is, and in a group each of its values."""
    for kind in (str, int, Mapping, frozenset):
        if isinstance(value, kind):
            return kind
    return {name: kinds(of) for name, of in value._asdict().items()} if hasattr(value, "_asdict") else tuple


def test_every_language_gives_the_same_names_of_the_same_kinds() -> None:
    first, *others = [{name: kinds(of) for name, of in given(language).items()} for language in LANGUAGES]
    for language, other in zip(LANGUAGES[1:], others, strict=True):
        differ = sorted(name for name in first.keys() | other.keys() if first.get(name) != other.get(name))
        assert not differ, f"not in both, or of another kind: {LANGUAGES[0].__name__} and {language.__name__}"


def test_every_group_is_given() -> None:
    for language in LANGUAGES:
        groups = {type(of) for of in given(language).values()}
        assert groups.issuperset(SHAPES)


def test_every_wording_is_there_for_every_language_of_agents() -> None:
    for language in LANGUAGES:
        groups = [language.BRIEF, language.CONFIDENCE, language.REFLECTION, language.RESEARCH, language.STUCK]
        tables = [of for group in groups for of in group if isinstance(of, Mapping)] + [language.QUALITY.hedges]
        assert len(tables) == 8
        assert all(table.keys() == language.MARKS.keys() for table in tables)


def test_one_language_beside_another_keeps_its_order_and_adds_nothing_where_it_is_silent() -> None:
    one = shapes.ExtensionWords(("a", "b"), ("t",), (), (), ("x",), "aim|goal", "", "%", "f", ())
    other = shapes.ExtensionWords(("c",), (), (), (), ("y",), "ziel", "", "", "", ())
    expected = shapes.ExtensionWords(("a", "b", "c"), ("t",), (), (), ("x", "y"), "aim|goal|ziel", "(?!)", "%", "f", ())
    assert together([one, other]) == expected
    assert together([one]) == one._replace(steps="(?!)")
    assert either(["", "a", ""]) == "a"


def test_of_two_languages_the_first_says_what_a_word_stands_for() -> None:
    one, other = shapes.ConfidenceWords({"en": {"high": "high"}}), shapes.ConfidenceWords({"en": {}, "eo": {}})
    assert together([one, other]).wordings == {"en": {"high": "high"}, "eo": {}}


def test_every_name_is_heard_by_some_subject() -> None:
    code = "".join(
        path.read_text() for path in (ROOT / "metacog/heuristics").rglob("*.py") if "lexicon" not in path.parts
    )
    unheard = [name for shape in SHAPES for name in shape._fields if not re.search(rf"\.{name}\b", code)]
    assert unheard == []


# -- a table a language ------------------------------------------------------------------------------------------

# By subject: in what it is heard, and in what it is not.
Table = Mapping[str, tuple[list[str], list[str]]]

ENGLISH: Table = {
    "a claim": (
        ["It is clearly full.", "There is no doubt that it is."],
        ["It is not clearly full.", "He spoke clearly.", "Is it clearly full?"],
    ),
    "what is done": (
        ["Done.", "It is now fixed."],
        ["It is not fixed.", "If it is fixed, call.", "Done. 2 tests fail."],
    ),
    "a hedge": (["Perhaps it is full."], ["It is full.", "It is mighty full."]),
    "exhaustion": (
        ["I am out of ideas.", "I've tried everything, nothing seems to work."],
        ["If I am out of ideas, I'll ask.", "The user says: I'm stuck.", "I'm stuck with the old API."],
    ),
    "uncertainty": (
        ["I don't know why it fails.", "Weirdly, it fails."],
        ["It behaves weirdly, but it works.", "This is confusing for newcomers.", "Ask me whether I don't know why."],
    ),
    "scope creep": (
        ["Let's start over!"],
        [
            "Let's start over because the base moved.",
            "Let's start over here.",
            "If it fails, let me start from scratch.",
        ],
    ),
    "to think twice": (
        ["Please think twice!", "Hmm, reconsider your plan"],
        ["Think twice before you buy.", "Translate: think twice", "I never think twice."],
    ),
    "a code": (["it ended with exit code 137"], ["it ended in line 137", "it ended after 137 steps"]),
    "a duration": (["it took 12 seconds"], ["it has 12 parts", "it took 12"]),
    "a correction": (
        ["That is wrong.", "You forgot the date.", "No, I meant Thursday."],
        ["If that is wrong, tell me.", "My manager said you are wrong.", "What went wrong?", "Great, thanks!"],
    ),
    "a concession": (
        ["You're right, it is Thursday.", "My mistake!"],
        ["You're right on time.", "If you're right, it is Thursday."],
    ),
    "a negation": (
        ["The port is open. / The port is not open."],
        ["The port is not open. / The port isn't open.", "The port is open. / If the port is not open, call."],
    ),
    "an opposite": (
        ["The door is open. / The door is closed."],
        ["The door is open. / The door was closed before.", "The door is open. / The window is closed."],
    ),
    "another number": (
        ["The team has ten people. / The team has 12 people."],
        [
            "The team has ten people. / The team has 10 people.",
            "The team has at least 10 people. / The team has 12 people.",
        ],
    ),
    "another value": (
        ["The owner is Anna. / The owner is Bob.", "The owner is José. / The owner is Bob."],
        ["The owner is Anna. / The owner is Anna.", "The owner may be Anna. / The owner is Bob."],
    ),
    "a retraction": (["It is full. / I was wrong."], ["It is full. / If I was wrong, it is empty."]),
    "filler": (["I need more time to think about it"], ["I need the revenue of Siemens", "why do turbines whistle"]),
    "no need": (["the ventilators whistle loudly"], ["patents on ventilators", "server logs of last night"]),
    "only asking": (["I need more evidence to support the claim"], ["I need evidence on ventilators"]),
    "no subject": (["please remind tomorrow"], ["please remind Anna"]),
    "a figure": (["The share costs 500 dollars."], ["it stays in 500 unlocked rooms."]),
    "a constraint": (["It must stay in Berlin. Thanks."], ["It stays in Berlin. Thanks."]),
    "a question": (["Where is it", "Is it full?", "How do I open it."], ["Where it is, I know.", "Right?"]),
    "two questions": (["Where is it and who has it?", "Who wrote it and when was it sold?"], ["Where is it?"]),
    "a question left open": (
        ["Who built it? How many rooms are there? / Ann built it.", "Who wrote it? / I can't answer that."],
        [
            "Who built it? How many rooms are there? / Ann built it. Twelve.",
            "Who wrote it? / I can't answer that without its name.",
            "Can you answer? / I can't answer that.",
        ],
    ),
}
CHINESE: Table = {
    "a claim": (["快取顯然滿了。", "這一定是快取。"], ["快取不一定滿了。", "有一定的風險。", "快取一定滿了嗎？"]),
    "what is done": (
        ["任務完成。", "已完成修改。"],
        ["還沒完成。", "完成後再說。", "如果已完成，請告訴我。", "完成。有測試失敗。"],
    ),
    "a hedge": (["也許快取滿了。"], ["快取滿了。", "盡可能快。"]),
    "exhaustion": (
        ["我卡住了。", "我们卡住了。", "對此束手無策。"],
        ["如果我卡住了，我會問。", "用戶說：我卡住了", "警方束手無策。", "我沒辦法了解。"],
    ),
    "uncertainty": (
        ["不知道為什麼會失敗。", "奇怪，又失敗了。", "應該可以，但失敗了。"],
        ["他很奇怪，但好用。", "用戶不知道為什麼會失敗。", "應該可以，但請先備份。"],
    ),
    "scope creep": (["讓我們從頭開始！", "推倒重来。"], ["讓我們從頭開始，因為底層換了。", "如果失敗，讓我從頭開始。"]),
    "to think twice": (
        ["請再想一想！", "三思", "重新檢查你的思路"],
        ["三思而後行", "翻譯：再想一想", "我再想想怎麼辦才好呢老闆說的"],
    ),
    "a code": (["结束代码 137", "錯誤碼：137"], ["第 137 行", "共 137 個"]),
    "a duration": (["耗時 12 毫秒", "用了 3 分钟"], ["共 12 個", "耗時 12"]),
    "a correction": (
        ["不對。", "你算錯了。", "我說的是星期四。", "為何還是舊的？"],
        ["如果不對，告訴我。", "客戶說你算錯了。", "對不對？", "沒錯。", "謝謝，你說得對"],
    ),
    "a concession": (["你說得對，是星期四。", "是我的錯。"], ["如果你說得對，就是星期四。", "你說的對象是誰。"]),
    "a negation": (["門是開的。 / 門不是開的。"], ["門是開的。 / 門是開的。", "門是開的。 / 如果門不是開的，請來電。"]),
    "an opposite": (
        ["這個端點是公開的。 / 這個端點是保密的。"],
        ["這個端點是公開的。 / 這個端點以前是保密的。", "這個端點是公開的。 / 那個端點是保密的。"],
    ),
    "another number": (["團隊有十個人。 / 團隊有12個人。"], ["團隊有十個人。 / 團隊有10個人。"]),
    "another value": (
        ["負責人是小明。 / 負責人是小華。"],
        ["負責人是小明。 / 負責人是小明。", "負責人可能是小明。 / 負責人是小華。"],
    ),
    "a retraction": (["快取滿了。 / 我說錯了。"], ["快取滿了。 / 如果我說錯了，就是空的。"]),
    "filler": (["我需要更多時間思考"], ["我需要台積電的營收"]),
    "no need": (["渦輪為什麼會發出聲音"], ["渦輪的專利", "昨天的服务器日志"]),
    "only asking": (["需要更多證據來支持論點"], ["需要渦輪的證據"]),
    "no subject": (["請提醒一下"], ["請提醒渦輪"]),
    "a figure": (["股價是500元。"], ["房號500上鎖了。"]),
    "a constraint": (["必須留在柏林。謝謝。"], ["留在柏林。謝謝。"]),
    "a question": (["在哪裡", "滿了嗎？"], ["我不知道在哪裡。", "好嗎？"]),
    "two questions": (["在哪裡，誰有鑰匙？", "公司在哪裡和誰是老闆？"], ["在哪裡？", "誰和誰結婚了？"]),
    "a question left open": (
        ["誰蓋了房子？房間有幾間？ / 小安蓋了房子。", "誰寫的？ / 我不能回答。"],
        ["誰蓋了房子？房間有幾間？ / 小安蓋了房子。十二間。", "誰寫的？ / 我不能回答，因為沒有名字。"],
    ),
}
# The third has no file here, see below.
ESPERANTO: Table = {
    "a claim": (["Tio certe plenas."], ["Tio ne certe plenas.", "Laŭ la gazeto, tio certe plenas."]),
    "what is done": (["Tio estas farita."], ["Tio ne estas farita.", "Se tio estas farita, mi venas."]),
    "a hedge": (["Eble tio plenas."], ["Tio plenas."]),
    "exhaustion": (
        ["Ho, mi ne plu havas ideojn.", "Scias nenion plu."],
        ["Se mi ne plu havas ideojn, mi demandos.", "Vi scias nenion plu.", "Mi ne plu havas ideojn pri kuirado."],
    ),
    "uncertainty": (["Mi ne scias kial."], ["Se mi ne scias kial, mi demandos."]),
    "scope creep": (["Ni rekomencu!"], ["Ni rekomencu pro tio."]),
    "to think twice": (["Bonvolu pensu denove nun!"], ["Pensu denove antaŭ ol respondi.", "Traduku: pensu denove"]),
    "a code": (["haltis: kodo 137"], ["haltis: linio 137"]),
    "a duration": (["daŭris 12 sekundoj"], ["havas 12 partojn"]),
    "a correction": (["Nu tio ne veras.", "Jes, tio malveras."], ["Se tio malveras, diru.", "Ĉu tio ne veras?"]),
    "a concession": (["Jes, vi pravas."], ["Jes, vi venas."]),
    "a negation": (
        ["La servo estas rapida. / La servo ne estas rapida."],
        ["La servo estas rapida. / Se la servo ne estas rapida.", "La servo ne plenas. / La servo ne plenas."],
    ),
    "an opposite": (
        ["La akvo estas varma. / La akvo estas frosta.", "Varma akvo. / La akvo estas frosta."],
        ["La akvo estas varma. / La akvo eble estas frosta."],
    ),
    "another number": (
        ["La servo havas dek partojn. / La servo havas 12 partojn."],
        ["Dek partoj tie. / 10 partoj tie."],
    ),
    "another value": (
        ["La estro estas Anna. / La estro estas Bob."],
        ["La estro estas eble Anna. / La estro estas Bob."],
    ),
    "a retraction": (["La servo estas rapida. / Mi eraris."], ["La servo estas rapida. / Se mi eraris, diru."]),
    "filler": (["Mi bezonas pli da tempo por pensi"], ["Mi bezonas ventumilojn por pensi"]),
    "no need": (["la ventumiloj bruas tie"], ["patentoj pri ventumiloj"]),
    "only asking": (["Mi bezonas: montru"], ["Mi bezonas: montru ventumilojn"]),
    "no subject": (["demandi"], ["demandi ventumilojn"]),
    "a figure": (["La akcio kostas 500 spesoj."], ["La ĉambro 500 estas frosta."]),
    "a constraint": (["La servo devas resti. Dankon."], ["La servo restas. Dankon."]),
    "a question": (["Kie estas ĝi"], ["Ĝi estas tie.", "Ĉu?"]),
    "two questions": (["Kiu havas ĝin, kie estas ĝi?"], ["Kie estas ĝi?"]),
    "a question left open": (
        ["Kiu konstruis ĝin? Kiom da ĉambroj? / Anna konstruis ĝin.", "Kiu skribis ĝin? / Mi ne respondas."],
        ["Kiu konstruis ĝin? Kiom da ĉambroj? / Anna konstruis ĝin. Dek.", "Kiu skribis ĝin? / Mi skribis ĝin."],
    ),
}
TABLES: Mapping[str, Table] = {"en": ENGLISH, "zh": CHINESE}


def rows(*tables: Table) -> list[tuple[str, str, bool]]:
    return [
        (subject, text, is_heard)
        for table in tables
        for subject, (hits, misses) in table.items()
        for is_heard, texts in ((True, hits), (False, misses))
        for text in texts
    ]


@table(("subject", "text", "is_heard"), rows(*TABLES.values()))
def test_each_subject_hears_the_language(subject: str, text: str, is_heard: bool) -> None:
    assert hearing.HEARS[subject](text) == is_heard


def test_every_language_has_a_table_of_every_subject() -> None:
    assert TABLES.keys() == {language.__name__.rpartition(".")[2] for language in LANGUAGES}
    assert all(table.keys() == hearing.HEARS.keys() for table in (*TABLES.values(), ESPERANTO))


# -- a third language --------------------------------------------------------------------------------------------

# What a newcomer writes; the rest says nothing.
FILE = r"""
from typing import get_type_hints

from metacog.heuristics.lexicon import en, shapes
from metacog.heuristics.lexicon.shapes import *

EMPTY = {str: "", int: 1, tuple: (), frozenset: frozenset()}


def group(shape, **said):
    hints = get_type_hints(shape)
    nothing = {name: EMPTY.get(getattr(of, "__origin__", of), {}) for name, of in hints.items()}
    return shape(**{**nothing, **said})


silent = {str: "(?!)", tuple: (), dict: {}}
globals().update({name: silent[type(of)] for name, of in vars(en).items() if name.isupper() and type(of) in silent})

MARKS = {"eo": {"chat": "(Pripensu!)", "remember": "[dubo {score}]", "task": "[kontrolu]"}}
ABSOLUTE = ("certe",)
HEDGE = ("eble",)
CITATION = ("laŭ la",)
NEGATED = r"\bne\s"
ASKING = ""
STUCK = group(
    StuckWords,
    exhaustion=("mi ne plu havas ideojn", "scias nenion plu"),
    uncertainty=("mi ne scias kial",),
    scope_creep=("ni rekomencu",),
    not_meant_before=("se",),
    rationale=("pro tio",),
    somebody=r"\bvi $",
    goes_on=r" pri kuirado\b",
    think_twice="pensu denove",
    in_think_twice=("pensu",),
    leads="bonvolu",
    tails=r"nun|antaŭ [^\n]{0,60}",
    not_asked="pensu denove antaŭ",
    mentioned="traduku",
    codes=r"\bkodo",
    durations=r"\d+ sekundoj\b",
    labels={"eo": en.STUCK.labels["en"] | {"exhaustion": "Sen ideoj: {words}", "uncertainty": "Kial?"}},
    prompts={"eo": "Ni haltas:\n{signals}"},
)
BRIEF = group(BriefWords, binds=r"\bdevas\b", wordings={"eo": en.BRIEF.wordings["en"] | {"title": "# Nova rigardo"}})
COMPLETION = group(CompletionWords, done=r"\bfarita\b", taken_back=r"\bne\b", condition=r"\bse\b")
CONFIDENCE = group(
    ConfidenceWords, wordings={"eo": en.CONFIDENCE.wordings["en"] | {"level": "Certeco: {level}. ", "high": "alta"}}
)
CORRECTION = group(
    CorrectionWords,
    cues=(("denial", 0.8, r"~tio ne veras\b|\bmalveras\b"),),
    openings="nu ",
    not_meant=r"\bse\b",
    concessions=((0.7, r"\bvi pravas\b"),),
)
CONTRADICTION = group(
    ContradictionWords,
    negated=r"\bne\b",
    stopwords=frozenset(listed("la estas de")),
    antonyms=pairs("varma/frosta"),
    hedge=r"\beble\b",
    condition=r"^se\b",
    numerals={"dek": "10"},
    retraction=r"\bmi eraris\b",
)
FACT = group(FactWords, shapes=(Shape(r"la (?P<subject>estro) estas (?P<value>[^,;]{1,40})", "is"),))
QUALITY = group(
    QualityWords,
    stopwords=frozenset(listed("estas kiom kiu ĝin da")),
    opening=r"(?:kie|kiu) ",
    second=r",\s+(?=kie )",
    tags=frozenset(["ĉu"]),
    number=r"\bkiom\b",
    number_words=r"\bdek\b",
    refuses=r"mi ne respondas\b",
    hedges={"eo": "Mi ne certas, sed…"},
)
EXTENSION = group(
    ExtensionWords,
    fillers=listed("mi bezonas pli da tempo por pensi"),
    telling=("patentoj",),
    asking=("montru",),
)
REFLECTION = group(
    ReflectionWords,
    asking=("demandi",),
    lessons={"eo": en.REFLECTION.lessons["en"] | {"gap": "Pri {subject} vi scias malmulte ({count}, {why})."}},
)
RESEARCH = group(
    ResearchWords,
    need=r"\bni devu ",
    ends=r"\.",
    units=r"spesoj\b",
    questions={"eo": en.RESEARCH.questions["en"] | {"do": "Kiel {need}?"}},
    advice={"eo": en.RESEARCH.advice["en"] | {"title": "# Kion fari"}},
)
"""

# Finds the language in another folder, as if it lay beside the others, and asks every subject.
READER = r"""
import importlib.util, json, sys

_, tests, *folders = sys.argv
name, folder = "metacog.heuristics.lexicon", "metacog/heuristics/lexicon"
spec = importlib.util.spec_from_file_location(
    name, folder + "/__init__.py", submodule_search_locations=[folder, *folders]
)
sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[name])
sys.path.insert(0, tests)
from hearing import HEARS, SAYS


def said(say):
    try:
        return say("eo")
    except Exception as error:
        return type(error).__name__


heard = [HEARS[subject](text) for subject, text, _ in json.load(sys.stdin)]
print(json.dumps({"heard": heard, "said": {subject: said(say) for subject, say in SAYS.items()}}))
"""
SAID = {
    "a mark": "[kontrolu] X.",
    "a prompt": "Ni haltas:\n- Sen ideoj: I am out of ideas\n- Kial?\n- Scope creep: “Let's start over”",
    "a brief": "# Nova rigardo",
    "confidence": "Certeco: alta. You have good memory about this topic.",
    "a lesson": "Pri X vi scias malmulte (3, questions left open).",
    "what to look up": "Kiel kompari prezojn?",
    "a doubtful beginning": "Mi ne certas, sed…",
    "advice": "# Kion fari",
}
ROWS = rows(ESPERANTO, ENGLISH, CHINESE)


def read(*folders: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", READER, str(HERE), *map(str, folders)],
        input=json.dumps(ROWS),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lexicon")
    (folder / "eo.py").write_text(FILE)
    return folder


def test_a_language_is_one_file_more(folder: Path) -> None:
    answers = read(folder)
    unlike = [row for row, heard in zip(ROWS, answers["heard"], strict=True) if heard != row[2]]
    assert unlike == []
    assert answers["said"] == SAID


def test_without_its_file_nobody_hears_or_speaks_it() -> None:
    answers = read()
    heard = [row for row, heard in zip(rows(ESPERANTO), answers["heard"], strict=False) if heard and row[2]]
    # Of what nobody knows nothing is needed, and a question mark asks in any language.
    assert [subject for subject, _, _ in heard] == ["no need", "a question left open"]
    assert not SAID.items() & answers["said"].items()
