"""How a verdict says what is to be done, what it names and what it counts on; and how research asks and answers.

The three questions and their aim are seed 003, section 5: “How to download the list of an ETF's holdings?”, “Where to
see the latest report of the industry?”. The expressions are ours, on folded text; Chinese is written in simplified
characters, as `shadow.fold` gives it, punctuation in half width.
"""

from collections.abc import Mapping

# A verb phrase follows, which is what is to be done.
NEED_EN = (
    r"(?:\b(?:should|must|needs? to|needed to|ha(?:ve|s) to|ought to|plans? to|decided? to|agreed to|wants? to)\s+"
    r"|\brecommend(?:s|ed)?\s+to\s+|\blet's\s+)"
    r"(?!not\b|never\b|be\b|have\b)(?:(?:now|also|first|then|always|only|just|therefore)\s+)*"
)
# An imperative: what a sentence that asks for something to be done begins with.
DO_EN = (
    r"\A\s*(?:[-*•]\s*)?(?:(?:first|then|next|now|please),?\s+)?(?=(?:add|ask|build|buy|check|collect|compare|contact"
    r"|cut|delay|diversify|download|find|get|hire|hold|increase|install|invest|keep|look up|measure|migrate|monitor"
    r"|move|publish|raise|read|record|reduce|register|replace|review|roll out|sell|set up|ship|start|stop|switch|test"
    r"|track|train|update|upgrade|verify|watch|write)\b)"
)
NEED_ZH = (
    r"(?<![不没无])(?:应该|应当|需要|必须|建议|最好|务必|(?<![主重只将首紧摘概])要)"
    r"(?![不点求])(?:先|再|立即|立刻|尽快|马上|优先|考虑|继续|定期|每天|每周|每月|我们|你|大家)*"
)
ENDS_EN = r"[.;:,!?\n()]|\s(?:because|since|so that|but|unless|although|while|which|and then)\s"
ENDS_ZH = r"[,.;:!?。、\n()]|因为|所以|但是|否则|以免|以便"

UNITS = (
    r"%|percent\b|per cent\b|(?:percentage )?points?\b|billion\b|million\b|thousand\b|usd\b|eur\b|twd\b"
    r"|(?:dollars?|euros?|days?|weeks?|months?|years?|hours?|minutes?|seconds?|users?|people|customers?|times|requests?|orders?)\b"
    r"|ms\b|[kmgt]b\b|km\b|倍|亿|万|元|年|个月|天|季|人|次|笔|点|成|家|份"
)
FIGURE = rf"(?:[$€£¥]\s?\d[\d,]*(?:\.\d+)?|(?<![A-Za-z0-9.])\d[\d,]{{0,30}}+(?:\.\d+)?\s?(?:{UNITS}))"

# Of what is named: words with capitals that name nothing.
_NO_NAME = (
    "a an and as at but by for from he her his i if in it its my no not of on or our she so that the their then there "
    "these they this those to we what when where who why with yes you your monday tuesday wednesday thursday friday "
    "saturday sunday january february march april may june july august september october november december verdict "
    "conclusion"
)
NO_NAME = frozenset(_NO_NAME.split())

QUESTIONS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "do": "How do I {need}?",
        "do-first": "What is the first step with {subject}?",
        "find": "Where is the latest report on {subject}?",
        "check": "Where can “{figure}” be checked?",
        "check-risk": "What can go wrong with {subject}, and how is it noticed early?",
        "how-to": "{words} how to",
        "latest": "{words} latest report",
        "risk": "{words} risks",
    },
    "zh-Hant": {
        "do": "如何{need}？",
        "do-first": "{subject}的第一步該怎麼做？",
        "find": "哪裡可以查看{subject}的最新報告？",
        "check": "哪裡可以查證「{figure}」？",
        "check-risk": "{subject}可能出什麼問題，怎麼及早發現？",
        "how-to": "{words} 做法",
        "latest": "{words} 最新報告",
        "risk": "{words} 風險",
    },
    "zh-Hans": {
        "do": "如何{need}？",
        "do-first": "{subject}的第一步该怎么做？",
        "find": "哪里可以查看{subject}的最新报告？",
        "check": "哪里可以查证“{figure}”？",
        "check-risk": "{subject}可能出什么问题，怎么及早发现？",
        "how-to": "{words} 做法",
        "latest": "{words} 最新报告",
        "risk": "{words} 风险",
    },
}

ADVICE: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "# What to do next",
        "note": "Lines that begin with “>” quote the verdict and what a search found: leads, not instructions.",
        "do": "## {n}. To do",
        "find": "## {n}. To find",
        "check": "## {n}. To check",
        "source": "Source {n}:",
        "nothing": "The search found nothing for this.",
        "no-search": "No search is configured here: the questions stand, to be looked up elsewhere.",
    },
    "zh-Hant": {
        "title": "# 接下來怎麼做",
        "note": "以「>」開頭的行引述裁決和搜尋到的內容：是線索，不是指示。",
        "do": "## {n}. 要做的",
        "find": "## {n}. 要找的",
        "check": "## {n}. 要查證的",
        "source": "來源 {n}：",
        "nothing": "沒有搜尋到相關內容。",
        "no-search": "這裡沒有設定搜尋：只列出問題，請到別處查找。",
    },
    "zh-Hans": {
        "title": "# 接下来怎么做",
        "note": "以“>”开头的行引述裁决和搜索到的内容：是线索，不是指示。",
        "do": "## {n}. 要做的",
        "find": "## {n}. 要找的",
        "check": "## {n}. 要查证的",
        "source": "来源 {n}：",
        "nothing": "没有搜索到相关内容。",
        "no-search": "这里没有设置搜索：只列出问题，请到别处查找。",
    },
}
