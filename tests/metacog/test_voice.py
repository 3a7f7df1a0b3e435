"""The words of the interface: what its texts never say, in English and in Chinese, and what they say instead."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from functools import cache

from babel.messages.pofile import read_po
from django.conf import settings

from metacog.management.commands.messages import forms_of, source_of
from tests.tables import table

HAN = r"[\u4e00-\u9fff]"
QUESTION = r"^(What|Which|Who|Why|How|When|Where|Is|Are|Do|Does|Did|Has|Have|Was|Were|Would|Should|Can)\b[^.:]*\?$"

# A pattern that is refused, and the word to use. Patterns are case-sensitive; (?i) makes one blind to case.
ENGLISH = [
    (r"(?i)\bverdicts?\b", "assessment of a response; decision of a person"),
    (r"(?i)\bjudge(s|d|ment|ments)?\b|\bjudgements?\b", "assess, assessment; decide, decision"),
    (r"(?i)\bwhat waits\b|\bwaits for (you|somebody|a person)\b", "held, pending"),
    (r"^[Ww]aits$|^[Ww]aiting$", "pending"),
    (r"(?i)\blet (it |them )?(through|pass)\b|\blets pass\b", "pass; allow a tool call; spot check"),
    (r"(?i)\b(came|comes|come) to (nothing|be)\b|\bwhat (it )?came (of|to)\b|\bcame to\b", "the result; the count"),
    (r"(?i)\bcan(not)? be told\b|\bas far as\b", "no clear difference; unknown"),
    (r"(?i)\banew\b", "again; restart"),
    (r"(?i)\bpace\b", "review time"),
    (r"(?i)\brecord of changes\b", "audit log"),
    (r"(?i)\brecords? of (a )?patterns?\b", "stats"),
    (r"^[A-Z].*\bstatistics?\b|\bStatistics [a-z]", "stats; Statistics is the name of a page"),
    (r"(?i)\bexpir(y|ies)\b", "expires in 3 h; time limits"),
    (r"(?i)\buser message\b|^As the |^Same as ", "User's message; Automatic"),
    (r"(?i)\bgoing in circles\b|\bgo(es)? nowhere\b|\bgot nowhere\b", "stuck; no progress"),
    (r"(?i)\bknown errors?\b", "error pattern"),
    (r"(?i)\btaught\b", "learned; proposed"),
    (r"(?i)\btake a step\b|\bmore steps\b", "extension request; tool calls"),
    (r"(?i)\byour doing\b", "The server failed."),
    (r"(?i)\b(whoever|whomever|wherein|whereby|thereof|hitherto|henceforth|begun)\b", "the person; the operator"),
    (r"(?i)\bdays (of|in) UTC\b", "Days are UTC."),
    (r"(?i)\bcallbacks?\b", "webhook; delivery"),
    (r"(?i)\bwhat it answered\b|\bwhat mail may hold\b", "a noun: answer; email content"),
    (r"(?i)\be-mails?\b|\b(a|by|the|per|each|every|of) mail\b(?! server)|\bmails\b", "email"),
    (r"\b[Aa] post\b|\b[Tt]he post\b|^[Pp]osts$|\b(of|per) posts\b|\bposts (a|per) second\b", "response"),
    (r"(?i)\bcall(s)? back\b|\bdid they hear\b", "delivery"),
    (r"(?i)\bnot filtered by\b|\bnot sorted by\b", "filter ignored; order ignored"),
    (r"(?i)\bthe most there (can|may) be\b|\bthere is no such\b", "which is the limit; Unknown …"),
    (r"(?i)(?<!second )\blooks? after\b", "Only curators and owners of the team can …"),
    (r"\d %|%% %%|\) ?s %%| %%", "29%: no space before the sign"),
    (r"95 %|95%%(?! CI\b| interval|&nbsp;CI)|\bCI:", "95% CI 27–31%"),
    (r"\b\d+ ?(hrs?|secs?|mins)\b|o'clock", "3 h, 5 min, 12 s"),
    (
        r"(?i)\b(colou?r(?<!color)|behaviour|favour|grey|centre|licence|learnt|whilst|cancelled|cancelling|catalogue"
        r"|analys(e|ed|es)|recogni[s]\w+|organi[s](e|ed|es|ation)\w*|summari[s]\w+|capitali[s]\w+|normali[s]\w+)\b",
        "American spelling",
    ),
    (QUESTION, "a noun as a heading; an instruction as a hint"),
    (r"  |[^:;,.d]\s$| [,;!?](?!$)", "one space, none before a mark"),
    (r"\.\.\.", "…"),
]

# What code may hold: words before a value, and pieces of a table.
OF_LISTS = ENGLISH[-2:]

# What is said all the same: a part of the text, and why.
ALLOWED = {
    "/decision and a verdict": "the field of the API is called so",
    "Was this a correction?": "the question that a person answers with yes or no",
}

TRADITIONAL = [
    ("默認|缺省|默认", "預設"),
    ("程序(?!員)", "程式"),
    ("信息|消息", "訊息"),
    ("會話", "工作階段"),
    ("設置", "設定"),
    ("隊列", "佇列"),
    ("服務器", "伺服器"),
    ("質量", "品質"),
    ("信號", "訊號"),
    ("調用", "呼叫"),
    ("搜索", "搜尋"),
    ("登錄|登陸", "登入"),
    ("用戶", "使用者"),
    ("文檔", "文件、檔案"),
    ("鏈接", "連結"),
    ("數據(?!庫)", "資料"),
    ("字符", "字元"),
    ("字段", "欄位"),
    ("創建", "建立"),
    ("屏幕|網絡|軟件|硬件|模塊|接口|端口|菜單|郵箱|賬|激活|刷新|打印|粘貼|菜单|緩存|內存|線程|域名|智能", "臺灣用語"),
    ("回调|回調|回呼", "webhook"),
    ("裏|着|爲|啓|麽", "裡、著、為、啟、麼"),
    ("參數", "引數"),
    ("政策", "策略"),
    ("取得資料", "下載"),
    ("無法確[實切定]", "無法判讀"),
]
SIMPLIFIED = [
    ("預設|预设", "默认"),
    ("程式", "程序"),
    ("讯息|訊息|资讯", "消息、信息"),
    ("工作阶段", "会话"),
    ("设定", "设置"),
    ("伫列|佇列", "队列"),
    ("伺服器", "服务器"),
    ("品质", "质量"),
    ("讯号", "信号"),
    ("呼叫", "调用"),
    ("搜寻", "搜索"),
    ("登入|登出", "登录、退出"),
    ("使用者", "用户"),
    ("档案|文档", "文件"),
    ("连结", "链接"),
    ("资料(?!库)", "数据"),
    ("字元", "字符"),
    ("栏位", "字段"),
    ("储存", "保存"),
    ("建立", "创建"),
    ("萤幕|网路|软体|硬体|模组|介面|选单|帐|汇入|汇出|列印|剪贴|快取|记忆体|执行绪|网域", "大陆用语"),
    ("金钥|权杖", "密钥、令牌"),
    ("稽核|回馈|支援|透过", "审计、反馈、支持、通过"),
    ("引数", "参数"),
    ("回调|回呼", "webhook"),
    ("项目", "条目"),
    ("指派", "分配"),
    ("门槛", "阈值"),
    ("政策", "策略"),
    ("获取数据", "下载"),
    ("无法确[实切定]", "无法判读"),
]
MARKS = [
    (HAN + r"[,;:!?]|[,;:!?]" + HAN, "full-width punctuation beside Chinese"),
    (HAN + r"\(|\)" + HAN, "（…）"),
    (HAN + r"\.(?!\w)", "。"),
    (r"[，。；：！？、（「『]\s+\S|\s[，。；：！？、）」』]", "no space beside full-width punctuation"),
    (HAN + r" " + HAN, "no space between Chinese characters"),
    (HAN + r"[A-Za-z]|(?<!\))[A-Za-z]" + HAN, "a space between Chinese and Latin letters"),
    (r"\.\.\.|。。。", "……"),
]

PLACE = re.compile(r"%\(\w+\)[sd]|\{\w+\}")
# What is printed or logged without a translation: of commands, system checks, settings and metrics.
SPOKEN = [
    *("metacog/settings.py", "metacog/runtime/*.py", "reviews/metrics/prometheus.py"),
    *("metacog/management/commands/*.py", "patterns/management/commands/*.py", "reviews/management/commands/*.py"),
]


def plain_texts() -> Iterator[str]:
    """Give the texts of three words or more in code that speaks English only, docstrings left out."""
    for name in SPOKEN:
        for path in settings.BASE_DIR.glob(name):
            tree = ast.parse(path.read_text())
            remarks = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            plain = (each for each in ast.walk(tree) if isinstance(each, ast.Constant) and id(each) not in remarks)
            said = (each.value.strip() for each in plain if isinstance(each.value, str))
            yield from (text for text in said if text.count(" ") >= 2)


@cache
def texts_in(language: str) -> list[str]:
    """Return all that is said in one language: originals or translations, or what commands say."""
    if language == "Commands":
        return list(plain_texts())
    locale = "zh_Hans" if language == "Simplified" else "zh_Hant"
    messages = [each for each in read_po(io.BytesIO(source_of(locale).read_bytes()), locale=locale) if each.id]
    return [text for each in messages for text in forms_of(each.id if language == "English" else each.string)]


def refused(said: str, pattern: str) -> bool:
    return bool(re.search(pattern, PLACE.sub("0", said))) and not any(part in said for part in ALLOWED)


@table(
    ("language", "pattern", "instead"),
    [
        *(("English", *row) for row in ENGLISH),
        *(("Commands", *row) for row in ENGLISH if row not in OF_LISTS),
        *(("Traditional", *row) for row in TRADITIONAL + MARKS),
        *(("Simplified", *row) for row in SIMPLIFIED + MARKS),
    ],
)
def test_no_text_says_what_the_glossary_refuses(language: str, pattern: str, instead: str) -> None:
    found = [said for said in texts_in(language) if refused(said, pattern)]
    assert not found, f"say “{instead}”: {found}"


@table("locale", ["zh_Hant", "zh_Hans"])
def test_an_effect_has_one_word_in_chinese_wherever_it_is_named(locale: str) -> None:
    messages = read_po(io.BytesIO(source_of(locale).read_bytes()), locale=locale)
    for named, chosen in (("fetch", "Fetch"), ("unknown", "Unknown"), ("execute", "Execute"), ("delete", "Delete")):
        one, other = messages.get(named, context="effect"), messages.get(chosen)
        assert one
        assert other
        assert one.string == other.string
