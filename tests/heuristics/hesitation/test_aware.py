"""The profile `aware`: each misreading found on real texts, and what is close to it and must still count."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from metacog.heuristics import Hesitation, History, Item, Scorer, Span, figures_of
from metacog.heuristics.hesitation.calculation import MAX_CALCULATED
from metacog.heuristics.hesitation.given import MAX_GIVEN, MAX_SAYINGS, MAX_TOLD
from metacog.heuristics.lexicon import LANGUAGES
from metacog.heuristics.wire.wire import Assessment
from tests.tables import table

AWARE = Scorer(profile="aware")
LONG = "This sentence says nothing in particular. " * 6
HEDGING = {"no-hedge": 15}  # a weight that only a policy of somebody's own gives


def hesitate(response: str, *chats: str, patterns: tuple[dict[str, Any], ...] = (), **policy: Any) -> Hesitation:
    asked = {**policy, "profile": "aware"}
    scorer = Scorer(patterns, asked) if patterns else AWARE.with_policy(asked) if policy else AWARE
    return scorer.hesitate(response, [Item("chat", chat) for chat in chats])


def evidence(hesitation: Hesitation, kind: str) -> list[str]:
    return [span.text for signal in hesitation.signals if signal.type == kind for span in signal.spans]


def claims(response: str) -> list[str]:
    return evidence(hesitate(response), "absolute-claim")


def is_hedged(text: str) -> bool:
    return "no-hedge" not in [signal.type for signal in hesitate("", f"{LONG}\n\n{text}", weights=HEDGING).signals]


def conclusions(text: str) -> int:
    """Count what a text adds to three conclusions without a reason."""
    return len(evidence(hesitate("Therefore.\n" * 3 + text), "overconfidence")) - 3


ABSOLUTE = {
    "whole words": ["It is definitely so.", "Definitely!", "(clearly) wrong", "這clearly是", "OBVIOUSLY wrong"],
    "一定": ["這一定是快取。", "你一定知道", "他一定會來", "一定是逾時", "那一定很慢！", "我們一定能做到"],
    "不可能": ["這不可能。", "他不可能知道", "絕無可能", "不可能出錯", "那是不可能的"],
    "simplified": ["这一定是缓存。", "显然如此", "毫无疑问，是它", "肯定是它", "不可能出错"],
    "no advice": ["This should definitely work.", "You are definitely wrong.", "他一定想要"],
    "no order": ["Clearly the build is broken.", "Clearly John broke the build.", "Clearly nobody the wiser."],
    "not what is asked": ["對於這種情況，一定能解決這個問題。", "对于客户一定是好事。", "這一定是網路的問題。"],
    "whatever is known": ["Without knowing why, it is definitely broken.", "It is clearly, as ever, slow."],
    "one in another": ["不可能存在一定不會倒閉的公司"],
    "no names": ["It is wrong,clearly.", "clearly... wrong", "#obviously", "《史記》顯然是對的", "Is it? Clearly."],
    "affirmed": ["It is clearly not so.", "This is impossible to fix.", "No, it is obviously wrong.", "顯然不是"],
    "stated": [
        "It is clearly so. Is it slow?",
        "是快取嗎？顯然是。",
        "Why? Obviously the cache.",
        "顯然，為什麼不呢。",
    ],
    "no source": [
        *["This resource is clearly broken.", "It is clearly open source.", "The source code is obviously wrong."],
        *["The source of the problem is clearly the cache.", "My_source is definitely set.", "問題的來源顯然是快取"],
        *["It is clearly array[1] = 2.", "It is clearly rows[1].name.", "The rfc is clearly bad."],
        "沒有依據，但顯然是對的",
        *["根據你的需求，這一定是對的", "According to my plan, it is clearly next.", "來源不明，但顯然是對的"],
        *["It is clearly so, per the plan.", "They did a study by candlelight; it is clearly so."],
        *["依據你的想法，這一定是對的", "方法第一步顯然是對的", "判斷的依據，顯然是直覺", "出處不重要，顯然是對的"],
    ],
    "a link to press on": [
        "It is clearly cheap: click https://example.org/buy",
        "Sign in at https://example.org/in and it definitely works.",
        "點擊 https://example.org/a 一定會成功",
    ],
    "far source": [
        *["It is clearly so.\n\nSee https://example.org/a for more.", "顯然如此。\n\n出處：史記"],
        *["It is clearly so.\r\n\r\nSee https://example.org/a for more.", "顯然如此。\r\n \r\n出處：史記"],
        *["- It is clearly so\n- See https://example.org/a", "1. 顯然\n2. 根據史記，是這樣"],
        *["It is clearly so.\n\n[1] A list of fruit", "# Clearly\n\nSource: the wiki"],
    ],
    "hidden source": [
        *["It is clearly so: `https://example.org`", "It is clearly so.\n```\nsource: https://example.org\n```"],
        *['It is clearly so. <a href="https://example.org">home</a>', "It is clearly so: http://localhost:8000/a"],
        *["It is clearly so ![logo](https://example.org/a.png)", "顯然是 `[1]`"],
    ],
    "disguised": [
        "ｃｌｅａｒｌｙ",
        "cl\u200bearly",
        "сlеаrly",
        "𝐜𝐥𝐞𝐚𝐫𝐥𝐲",
        "ᴄʟᴇᴀʀʟʏ",
        "ᶜˡᵉᵃʳˡʸ",
        "\u217dlear\u217cy",
        "c\u04cfearly",
        "一\u200b定是",
        "毫\u2060無疑問",
        "顯\ufeff然",
    ],
    "beyond doubt": [
        *["I am 100% sure it is the cache.", "It is, without question, the cause.", "I'm absolutely certain."],
        *["He denies it: undeniably so."],
        *["There is no question that it leaks.", "這必定是快取", "他绝对不会来"],
        *["千真萬確", "肯定有人動過它", "他絕對沒看過", "我百分之百確定", "很明顯，它壞了"],
        *["It can't possibly be the disk.", "It is definately the cache.", "絕對不可能"],
        *["可以肯定的是，它壞了", "它必然會壞", "這無疑是錯的", "百分之百是它"],
        *["It will certainly work.", "It is absolutely certain that it leaks.", "The proof is irrefutable."],
        *["I guarantee that it works.", "It never fails.", "Everyone knows that it is slow."],
        "It's a fact that it is slow.",
        *["It is the cache, no question about it.", "The cause is beyond dispute."],
        *["保證沒問題", "百分百正确", "鐵定是它", "肯定不會出錯", "完全没有可能", "这不容置疑"],
    ],
    "no manner": [
        *["It's clearly the wrong box.", "We see clearly that it leaks.", "It is wrong, clearly."],
        *["They state it: clearly wrong."],
        *["It is slow and clearly wrong.", "There is nothing to fix: it is clearly wrong.", "這一定有問題"],
        *["他一定按順序來"],
    ],
    "wrong things, not wrong claims": [
        *["Clearly the cache is wrong.", "Obviously, this was incorrect.", "They say no. It is clearly false."],
        *["The idea is clearly good."],
        "The notion is clearly wrong.",
        *["顯然這是錯誤的", "他說得對，這一定是錯的", "他這麼說。顯然，這種說法不對", "她認為一定是快取"],
    ],
}
ABSOLUTE |= {
    "no possibility": [
        *["It cannot possibly lose data.", "The build can't possibly break them.", "There is no chance that it leaks."],
        *["It is, beyond a shadow of a doubt, the disk.", "我敢肯定，它壞了", "可以断定它坏了", "100%確定，它壞了"],
        *["百分百會到帳", "这百分百肯定了"],
    ],
    "no promise": ["我們一定會贏", "他一定會盡力", "你一定知道答案"],
    "no sort": ["It is clearly so, according to size.", "顯然如此，根據日期排序"],
    "no way out": [
        *["There is no way to undo it.", "There's no way that it fits.", "It is undeniable that it leaks."],
        *["It is guaranteed to fail.", "They are guaranteed to work.", "There is no doubt that it leaks."],
    ],
    "no manner of saying": [
        *["It clearly needs a lock.", "The log clearly shows it.", "It clearly does not fit."],
        "It is clear, and clearly wrong.",
    ],
    "no thing that is impossible": [
        *["It is impossible.", "Impossible to fix", "It is impossible over the reals."],
        "It makes it impossible to log in.",
        *["It is impossible in this version, and slow.", "這是不可能的", "不可能的是它"],
    ],
    "no praise": [
        *["It is definitely the most likely cause.", "It is clearly the largest city.", "It is clearly a major bug."],
        *["It is clearly better.", "This is undoubtedly one of the causes."],
        *["It is undoubtedly one of the most common.", "這顯然是最大的城市"],
    ],
    "no wish": [
        *["It definitely needs the path.", "She clearly wants a refund.", "It will certainly break."],
        "他肯定會要求退款",
    ],
    "behind a condition": [
        *["If it is None, it is clearly wrong.", "When I ran it: clearly wrong.", "I know why it is clearly wrong."],
        *["It fails, where? Clearly here.", "Wherever it is, it is definitely here.", "如果慢，一定是快取"],
        "一旦失敗，顯然是網路",
    ],
    "no picture": [
        *["As it is impossible, stop.", "It is just impossible.", "I think, of course: clearly so."],
        "Imagine! It is clearly so.",
        *["There is no question that … it leaks", "Assessment: clearly wrong.", "Assessment: definitely."],
        "It is so: definitely it.",
    ],
    "said by who writes": [
        *["What he said is clearly wrong.", "The claim that it works is clearly wrong."],
        "They said no, it is clearly slow.",
        "The idea that cats fly is clearly wrong.",
    ],
}
NOT_ABSOLUTE = {
    "inability": [
        *["I cannot possibly know what you ordered.", "We couldn't possibly thank you enough."],
        *["They said there is no chance that it fails.", "Is there no chance that it leaks?"],
        *["If there is no chance that it leaks, skip it.", "不能100%確定", "無法斷定是它", "我不敢肯定是它"],
    ],
    "its subject is denied": ["没有任何一个城市的房子可以一定会升值。", "沒有任何一家公司的產品可以一定會賣完。"],
    "what is asked": [
        "对于哪个城市的房价一定会升值这个问题，需要看很多因素。",
        "關於明天是否一定會下雨的問題，很難說。",
    ],
    "an order": [
        "Clearly define the problem before you start.",
        "Please clearly mark each box.",
        "- Clearly define goals",
    ],
    "how it is done": ["He practised speaking each word clearly.", "Write each name clearly, please."],
    "what is not known": [
        "Without knowing the state it is impossible to suggest a fix.",
        "Without more details about the payment gateway, it is impossible to suggest a fix.",
        "It is impossible to suggest a fix without seeing the log.",
    ],
    "a promise": ["我們一定會盡力", "我们一定努力改进", "祝您一定成功", "您一定很著急", "我一定幫您轉達"],
    "manner and its end": [
        *["Write it clearly enough for all.", "Mark the box clearly so the courier sees it."],
        *["The terms are laid out clearly in section 3.", "It would definitely help to see the log."],
    ],
    "by rules and records": [
        *["Per the fare rules, it is clearly so.", "The handbook states that it is clearly so."],
        *["According to your booking it is clearly so.", "按照合約，這一定可以退", "按照說明書，显然如此"],
    ],
    "the manner of saying": [
        *["Clearly mention that it is slow.", "The PR clearly states that it is a bug.", "The rule clearly says no."],
        "Try to clearly name it.",
        *["It is very clearly seen here.", "Rules that clearly separate both"],
        "They should clearly point out what it is.",
    ],
    "a thing that is impossible": [
        *["It handles an impossible case.", "Remove impossible branches.", "The impossible happened."],
        "an impossible, sad idea",
        *["It seems impossible.", "It is all but impossible.", "It would be impossible to tell."],
        "It is hard or impossible.",
        *["It is logically impossible.", "A bug made it impossible to log in.", "There is no way to know."],
        *["幾乎不可能的任務", "看似不可能"],
    ],
    "praise": [
        *["It was definitely fun.", "She is without doubt one of the greatest."],
        "It is undoubtedly the most important book.",
        *["It was definitely a really nice day.", "This is clearly the best option."],
    ],
    "a wish": [
        *["We definitely want no rows.", "We definitely don't want that.", "You will definitely enjoy it."],
        *["Users will certainly want to know.", "你們一定要去看", "请一定记得"],
    ],
    "behind its condition": [
        *["Skip files that are obviously empty.", "Do it when the cache is clearly wrong."],
        "None if making a copy is impossible",
        *["I check whether the first line is definitely empty.", "Once it is clearly done, stop."],
        "after making 100% sure that it is",
        *["如果快取一定是壞的就重啟", "要是真的顯然不對就停下"],
    ],
    "said by others": [
        *["Most believe that it is impossible to explain.", "She said it is definitely DNS."],
        "They claimed there is no doubt that",
    ],
    "a picture": [
        *["Think of it as a friend that never fails.", "He left, just as it is impossible to fly."],
        "It ran as if it always works",
        "Imagine a lock that it is impossible to open.",
    ],
    "the beginning of a sentence": ["There's no question that…", "9. No doubt that ...", "It is undeniable that…"],
    "what a speaker calls": ["Friend: Definitely!", "Anna: Clearly!"],
    "others' doubt": ["You will no doubt have seen it.", "I have no doubts.", "No doubt, a cat."],
    "parts of words": ["It runs indefinitely.", "unclearly", "clearlyx", "x_clearly", "impossibles", "definitelyé"],
    "不一定": ["不一定", "這不一定對", "未必一定對", "並不一定如此", "不是一定要", "是否一定要", "没有一定的说法"],
    "a certain 一定": [
        "一定的風險",
        "一定程度上",
        "有一定難度",
        "达到一定规模",
        "需要一定的時間",
        "一定數量的",
        "有一定道理",
    ],
    "不可能 softened": ["不太可能", "不大可能", "幾乎不可能", "并非不可能", "不是不可能", "近乎不可能"],
    "negated": [
        *["It is not obviously wrong.", "It isn't clearly so.", "This is nearly impossible.", "never definitely"],
        *[
            "hardly clearly better",
            "It's almost impossible.",
            "It is not yet clearly known.",
            "並不顯然",
            "並非毫無疑問",
        ],
        *["不能保證下次一定會中", "并不代表一定会出问题", "I wonder whether it is definitely so."],
    ],
    "asked": [
        *["Is it clearly so?", "Is this definitely the cache?", "這一定是快取嗎？", "不可能吧？", "这一定对吗。"],
        "Are you saying it is impossible to fix?",
    ],
    "code": ["`clearly`", "```\nclearly\n```", "~~~\n一定\n~~~", "``不可能 ` ``", "run `x --clearly` now", "`顯然`"],
    "quoted": ['She wrote "clearly".', "“obviously”", "他說「一定」", "『顯然』", "> It is clearly so.", "«clearly»"],
    "cited": [
        *[
            "It is clearly so (https://example.org/a).",
            "According to the WHO it is clearly so.",
            "It is clearly so [1].",
        ],
        *[
            "Source: the manual. It is clearly so.",
            "根據世衛的報告，這一定是對的。",
            "顯然如此，出處：史記",
            "据统计，显然如此",
        ],
        *["It is clearly so. That follows from it.\nref: RFC 9110", "It is clearly so (Smith, 2020).", "显然[^2]"],
        *["It is clearly so, as described in RFC 2616.", "It is clearly so, per RFC 7231."],
        "It is clearly so, see www.example.org.",
        *["顯然如此（王小明，2020）", "顯然如此，據新華社報導", "依据国家标准，显然如此", "引用自維基百科：顯然"],
        *["官方文档指出，这一定是对的", "依勞動法第 38 條，顯然如此", "手冊第三章說，這不可能"],
        *["根據您的合約，它一定到期", "依照您三月的發票，顯然如此"],
        *["中央銀行公布的統計顯示，這一定會漲", "《自然》雜誌的研究發現，顯然如此"],
        *["Per the nginx manual, it is clearly so.", "Research by Tversky shows that it is clearly so."],
        *["According to your last invoice it is clearly so.", "A paper published in Science says it is clearly so."],
        *["It is clearly so: [docs](https://example.org/a)", "根据官方文件，这一定是对的", "據《史記》，顯然如此"],
    ],
    "manner and measure": [
        *["Please state clearly what you want.", "Write the address clearly.", "I can see clearly now."],
        *["It's clearly marked."],
        *["We could definitely improve that.", "They hear clearly", "在一定情況下會失敗", "一定時期內有效"],
        *["按一定順序排列"],
    ],
    "denied by who speaks": [
        *["Nothing here is clearly wrong.", "I doubt that it is definitely so."],
        *["I would not say it is obviously wrong."],
        *["Nobody is definitely right.", "She denies that it is clearly so.", "我不敢說一定是它", "不好说一定会来"],
    ],
    "manner": ["He explained it more clearly.", "a clearly defined goal", "I can definitely help you with that."],
    "names": ["Write to me@clearly.com.", "run clearly.py", "docs/obviously", "《不可能的任務》", "看《显然》这本书"],
    "supposed": [
        *["如果一定是快取，就重啟", "就算肯定是它", "要是必定會來", "If it's definitely the cache, restart it."],
        *["倘若显然如此", "假如絕對安全"],
    ],
    "doubted": ["很難說一定是快取", "不一定肯定是它", "不敢說絕對安全", "难说必定会来", "不好说肯定没有"],
    "softened": ["似乎不可能", "也許一定會來", "可能显然如此"],
    "advice": [
        *["You should definitely try it.", "I'd definitely recommend that.", "So I should definitely submit it."],
        *["到了陝西一定要嘗試一下", "一定要保持谨慎", "請一定先備份", "请您一定先备份"],
    ],
    "not beyond doubt": [
        *["Are you absolutely sure?", "I must be absolutely sure.", "I am not 100% sure.", "if I'm 100% certain"],
        *["I am certain."],
        *["Certainly! Here is the list.", "I can certainly help.", "It is almost certainly the cache."],
        *["I cannot guarantee that it works.", "A fact that cats know.", "He is certain.", "It rarely never fails."],
        *["不保證沒問題", "有没有可能", "無法保證不會壞", "不敢说肯定能行", "百分百純棉"],
        *["絕對不要關機", "得到老師的肯定", "他給予肯定", "檔案的絕對路徑", "絕對值"],
        *["They claim that it is clearly better."],
        *["沒有必然的聯繫", "這不是絕對的", "並不必定", "不能保證絕對不會倒閉", "他绝对会来吗？", "無疑處"],
    ],
    "spoken of as a mistake": [
        *["It is a misconception that it is definitely the cache.", "It is not true that it is clearly so."],
        *["It is incorrect that it is obviously so.", "It is a myth that it is impossible to fix."],
        *["It is false to say that it is clearly so."],
        *["說有紋身的人就一定壞是不準確的", "認為它一定會來的想法是錯的", "说显然如此并不正确"],
        *["以为他必定会来是错误的", "那種認為一定有鬼的說法沒有根據"],
    ],
    "what cannot be said": [
        *["It is impossible to provide an accurate price.", "Without it, it is impossible to determine the cause."],
        *["沒有任何一家公司一定不會倒閉", "没有哪种药一定有效", "最不可能倒闭的公司"],
        *["It is impossible for me to tell which.", "difficult or even impossible", "生命維持的不可能性"],
        *["無法透過買一定次數來保證一定會中獎", "不能确保他们一定会来"],
    ],
}
# What Markdown and quotation marks make of a claim, and what only looks like it.
ABSOLUTE |= {
    "in emphasis": [
        *["It is _definitely_ so.", "It is __definitely__ so.", "It is ___definitely___ so.", "_It is definitely_ so."],
        *["It is *definitely* so.", "It is **definitely** so.", "It is **_definitely_** so.", "這_一定_是它"],
        *["It is (_definitely_) so.", "這是__显然__的", "it is ＿definitely＿ so", "the _a_b is definitely_ so"],
    ],
    "apostrophes": [
        *["It's the users' fault, definitely, and the boys' too.", "In the '90s it was definitely the kids' best."],
        *[
            "Don't say it; it's clearly the cache's.",
            "Get 'em, it is definitely the kids' stuff.",
            "'Tis clearly the boys' fault.",
        ],
        *["rock 'n roll is definitely the kids' best", "the class of '98 is clearly the teachers' best"],
        *["It is 5' and definitely 6' long.", "a' 'clearly so", "他說' 顯然' ok"],
        *["It isn\u2019t \u201cfull\u201d; the disks\u2019 owner is clearly wrong about the users\u2019 data."],
    ],
    "not quoted once": [
        "'It is so' is clearly wrong.",
        "'x'顯然是錯的",
        "He's 'here', definitely, isn't he!",
        "'a\nclearly b'",
    ],
    "a list's text": [
        *["- a list\n\n    It is clearly so.", "1. a list\n\n\tIt is clearly so.", "- 列表\n\n    顯然如此"],
        *["1、列表\n\n    顯然如此", "- a\n\n  - b\n\n    It is clearly so.", "- a\nlazy\n\n    It is clearly so."],
        *[
            "- a\n\n    - b\n\n        It is clearly so.",
            "[^1]: a note\n\n    It is clearly so.",
            "- a\n\n  b\n\n    clearly so",
        ],
        *["- a\n\n        code\n\n    It is clearly so."],
    ],
    "not indented enough": [
        *["They say:\n    It is clearly so.", "They say:\n\n   It is clearly so.", "他說：\n    顯然如此"],
        *[
            "他說\n\n\u3000\u3000\u3000\u3000顯然如此",
            "\u3000\u3000\u3000\u3000顯然如此",
            "code:\n\n    x\nIt is clearly so.",
        ],
    ],
}
NOT_ABSOLUTE |= {
    "parts of names": [
        *[
            "is_definitely_ok",
            "_clearly_wrong",
            "clearly_wrong_",
            "x_definitely_",
            "_clearly is private",
            "clearly_ is wrong",
        ],
        *["__init_clearly__", "_clearly _", "_clearly__", "變數_clearly_x是", "clearly_是"],
    ],
    "negated in emphasis": [
        "It is not **definitely** so.",
        "It is not _clearly_ so.",
        "這並不**顯然**",
        "It isn't *clearly* so.",
    ],
    "quoted once": [
        *[
            "They saw ‘it is definitely so’.",
            "They saw 'it is definitely so'.",
            "'clearly' is an adverb",
            "like ‘顯然’",
        ],
        *[
            "他看到'這一定是錯的'嗎。",
            "他看到‘這一定是錯的’。",
            "('It isn't clearly so')",
            "'clearly', 'obviously'",
            "‘這不可能’",
        ],
        *["They saw 'that it's definitely the users' there."],
    ],
    "indented code": [
        *["They run:\n\n    clearly = 1\n\nand more", "They run:\n\n\tclearly = 1", "    clearly = 1", "\tclearly = 1"],
        *[
            "a\n\n    x = 1\n\n    clearly = 1",
            "a\r\n\r\n    clearly = 1\r\n",
            "a\n \n    clearly",
            "執行：\n\n    顯然 = 1",
        ],
        *[
            "- a\n\n        clearly = 1",
            "- a\n\nno list\n\n    clearly = 1",
            "- a\n\n\t\tclearly = 1",
            "# a\n\n    顯然 = 1",
        ],
        *["1. a\n\n不是列表\n\n    一定 = 1", "a\n\n  \tclearly = 1"],
    ],
}
# A certain measure, advice, and the doubt of whole clauses, beside what is surely so.
ABSOLUTE |= {
    "no certain 一定": [
        *[
            "他一定年齡很大",
            "她一定時間很多",
            "他们一定条件很好",
            "小明一定年齡很大",
            "他們一定經驗豐富",
            "他一定數量不夠",
            "它一定价格很高",
        ],
        *["這一定影響他", "他一定先走了", "他一定小心翼翼", "一定年年有", "他一定温和", "這一定效果非常好"],
    ],
    "no must": [
        "他一定得了獎",
        "他一定不能來",
        "一定得到了它",
        "他們一定不可以來",
        "不可能成真",
        "他使它不可能",
        "有人斷定一定是它",
    ],
    "no flags, compounds or comments": [
        *[
            "It is so -- clearly so.",
            "wrong--clearly so",
            "It is definitely-not so.",
            "- clearly so",
            "<!-- x --> It is clearly so.",
        ],
        *[
            "![x](https://a.org/a.png) clearly so it is",
            "It costs $, clearly so it does.",
            "顯然-是的",
            "[clearly](x) so it is",
        ],
    ],
    "not softened": [
        "It seems. Clearly so it is.",
        "It seems so, clearly so.",
        "He looks up: clearly so.",
        "Probably! Definitely so.",
    ],
    "no advice in any words": [
        *["You must definitely be wrong.", "It must definitely be the cache.", "You definitely must be wrong."],
        *[
            "They definitely use the cache.",
            "You must definitely have it.",
            "Definitely, use of it is wrong.",
            "She definitely reads it",
        ],
        *["You will definitely need it.", "It definitely has to be so."],
    ],
    "no doubt of the clause": [
        *[
            "I have no doubt it is definitely wrong.",
            "I don't doubt it is definitely wrong.",
            "I am not sure, it is definitely so.",
        ],
        *[
            "I am not sure. It is definitely so.",
            "Who doubts? It is definitely so.",
        ],
        *["He never doubted it is definitely so.", "It is not unlikely. It is clearly so."],
    ],
}
NOT_ABSOLUTE |= {
    "a certain measure": [
        *[
            "一定年齡以上可以申請",
            "到了一定年齡都會這樣",
            "滿一定年齡才行",
            "一定金額以上要申報",
            "超過一定金額會被課稅",
            "一定温度下会融化",
        ],
        *[
            "一定數量的人",
            "一定條件下可行",
            "一定比例的人",
            "經過一定時間就會好",
            "一定距離外看不清",
            "一定收入以下免稅",
            "在一定深度不行",
        ],
        *["對一定級別以上的人", "一定損害", "造成一定损失", "他一定年齡以上才行"],
    ],
    "must": [
        "你一定得去看醫生",
        "一定得備份",
        "您一定不能關機",
        "一定不可關機",
        "把不可能變成可能",
        "使不可能成為可能",
        "沒人能斷定一定是它",
    ],
    "flags, compounds and comments": [
        *[
            "$clearly = 1;",
            "--clearly",
            "run it --clearly",
            "a clearly-stated goal",
            "an obviously-broken key",
            "<!-- clearly so -->",
        ],
        *[
            "![clearly](https://a.org/a.png)",
            "<!--\n顯然\n-->",
            "![顯然](https://a.org/a.png)",
            "$definitely",
            "<!-- 一定 -->",
        ],
    ],
    "softened in English": [
        *[
            "It seems clearly broken.",
            "It is probably clearly so.",
            "It appears to be definitely so.",
            "They look obviously alike.",
        ],
        *["perhaps clearly so it is", "He is apparently definitely ill."],
    ],
    "advice in other words": [
        *["You must definitely back up.", "You must definitely be careful.", "You definitely need to back up."],
        *[
            "You definitely should try it.",
            "Definitely check the logs.",
            "Definitely back up first.",
            "It is slow. Definitely use a cache.",
        ],
        *[
            "- Definitely don't use it.",
            "你一定一定要記得",
            "一定記得備份",
            "一定别忘了备份",
            "请您一定要记得",
            "一定先備份",
            "一定注意安全",
        ],
        *["出門一定小心"],
    ],
    "doubt of the clause": [
        *[
            "I doubt it is definitely wrong.",
            "I'm not saying it is definitely so.",
            "He doubts the cache is clearly at fault.",
        ],
        *[
            "I'm not saying the old cache is definitely so.",
            "It's unclear whether it is definitely so.",
            "I would doubt this is clearly so.",
        ],
        *[
            "It is unlikely that it is definitely so.",
            "It is not clear the cache is definitely wrong.",
            "We doubted it was clearly so.",
            "They say it will definitely restart.",
            "People say there is definitely a bug.",
        ],
        *["We aren't convinced this is clearly wrong.", "I really doubt there is definitely a bug."],
    ],
}
# What names a source, what only looks like it, and links that lead somewhere else.
ABSOLUTE |= {
    "parts by number": [
        *["arr[1] is clearly so.", "list[2] is clearly so.", "x[1] is clearly so.", "my_rows[1] is clearly so."],
        *[
            "self.items[2] is definitely so",
            "userList[1] is clearly so",
            "陣列[1]顯然是錯的",
            "kwargs[1] 顯然是錯的",
            "列表[2]显然是错的",
        ],
    ],
    "boxes": [
        "- [ ] It is clearly so.",
        "- [x] It is clearly so.",
        "* [X] 顯然如此",
        "- [ ] 顯然如此",
        "1. [x] It is clearly so.",
    ],
    "a source that is not named": [
        *[
            "資料來源顯然是錯的",
            "数据来源显然是错的",
            "資料來源不明，顯然如此",
            "資料來源：不明，顯然如此",
            "沒有資料來源，顯然如此",
        ],
        *[
            "資料來源：無。顯然如此",
            "資料來源是否可靠不談，顯然如此",
            "没有来源，显然如此",
            "消息來源是錯的，顯然如此",
            "出處：待補，顯然如此",
        ],
        *["Source: none. It is clearly so.", "Source: not given. It is clearly so.", "Sources: N/A. It is clearly so."],
        *["Sources: missing. It is clearly so.", "The source is clearly unknown."],
    ],
    "a link to go to": [
        *[
            "Visit https://a.org/x to sign in, it is clearly so.",
            "Visit our website at https://a.org/x, it is clearly so.",
        ],
        *[
            "Visit www.a.org and it is clearly so.",
            "Go to https://a.org/x, it is clearly so.",
            "Open https://a.org: obviously so.",
        ],
        *[
            "Go to [the portal](https://a.org/x), it is clearly so.",
            "[Download](https://a.org/x) it, clearly so it works.",
        ],
        *[
            "Use https://a.org/x to log in, it is clearly so.",
            "https://a.org/login is clearly so.",
            "Head over to https://a.org: clearly so it is.",
        ],
        *["請點 https://a.org/x，顯然如此", "請至 https://a.org/x，顯然如此", "请前往 https://a.org/x，显然如此"],
        *[
            "請開啟 https://a.org/x，顯然如此",
            "請登入 https://a.org/x，顯然如此",
            "请访问 https://a.org/x，显然如此",
            "您可以到 https://a.org 看，顯然如此",
        ],
        *["從 https://a.org/x 下載，顯然如此", "https://a.org/x 即可報名，顯然如此"],
    ],
    "a link to load from": [
        *["Run git clone https://a.org/x, it is clearly so.", "Run curl -fsSL https://a.org/x: it is clearly so."],
        *[
            "wget https://a.org/x is clearly so",
            "Download it from https://a.org/x, it is clearly so.",
            "pip install https://a.org/x is clearly so",
        ],
        *[
            "Install the app from https://a.org/x, clearly so.",
            "https://a.org/x.git is clearly so.",
            "https://a.org/x.zip is clearly so",
        ],
        *["下載 https://a.org/x，顯然如此", "安裝 https://a.org/x，顯然如此", "克隆 https://a.org/x 显然如此"],
    ],
}
NOT_ABSOLUTE |= {
    "cited by number": [
        *[
            "It is clearly so[1].",
            "It is clearly so in 1998[2].",
            "顯然如此[1]。",
            "It is clearly so, by all results[3].",
            "It is clearly so [1]",
        ],
        *["It was clearly so for CO2[1].", "显然是数据[2]。"],
    ],
    "a source that is named": [
        *[
            "資料來源：史記，顯然如此",
            "数据来源：无锡日报，显然如此",
            "資料來源是世衛，顯然如此",
            "資料來源為年報，顯然如此",
            "消息来源于官网，显然如此",
        ],
        *[
            "Source: Nonesuch Press. It is clearly so.",
            "Source: the needed report. It is clearly so.",
            "出處：無名氏，顯然如此",
        ],
    ],
    "a link to read": [
        *[
            "It is clearly so, see https://a.org/x.",
            "Clearly so, more at https://a.org/x",
            "It is clearly so (https://a.org/x).",
        ],
        *[
            "It is clearly so, [see the docs](https://a.org/x).",
            "It is clearly open source: https://a.org/x",
            "The report is available at https://a.org/x: clearly so.",
        ],
        *["Prices go to zero (https://a.org/x), obviously so.", "The curl manual (https://a.org/x): it is clearly so."],
        *[
            "We visit often. It is clearly so: https://a.org/x",
            "It is clearly so, see https://a.org/logins-2021",
            "Clearly so, www.a.org says",
        ],
        *[
            "顯然，詳見 https://a.org/x",
            "显然，参考 https://a.org/x",
            "顯然如此（https://a.org/x）",
            "觀點 https://a.org/x，顯然如此",
        ],
        *[
            "下載量 https://a.org/x，顯然如此",
            "請到官網看，詳見 https://a.org/x，顯然如此",
            "請見 https://a.org/x，顯然如此",
        ],
        *["顯然如此：https://a.org/x 申請人數"],
    ],
}
HEDGES = {
    "in emphasis": ["_Maybe_ so.", "It is __probably__ so.", "__也許__是", "*perhaps*", "_It might be_ so"],
    "close to other words": [
        *["據說明天會下雨", "說不定期末會考", "也許可以", "看來賓館客滿", "應該是非常好", "很難說", "沒準他會來"],
        *["應該會下雨", "據傳他來了", "聽說他來了", "相傳他是", "目測有三米", "很難說明天如何", "應該沒收到"],
        *["看來電池沒電了", "也許諾貝爾獎", "應該能量產", "據傳統一要賣", "看來信號不好", "也許願意"],
    ],
    "of the one who has not tried": [
        *["To the best of my knowledge, no.", "As far as we know, no.", "I haven't tested it.", "This is untested."],
        *["At a guess, DNS.", "My hunch is DNS.", "We think so.", "It cannot be ruled out.", "It may come from DNS."],
        *["It may already run.", "憑印象是它", "照理說寄出了", "還沒測試過", "无法判断是哪个", "不能排除是它"],
        *["我傾向認為是它", "這點存疑", "没办法确定", "粗略估计是它"],
    ],
    "as far as one knows": ["From what I can tell, so.", "AFAIK so", "如果我沒記錯，是它", "據我了解是它"],
    "the seed's": ["I'm not sure.", "Maybe.", "It might be.", "I think so", "我不確定", "也許", "可能是", "需要確認"],
    "unknown to the seed": [
        *[
            "It seems so.",
            "It is likely so.",
            "Probably.",
            "perhaps",
            "apparently",
            "似乎是",
            "據說是",
            "應該是這樣",
            "大概是",
        ],
    ],
    "simplified": ["我不确定", "也许", "据说是", "应该是这样", "好像是"],
    "rather than absolute": ["這不一定", "不太可能", "unlikely", "It is impossible to say.", "未必", "很難說"],
    "of possibility and view": ["It's possible.", "It appears that it broke.", "In my opinion, no.", "據傳如此"],
    "not settled": [
        *["This suggests that it leaks.", "I don't know why.", "I could be wrong.", "There is no definitive answer."],
        *["I doubt it."],
        *["這取決於你", "这主要取决于需求", "這並不是絕對的", "并非绝对", "沒有絕對的答案", "並沒有一個明確的說法"],
        *["不能一概而論"],
        *["目前没有明确结论", "這因人而異", "众说纷纭", "以上信息仅供参考", "很難確定", "沒有確鑿的證據", "此事有爭議"],
    ],
    "of the one who has not looked": [
        *["I'm not 100% sure.", "I am not entirely certain.", "It could well be so.", "My best guess is DNS."],
        *["It looks like DNS.", "In all likelihood, yes.", "I'm fairly sure.", "I have not verified it: not verified."],
        *["I can't say for sure.", "Take it with a grain of salt.", "There's a chance of rain.", "I'd guess so."],
        *["应该没问题", "我想是快取", "八成是它", "看樣子是它", "不排除是它", "拿不准", "有待驗證", "貌似正常"],
        *["也不是不可能", "不無可能", "我不太清楚", "未经证实", "感覺是網路"],
    ],
    "the writer's": ["I'm unsure, ask.", "You might fail.", "我不確定，請問他", "你可能會失敗"],
    "disguised": ["mаybe", "ｍａｙｂｅ", "may\u200bbe", "也\u200b許", "𝗺𝗮𝘆𝗯𝗲"],
    "curly apostrophe": ["I don’t think so"],
}
NOT_HEDGES = {
    "what one may": ["You may cancel within a day.", "You may still cancel.", "The May 4 release is out."],
    "what is estimated": ["估計值為三", "最大似然估计"],
    "不可能": ["不可能", "絕無可能", "盡可能快", "尽可能快", "只可能是它"],
    "parts of words": ["a mighty host", "the mushi think of it", "seamless", "likelihood", "almighty", "I thinks_so"],
    "the reader's": ["If you're unsure, ask.", "You might want to ask.", "如果你不確定，請問我", "如果您不确定就问"],
    "no belief, no doubt": ["I believe in you.", "We regret any inconvenience this may have caused.", "不確定性原理"],
    "settled": [
        *["I suggest the other one.", "She suggests a walk.", "There is a clear answer.", "You don't know it."],
        *["my guest", "hard to sell"],
        *["取決於長度的函數", "他絕對可靠", "有一個明確的答案", "絕對值", "概論", "這是絕對的"],
        *["有确切的证据", "他沒有明確反對", "參考文件", "没有争议", "人各有異", "有明確答案"],
    ],
    "no chance": ["沒有可能", "完全沒有可能", "没有可能了", "他沒有可能知道", "絕不可能"],
    "might of all": [
        "with all their might",
        "with all your might",
        "with all of his might",
        "成為可能",
        "变成可能",
        "變為可能",
    ],
    "quoted once": ["'maybe'", "‘也許’", "they saw 'I think so'", "‘可能’", "'perhaps', 'maybe'"],
    "indented code": ["a\n\n    maybe", "a\n\n\tmaybe", "a\n\n    也許", "    maybe", "a\n\n    b\n\n    I think"],
    "looks": ["He looks like a duck.", "what it looks", "the guess is right", "a grain of rice", "for sure"],
    "another sense": ["with all his might", "military might", "You cannot possibly win", "查看來源"],
    "parted otherwise": [
        *["據說明書，先開機。", "据说明书，先开机。", "根據說明書", "用數據說話", "數據傳輸很快", "說不定期檢查"],
        *["也許可證過期", "也许可证过期", "他也許諾了", "看來賓名單", "看来宾名单", "看來電顯示", "查看來自他的信"],
        *["估計算法", "应该是非分明", "很難說服他", "證據說話"],
        *["應該是非分明", "應該會議結束後", "應該能量守恆", "應該沒收財產", "互相傳送訊息", "宣傳聞名世界"],
        *["不好說話", "說不準確", "聽說讀寫", "項目測試通過", "题目测验", "我沒準備好"],
    ],
    "code": ["`maybe`", "```\nI think\n```", "`可能`", "~~~\nmight\n~~~", "`x` `seems`"],
    "quoted": ['"maybe"', "「也許」", "“I think”", "> perhaps", "『可能』"],
    "our own mark": [
        *["（⚠️ 我對這個回答不太確定，可能需要更多思考）", "（⚠️ 我对这个回答不太确定，可能需要更多思考）"],
        *["(⚠️ I am not certain of this answer; it needs more thought.)", "⚠️ [hesitation score=35] "],
        *["[needs-review]"],
    ],
}
CONCLUSIONS = {
    "every one": ["Therefore, yes.", "所以", "因此", "结论", "the answer", "In conclusion", "答案是"],
    "concluded": ["Conclusion: yes", "My conclusion is that it leaks.", "Conclusions: none"],
    "disguised": ["ｔｈｅｒｅｆｏｒｅ", "所\u200b以", "結\u200b論", "thеrefore", "THEREFORE"],
}
NOT_CONCLUSIONS = {
    "之所以": ["之所以", "不知其所以然", "之所以慢", "他之所以來", "其之所以為"],
    "parts of words": ["theanswer", "the answering machine", "in conclusionx", "x_therefore", "inconclusions"],
    "a conclusion in logic": ["Two premises and a conclusion.", "The conclusion must be true.", "No conclusions"],
    "thereby": ["你會因此受罰", "這將因此改變", "这不能因此取消"],
    "not concluded": ["`所以`", "「因此」", "Is that the answer?", "jumping to conclusions", "並不因此"],
}

# Words for one conclusion count once.
SAME_CONCLUSION = [
    *["Therefore, the answer is 4.", "Conclusion: therefore, yes.", "So, therefore the answer is yes."],
    *["In conclusion, the answer is no."],
    *["所以答案是四", "因此，结论是它坏了", "所以，因此是它", "結論：所以不行", "因此答案是“四”"],
]
TWO_CONCLUSIONS = [
    *["Therefore. The answer is 4.", "Therefore it is the answer.", "Therefore, therefore it is so."],
    *["In conclusion, no: therefore, yes"],
    *["因此他來，所以我走", "所以。答案是四", "因此，因此", "所以\n結論"],
]


def rows(table: dict[str, list[str]]) -> list[Any]:
    return [pytest.param(text, id=f"{name}: {text!r}") for name, texts in table.items() for text in texts]


@table("text", rows(ABSOLUTE))
def test_it_counts_what_is_claimed_absolutely(text: str) -> None:
    assert len(claims(text)) == 1


@table("text", rows(NOT_ABSOLUTE))
def test_it_leaves_alone_what_only_looks_absolute(text: str) -> None:
    assert claims(text) == []


@table("text", rows(HEDGES))
def test_it_knows_a_hedge(text: str) -> None:
    assert is_hedged(text)


@table("text", rows(NOT_HEDGES))
def test_it_takes_nothing_else_for_a_hedge(text: str) -> None:
    assert not is_hedged(text)


@table("text", rows(CONCLUSIONS))
def test_it_counts_conclusions(text: str) -> None:
    assert conclusions(text) == 1


@table("text", rows(NOT_CONCLUSIONS))
def test_it_counts_no_others(text: str) -> None:
    assert conclusions(text) == 0


@table("text", SAME_CONCLUSION + TWO_CONCLUSIONS)
def test_it_counts_one_conclusion_in_several_words_once(text: str) -> None:
    assert conclusions(text) == (1 if text in SAME_CONCLUSION else 2)


def test_it_weighs_reasons_of_either_script_against_conclusions() -> None:
    assert hesitate("所以 因此 结论 因为 考虑到 但是").signals == ()
    assert evidence(hesitate("所以 因此 结论 因为 `因为` 「但是」"), "overconfidence") == ["所以", "因此", "结论"]


FACTS = {
    "figures": [
        *["The city has 23.5 million people.", "Sales rose 12%.", "It costs $4,500.", "人口有2300萬。", "上升了12％"],
        *["It is 330 metres tall.", "about 1,234,567 rows", "高達 508 公尺", "A slice has 500 calories.", "at 37 mph"],
        *["容納1000多人", "已有2500 多年的歷史", "約9.07千克", "重20余吨", "an orbit of 4 light-years"],
        *["$5k a month", "$20.", "Two thirds of them came.", "升到 40℃", "三分之二的人同意"],
    ],
    "dates": [
        "It began in 1998.",
        "始於1998年。",
        "on March 3, 1998",
        "released 2021-04-05.",
        "創刊於1949年5月20日",
        "4 月 10 號上線",
        "乾隆（1711-1799）",
        "in 1531",
        "on 3 March",
        "西元1368建立",
        "On May 2021 it grew.",
        "as early as March 2021",
        "due 3 May",
        "on 3 may 2021",
        "截止日期是2021年8月",
        "直至2021年8月",
        "20世紀30年代",
    ],
    "no day of one's own data": [
        *["I was there in October 2021.", "The model was trained in 2021.", "My knowledge is good. It began in 2021."],
    ],
    "no angles": [
        *["It is 90 degrees outside.", "A triangle is 91 degrees.", "90 people sat at angles"],
        "A circle of 360 people",
        *["今天90度", "三角形有90人", "a triangle. 90 degrees"],
    ],
    "no styles": ["{a} It grew by 50%; then it fell.", "It grew by 50%; then {a: b} fell", "{ it grew by 50%, }"],
    "what was done": ["The oven was heated to 475°F.", "Preheat it. It is 475°F.", "預熱後。它有200度"],
    "all of it": [
        *["1 km is far.", "11 km = 7", "It is 1 mile.", "重1公斤", "它重1.1公斤"],
        *["It covers 100% of them.", "100% of them fail.", "It is not 90% accurate.", "成功率100%", "不是90%"],
    ],
    "names": [
        *["Albert Einstein said so.", "Dr. Smith discovered it.", "Studies show that it helps.", "Experts say so."],
        *["Scientists have found it.", "Research proves it.", "It is scientifically proven."],
        "Multiple studies agree.",
        *["研究證實了它有效", "多項研究認為有效", "學者指出有效"],
        *["愛因斯坦曾說要簡單", "研究顯示有效", "专家认为有效", "眾所周知，水會沸騰"],
        *["瓦特發明了蒸汽機", "英國人瓦特發明了它", "，王教授曾指出", "蒸汽機由瓦特發明了出來", "发明家爱迪生声称"],
    ],
    "quotations": [
        *[
            "Einstein wrote: “Make it as simple as possible.”",
            'The king said, "let there be rain".',
            "孔子說：「學而時習之」",
        ],
        *[
            "Einstein wrote: ‘Make it as simple as possible.’",
            "The king said, 'let there be rain'.",
            "孔子說：‘學而時習之’",
        ],
        *["魯迅曾說「救救孩子」", "As Kant says, “dare to know”", "A critic wrote: “it is the end of an age”"],
        *["愛因斯坦說過：「想像力比知識重要」"],
        *["他在信中写道“再见”", "发言人表示：“不去”", "專家指出，「不行」", "老子云：「道可道」"],
    ],
}
NO_FACTS = {
    "plain numbers": [
        *[
            "I changed 2 files.",
            "See line 1998 of x.",
            "port 8080",
            "version 3.11.2",
            "step 3 of 5",
            "第3步",
            "排名第31名",
            "in 3 steps",
        ],
        *["It is 100% sure.", "有 100% 的把握", "百分之百", "pages (100-200)", "(lines 1015-1030)", "$343^7$"],
        *["- 1. 2. 3.", "item #1998", "at 10:30", "your card ending in 1531", "The number ends in 1999."],
    ],
    "angles": [
        *["A right angle is 90 degrees.", "The angles of a triangle make 180 degrees.", "三角形的內角和是180度"],
        "直角是90度",
        "A full circle has 360°.",
    ],
    "what is to be done": ["Preheat the oven to 475°F.", "預熱烤箱到200度"],
    "styles": ["<style> .form { width: 50%; margin: 0 }", "a { height: 30%; }"],
    "markers and logs": ["[2026-02-16] done", "2026-02-16T08:00:00Z ok", "2026-02-16 08:00 ok", "`in 1998`"],
    "words": ["You may go.", "They march on.", "the 'studies' folder", "I said so.", "He said so.", "我曾說過"],
    "nobody's name": [
        *["他成功地發明了它", "水燒開後產生了靈感發明了它", "在世紀末發明了它", "有人聲稱有效", "許多人聲稱有效"],
    ],
    "in other words": [
        *["One in a million.", "a five-minute walk", "two thirds", "一成不變", "成千上万", "千萬不要", "三分鐘"],
    ],
    "denied": ["沒有得到科學證明", "缺乏科学证明", "No studies show that it helps.", "尚未有研究顯示有效"],
    "our own words": [
        *['You said "let there be rain".', "The error message says “no such file”.", "你說「要下雨」"],
        *['`RuntimeError` says "no such app".', 'The script says "SUCCESS".', 'The reporter says: "it broke".'],
        *['the line quoted from "The Godfather"', 'It says "found 2 actions".'],
    ],
    "formulas": ["The area is $2\\cdot\\pi$.", "$2x+3$", "$4^2$", "$5$", "$7_1$"],
    "words spoken of": [
        *["“光棍”可以表示“厉害”", "總的來說，「光棍」是單身", "相當於說「你好」", "為什麼說「勿念」"],
        *["「若」字表示「像」"],
        *["人們知道「千里之行」嗎", "大家会说“清明快乐”", "味道“很好”"],
        *["the quote, the phrase “together in diversity”, is small"],
    ],
    "supposed": [
        *["Suppose it costs $50.", "If you tip 18% it is fine.", "Let's assume a rate of 20% here."],
        *["unless 30 people come", "Imagine 5 km of it."],
        *["假設它重5公斤", "如果買了10億次", "要是有30人來呢。", "倘若在1998年开始"],
    ],
    "said by the reader": [
        *["You mentioned that you paid $54.20 on 3 May.", "You told me you moved here in 1987."],
        *["As you said, it is 324 metres tall.", "Since you asked for a 20% discount, no."],
        *["The amount you entered is $54.20.", "您提到您在5月3日付了54美元。", "如您所說，塔高324公尺。"],
        *["你刚才说你在1987年搬来。", "您输入的金额是54美元。"],
    ],
    "up to a day": [
        *["As of August 2021 it is the largest.", "as of 3 March 2021", "As of my last update in May 2021, no."],
        *["I was last trained on new data in October 2021.", "My knowledge goes up to May 2021."],
        "My training ended in May 2021.",
        *["as on 14th October 2021", "As of early March 2021, none has.", "as of 2021-03-05"],
        *["截至2021年，沒有", "（截止到 2021年8月）", "至今（2022年4月）還沒有", "目前(2022年)最高"],
        *["截至2021年8月5日"],
    ],
    "no day": [
        *["IL 60201 may vary.", "Step 3 may take long.", "the 2 march on", "Option 12 may also fail."],
        *["chapter 3 may help"],
    ],
    "units": ["1 mile = 1760 yards", "1 km (km) equals 1000 of them", "1公斤（kg）等於1000克", "1 千克 = 1000 克"],
    "not all of it": [
        *["It is never 100% accurate.", "No lock is 100% safe.", "I cannot be 100% sure.", "沒有100%的保證"],
        *["並不是100%安全"],
        *["It isn't 100% waterproof.", "無法100%避免"],
    ],
    "asked": ["Did it begin in 1998?", "Is it 12%?", "人口有2300萬嗎？", "Was it Albert Einstein who said so?"],
    "cited": [
        *[
            "It began in 1998 [1].",
            "Sales rose 12% (https://example.org/a).",
            "According to the census, 23.5 million people.",
        ],
        *["根據統計，人口有2300萬。", "The rate is 12% (Smith, 2020).", "據記載，那是208年"],
    ],
}


NO_FACTS["what is to be set"] = [
    *[
        "Set the timeout to 500 ms.",
        "Please set it to 30%.",
        "- Add 500 ml of it.",
        "Use 2 g of salt.",
        "Mix it.\nPour 500 ml in.",
        "Bake at 180 °C.",
        "Let it rest for 20 minutes at 30 °C.",
    ],
    *["把逾時設為 500 ms。", "设成 30%", "上限設定為 50 公斤"],
]
FACTS["what was set"] = [
    *[
        "They set the timeout to 500 ms.",
        "The set is 500 ms.",
        "Its use is 2 g a day.",
        "Setting 5 km apart.",
        "Used for 5 km",
        "Add it. It is 5 km away.",
    ],
    *["設立後已有50人", "它設定好了，高5公里"],
]
NO_FACTS["what the reader asked for, and where it stands"] = [
    *["As you asked, it was moved to March 3.", "It costs $213, as shown in your booking."],
    *["It is $9, as printed on it."],
    *["依您要求，改到3月3日。", "如您所希望，改为30%", "票價213元，如訂單所示。", "发票上写着213元。"],
]
FACTS["what somebody asked for"] = [
    *["They asked for 30% off.", "It has grown by 30%, as you see.", "The booking costs $213."],
    *["如您所見，成長了30%。", "他要求改成30%", "訂單是213元。", "我们烤了50公斤"],
    *["They bake 30 tons a day.", "We boil 500 litres a day."],
]
FACTS |= {
    "units of few letters": [
        *[
            "The tower is 330 m tall.",
            "It is 330m tall.",
            "It takes 5 ms.",
            "It takes 5ms.",
            "It has 16 GB of RAM.",
            "It has 16GB of RAM.",
        ],
        *[
            "It weighs 5 kg.",
            "Keep it at 30 °C.",
            "That is 12 %.",
            "It is 5 km away.",
            "at 3.2 GHz",
            "It lies 200 ft below.",
            "The spider is 0.37 mm long.",
        ],
        *[
            "It makes 200 MW.",
            "2.5 m² each",
            "a wave of 500 nm",
            "它高 330 m。",
            "延遲 5 ms",
            "長 5km",
            "內存 16 GB",
            "重 5 kg",
            "It rose by 3 m.",
        ],
    ],
    "one name": [
        *[
            "Einstein said that time is relative.",
            "As Einstein once said, time is relative.",
            "Confucius famously said so.",
            "Newton wrote that it falls.",
        ],
        *["Aristotle believed that it sinks.", "Einstein said: time is relative."],
    ],
    "said before": [
        *[
            "愛因斯坦說過時間是相對的。",
            "爱因斯坦说过，时间是相对的。",
            "魯迅曾說：世上本沒有路。",
            "鲁迅说过世上本没有路",
            "詩人李白曾寫道酒好",
        ],
        "牛頓曾經說過它會掉下來",
    ],
}
NO_FACTS |= {
    "letters of another sense": [
        *[
            "in 2m",
            "a 5g network",
            "5 mice",
            "a 64GB model",
            "the 3.5mm jack",
            "a 750ml bottle",
            "2 m's",
            "option 5 g/h",
            "5 kids",
        ],
        *["10 cm² of it is 2 x 5", "side 4 cm^2", "3 MSc", "64GB 版本", "750ml 裝", "第5 m"],
        *["x=`5 ms`", "5 M1 chips", "版本 2m"],
    ],
    "units in other units": [
        "1 foot = 12 inches",
        "1 GB = 1024 MB",
        "1 GB = 1000 MB",
        "1 inch = 2.54 cm",
        "1 yard = 91.44 cm",
        "1 TB equals 1024 GB",
    ],
    "nobody's one name": [
        *[
            "He said that it is so.",
            "Nobody said that it is so.",
            "People once said so.",
            "I said that it is so.",
            "You said that it is so.",
        ],
        *[
            "The boss said that it is so.",
            "The user said: it is so.",
            "It is said that it is so.",
            "Mom once said so.",
            "Einstein said so.",
        ],
    ],
    "nobody's saying": [
        *[
            "我說過時間是相對的",
            "這個人說過它好",
            "有人說過它好",
            "他們說過它好",
            "老師說過它好",
            "妈妈说过它好",
            "俗話曾說過它好",
            "大家說過它好",
        ],
        "您說過它好",
    ],
    "cited sayings": [
        *[
            "Einstein said that time is relative [1].",
            "愛因斯坦說過時間是相對的（出處：文集）。",
            "According to Einstein it is 330 m tall.",
        ],
        *["根據愛因斯坦，它高 330 m。", "It is 330 m tall, see https://a.org/x.", "Did Einstein say it is 330 m tall?"],
    ],
}
# What the reader spoke of is no more given than what else there is.
FACTS["spoken of by the reader"] = [
    *["The book you mentioned was published in 1987.", "The tower you asked for is 324 metres tall."],
    *["你說的那座塔高324公尺。", "您提到的书出版于1987年10月。", "You said so. It is 324 metres tall."],
]
# What follows a supposition is claimed.
FACTS["supposing"] = [
    *["If you go to Paris you will see 300 metres of iron.", "If you are late then you pay $50."],
    *["If it leaks we'll pay $50."],
    *["Unless you cancel you can get $50.", "如果去巴黎就會看到三百多年前的塔高330米", "要是遲到那麼要付50元"],
    *["如果取消則退50元"],
    *["If you cancel, you pay $50.", "What if? It costs $50.", "Whatever: 5 km.", "Suppose so. It is 12%."],
    *["As if! In 1998 it was."],
    *["如果取消，你要付50元", "假設如此。它重5公斤", "結果買了10億次"],
]


@table("text", rows(FACTS))
def test_it_asks_for_the_source_of_figures_dates_names_and_quotations(text: str) -> None:
    assert [(signal.type, signal.weight) for signal in hesitate(text).signals] == [("no-source", 10)]


@table("text", rows(NO_FACTS))
def test_it_asks_for_no_source_where_there_is_one_or_nothing_to_look_up(text: str) -> None:
    assert hesitate(text).signals == ()


def test_a_book_is_a_source_of_what_stands_in_it_only() -> None:
    assert hesitate("在《三國志》一書中，那是208年").signals == ()
    assert evidence(hesitate("1959年起在《明報》連載"), "no-source") == ["1959年"]


def test_it_counts_each_fact_and_points_at_all_of_it() -> None:
    (signal,) = hesitate("In 1998 it cost $4,500, on 3 March 5%, said Marie Curie. Marie Curie said no.").signals
    assert signal.detail == "5 figure(s), date(s), name(s) or quotation(s) without source"
    assert [span.text for span in signal.spans] == ["1998", "$4,500", "3 March 5", "5%", "Marie Curie said"]


# What the response says, and what the agent was given.
GIVEN = [
    ("Your trip in 2019 cost $1,625.", "I went in 2019 and paid 1625.00."),
    ("That is 30 miles.", "A 30-mile walk, please."),
    ("It costs $180.10.", '{"price": 180.1}'),
    ("It costs $46 or $1,046.50.", "46.00, 1046.5"),
    ("Rates of 4% are common.", "What is 4 % of it?"),
    ("You leave on May 27.", '{"date": "2024-05-27"}'),
    ("It has 5 km left.", "there are 5km to go"),
    ("會議改到3月15日。", "請改到 3/15 下午"),
    ("會議改到3月5號。", '{"date": "2024-03-05"}'),
    ("會議改到3月15日。", "那就三月十五日"),
    ("You leave on December 31.", "十二月三十一號走"),
    ("2024年3月15日出發。", '{"date": "2024-03-15"}'),
    ("Released on 2024-03-15.", "the release was on March 15, 2024"),
    ("You leave on March 5.", "請改到3月5日"),
    ("It is due on 2024/03/05.", "due: 5th of March 2024"),
    ("You leave on March 5 or 12 March.", "between 5 and 12 March"),
    ("You leave on March 5.", "I leave on the 5th."),
    ("You leave on March 12.", "我12號出發"),
    ("You leave on May 26, 2024.", "any day from 2024-05-20 to the 26"),
    ("It began in August 2021.", "what began in 2021?"),
    ("原来她22岁，今年。", "直到今天我才發現她２２歲"),
    ("As Marie Curie said: no.", "What was it that Marie Curie said?"),
    ('He wrote "let there be rain".', "Who wrote “let there be rain”?"),
    ("他說：「明天要下雨了」", "氣象局說明天要下雨了"),
    ("Einstein said that it is so.", "Is it true that Einstein said so?"),
    ("It is 330 m tall.", "It is 330m, is it not?"),
    ("愛因斯坦說過它好。", "愛因斯坦說過嗎？"),
    ("He wrote 'let there be 30 cats'.", "Who wrote “let there be 30 cats”?"),
    ("他說：‘明天要下雨了’", "氣象局說明天要下雨了"),
]
NOT_GIVEN = [
    ("That is 30 miles.", ""),
    ("That is 30 miles.", "It took 3 miles, 300 in all."),
    ("Rates of 40% are common.", "We have 40 users."),
    ("It has 5 km left.", "We are 5 people, and there are km to go."),
    ("It cost $1,625.", "It cost 162.5, or 11625."),
    ("She is 22岁。", "她33岁"),
    ("It costs $180.10.", "180.01, 18.1, 180 and 1801"),
    ("It costs $100.", "10, 1.00 and 1.100"),
    ("As Marie Curie said: no.", "Is it yes?"),
    ('He wrote "let there be rain".', "Who wrote of rain?"),
    ("You leave on May 27.", "You leave in May."),
    ("You leave on 27 May 2019.", "What was in 2019?"),
    ("It has 40 km left.", "We are at 40%."),
    ('He wrote "there are 30 cats".', "Who has 30 cats?"),
    ("會議改到3月15日。", "請改到 3/14 下午，4/15 也行"),
    ("2025年3月5日出發。", '{"date": "2024-03-05"}'),
    ("Released on 2024-03-05.", "version 3.5 of 2024"),
    ("會議改到3月5日。", "第3章第5節"),
    ("You leave on March 5.", "5 of us, in May"),
    ("You leave on 5 March.", "There are 5, or 15."),
    ("You leave on March 26.", "seat 26, 2024-05-26"),
    ("You leave on May 26, 2024.", "26 seats in 2024"),
    ("You leave on December 12.", "12 declined"),
    ("3月5日出發。", "5日出發"),
    ("3月15日出發。", "三月十六日出發"),
    ("會議改到3月5日。", "pages 3-5"),
    ("It is 330 m tall.", "It is 33 m."),
    ("Einstein said that it is so.", "Is it so?"),
    ("That is 30 miles.", "." * MAX_GIVEN + " A 30-mile walk."),
]


@table(("text", "told"), GIVEN)
def test_it_asks_for_no_source_of_what_the_agent_was_told(text: str, told: str) -> None:
    assert evidence(hesitate(text), "no-source") != []
    assert evidence(AWARE.hesitate(text, [], (told,)), "no-source") == []


@table(("text", "told"), NOT_GIVEN)
def test_it_asks_for_the_source_of_what_only_looks_like_it(text: str, told: str) -> None:
    assert evidence(AWARE.hesitate(text, [], (told,)), "no-source") == evidence(hesitate(text), "no-source") != []


def test_it_looks_for_so_many_sayings_among_what_was_given() -> None:
    said = 'He wrote "let there be rain".\n'
    for more, found in ((0, 0), (1, 1)):
        assert len(evidence(AWARE.hesitate(said * (MAX_SAYINGS + more), [], (said,)), "no-source")) == found


MADE_UP = [
    *["Create a budget for a family of 4.", "Please write a short poem about the sea.", "Imagine a scene at night."],
    *["Could you tell me a joke?", "Generate data for a fictitious family.", "“Write a story”", "Make up a shop."],
    *["Given a list of storms, write a poem.", "Complete this dialogue.", "Suggest a recipe.", "Continue the story."],
    *["續寫這個故事", "请问红烧肉这道菜怎么做", "酸菜鱼这菜应该怎么做？"],
    *["写一首关于春天的诗", "請幫我編一個故事", "请设计一份家庭预算", "假设你有一家店", "講個笑話吧"],
]
NOT_MADE_UP = [
    *["", "What was the budget of 1998?", "Write a summary of the budget.\nIs it a story?", "Is this story true?"],
    *["Create a table of prices.", "Tell me about the sea. I like stories.", "Reimagine it.", "List 3 facts."],
    *["Given its history, what is it?", "Complete the table.", "Suggest a shop for tea."],
    *["这道题怎么做？", "这道菜是谁发明的？"],
    *["中国第一部故事长篇电影是？", "写的是什么故事？", "这个笑话说的是谁？", "设计师的预算是多少？", "想一想"],
]


@table("message", MADE_UP + NOT_MADE_UP)
def test_nothing_is_claimed_in_what_was_to_be_made_up(message: str) -> None:
    found = AWARE.hesitate("Clearly it cost $4,500.", [], (message,))
    assert [signal.type for signal in found.signals] == ([] if message in MADE_UP else ["absolute-claim", "no-source"])


COMPOSED = [
    *["Write a Facebook post about the new site.", "Generate a sentence on knowledge.", "Create an analogy for it."],
    *["Please come up with three slogans.", "Generate a list of sentence starters to use."],
    *["Compose a tweet: it works", "Edit the following paragraph to make it more interesting.", "Please rephrase it."],
    *["Take a given review and rewrite it.", "Post a comment about the article.", "Translate this: 显然"],
    *["請改寫這段文字", "润色下面的句子", "帮我翻译这句话"],
    *["請幫我寫一則朋友圈文案", "写一句口号", "用“显然”造句", "想一个比喻来说明它", "帮我发一条微博"],
]
NOT_COMPOSED = [
    *["", "Explain it in one sentence.", "Tell me in a sentence whether it is safe.", "Is this tweet true?"],
    *["Posts are cheap.", "Who edits it?", "Editing is slow.", "Take a photo.", "Post it?"],
    "Which translation is right?",
    *["翻译的人是谁？", "改写过的句子在哪里？", "翻译成什么语言？"],
    *["Summarize the post.", "Give the reasons in two sentences.", "Write a report on posts."],
    *["Write code that parses sentences?"],
    *["这句话是谁写的？", "微博是什么？", "写一份报告", "文案里的数字对吗", "用一句话概括它"],
]


@table("message", COMPOSED + NOT_COMPOSED)
def test_it_is_sure_of_nothing_in_words_that_are_not_its_own(message: str) -> None:
    found = AWARE.hesitate("Clearly it cost $4,500.", [], (message,))
    types = [signal.type for signal in found.signals]
    assert types == (["no-source"] if message in COMPOSED else ["absolute-claim", "no-source"])


@table("field", ["user_message", "command_output"])
def test_what_a_user_says_and_a_command_prints_is_given(field: str) -> None:
    body = {"response": "It holds 4,500 rows.", "items": []}
    for said, types in (("4500 rows", []), ("no rows", ["no-source"]), (None, ["no-source"])):
        verdict = AWARE.score({**body, field: said})
        assert [signal["type"] for signal in verdict["hesitation"]["signals"]] == types
        assert AWARE.dispose({**body, field: said})[0].score == verdict["hesitation"]["score"]


@table(
    ("text", "told", "expected"),
    [
        ("$137 + $167 = $304", "137, 167", []),
        ("You pay $135.23 instead of $153.23, $18.00 less.", "135.23 153.23", []),
        ("Two at $50.50 are $101.", "$50.50 each", []),
        ("It is 42 miles: 30 miles, then 12 miles.", "30 and 12 miles", []),
        ("她20岁，他12岁，相差8岁。", "20歲和12歲", []),
        ("$137 + $167 = $305", "137, 167", ["$305"]),
        ("It is $304.", "137, 167", ["$304"]),  # out of nothing that it names
        ("$137 and $167 make $304.", "137", ["$167", "$304"]),
        ("$30 and 12 miles make 42 miles, or $42.", "30, 12", ["42 miles", "$42"]),
        ("It rose by 4% and 3%, so by 7%.", "4%, 3%", ["7%"]),
        ("You leave on May 20, May 6 or May 26.", "May 20, 6", ["May 26"]),
        ("You leave on 20 March, 14 March or 6 March.", "20, 14 March", ["6 March"]),
        ("$0 and $5 make $5.01.", "0, 5", ["$5.01"]),
        ("$5, " * (MAX_CALCULATED - 2) + "$7 and $9 make $16.", "5, 7, 9", []),
        ("$5, " * (MAX_CALCULATED - 1) + "$7 and $9 make $16.", "5, 7, 9", ["$16"]),
        # To the cent one of the two may stand in what was given only.
        ("The new one costs $135.24, a refund of $17.99.", "135.24 153.23", []),
        ("It was $153.23; with $10.05 more it is $163.28.", "153.23 and 163.28", []),
        ("新的135.24元，退18.01元。", "135.24, 153.25", []),
        ("The new one costs $135.24, a refund of $18.00.", "135.24 153.23", ["$18.00"]),
        ("A refund of $17.99.", "135.24 153.23", ["$17.99"]),
        ("The new one costs $135, a refund of $18.", "135 153", ["$18"]),
        ("The new one costs 135.24元, a refund of $17.99.", "135.24 153.23", ["$17.99"]),
        ("He wrote “3 rats”, he wrote “4 rats”, he wrote “7 rats”.", "3 rats 4 rats", ["“7 rats”"]),
    ],
)
def test_what_is_calculated_from_two_that_were_given_has_its_source_in_them(
    text: str, told: str, expected: list[str]
) -> None:
    assert evidence(AWARE.hesitate(text, [], (told,)), "no-source") == expected


WORKED_OUT = [
    *["$1,625 - $1,327 = 【$298】", "3 x $120 = **【$360】**", "42 * 0.18 = 【$7.56】", "20% of $1850 is 【$370】"],
    *["$10 ÷ 3 = 【$3.33】"],
    *["2 bags \\times $50 = 【$100】", "2 + 3 × $5 equals 【$17】", "7,200 seconds + 900 seconds = 【8,100】 seconds"],
    *["1850 × 20% ＝ 【370元】", "1850元的20%是【370元】", "3 人 × 5 公斤等于【15 公斤】"],
    *["**$224.59** − $206.03 = **【$18.56】**"],
    *["(2 + 3) x $5 = 【$25】", "(1000 * 5 * 3)/100 = 【$150】", "(8 ÷ 10) x 100 = 【80%】"],
    *["2 x ($3 + (4 - 1)) = 【$12】"],
    *["（1000 × 5 × 3）÷ 100 ＝ 【150元】", "(100元 - 20元) × 2 = 【160元】"],
    *["0.67 or 【67%】", "R = 0.0233 or 【2.33%】", "it is 0.35 (【35%】)", "佔0.35（【35%】）"],
    *["即0.0391，或【3.91%】", "0.5或【50%】"],
    *["5 miles (【8 km】)", "10 kg is about 【22 pounds】", "3 kg = 【6.6 pounds】"],
    "1 mile = 【1.609 km】",
    *["5公里（【3.1英里】）", "100英尺约等于【30.5公尺】", "330 meters or 【1,083 feet】"],
    "1 gallon = 【3.785 liters】",
    *["【5°】C (41°F)", "| 【5°】C | 41°F |", "| 5°C  |   【41°】F |", "-5°C (【23°】F)", "20-25°C (【77°】F)"],
    *["75°F (【24°】C)", "37 ℃（【98.6℉】）", "24 °C or 【75 °】F", "350 degrees Fahrenheit (【177 degrees】 Celsius)"],
    *["multiply 42 by 0.18, which equals 【$7.56】", "Divide $84 by 4 to get 【$21】."],
    "adding $3 to $4 gives you 【$7】",
    *["Subtract $20 from $50: that is 【$30】", "42 multiplied by 0.18 is 【$7.56】", "$84 divided by 4 is 【$21】"],
    *["2加3等于【5元】", "42乘以0.5，得到【21元】", "84除以4是【21元】", "50减去20等于【30元】"],
    *["25 * 1.8 + 32 = 77. It is 【77°】 in the end.", "2 × 24 = 48，所以是【48元】"],
]
NOT_WORKED_OUT = [
    *["2 + 2 = 【$5】", "$153.23 - $135.24 = 【$18.00】", "$10 / 0 = 【$3】"],
    *["2 + 3) x $5 = 【$25】", "(2 - 3) x $5 = 【$25】", "(1000 * 5 * 3)/100 = 【$151】", "(8 ÷ 10) x 10 = 【80%】"],
    *["(2 + 3 x $5 = 【$17】"],
    *["0.67 or 【68%】", "0.67, 【67%】", "10.67 or 【67%】", "67 or 【67%】", "0.67 and 【67%】"],
    *["占0.35（【36%】）", "0.5或者说【50%】"],
    *["It is 【$25】", "x = 【$25】"],
    *["5 miles (【9 km】)", "10 kg is about 【25 pounds】", "5 miles (【8 kg】)", "5 km (【6 km】)"],
    "5 miles. 【8 km】",
    *["5公里（【4英里】）", "5公里和【3.1英里】"],
    *["20% of $1850 is 【$371】", "12.5 + 3 = $115.5, or 【$15.5】", "$3 + 4 is not 【$7】", "1850元的20%是【371元】"],
    "3 人 × 5 公斤，共【15 公斤】",
    *["| 【5°】C | 43°F |", "| 5°C    | 【43°】F |", "5°C (【23°】F)"],
    *["75°F (【26°】C)", "24°C (【24°】C)", "75°F. 【24°】C", "37℃（【96℉】）", "it is 75 to 【24°】C"],
    *["multiply 42 by 0.18, which equals 【$7.65】", "Divide $84 by 0 to get 【$21】.", "add $3 to $4, not 【$7】"],
    *["Subtract $50 from $20: that is 【$30】", "84除以4是【22元】", "42加倍得到【84元】", "2加3等于【6元】"],
    *["25 * 1.8 + 32 = 78. It is 【78°】 in the end.", "2 × 24 = 480，所以是【48元】", "x = 77. It is 【77°】 here."],
    "2 × 4 = 8，所以是【8元】",
]


@table("text", WORKED_OUT + NOT_WORKED_OUT)
def test_what_is_worked_out_before_the_reader_has_its_source_in_the_calculation_if_it_is_right(text: str) -> None:
    figure = text[text.index("【") + 1 : text.index("】")]
    found = evidence(hesitate(text.replace("【", "").replace("】", "")), "no-source")
    assert (figure in found) is (text in NOT_WORKED_OUT)


RIGHT_SUMS = [
    *[
        "The total is $1,093.34 ($500.00 + $420.10 + $173.24).",
        "總共110元（30元+50元+30元）。",
        "In all 9 kg (4 kg + 5 kg).",
    ],
    *["$500.00 + $420.10 + $173.24 = $1,093.34", "2 bags x $50 = $100", "$12.99 × 3 = $38.97", "20% of $1850 = $370"],
    *[
        "The monitor is 375 mm wide = 14.76 inches.",
        "這塊石頭高五百丈（合1667米）。",
        "6 feet (182 cm)",
        "10 kg (22 lb)",
    ],
    *["總計 NT$1,100（NT$500 + NT$600）", "It takes 2 hours = 120 minutes."],
    *["350°F (177°C)", "180°C (350°F)", "about 100 miles (155 km)", "8 hours × $15 per hour = $120"],
]
# With what they say, and should.
WRONG_SUMS = [
    ("The total is 【$1,193.34】 ($500.00 + $420.10 + $173.24).", "says $1,193.34; the parts make $1,093.34"),
    ("總共【100元】（30元+50元+30元）。", "says 100元; the parts make 110元"),
    ("$500 flight + $20 bag = 【$530】", "says $530; the parts make $520"),
    ("3 nights × $120 = 【$350】 in all", "says $350; the parts make $360"),
    ("8 hours × $15 per hour = 【$130】", "says $130; the parts make $120"),
    ("20% of $1850 is 【$380】.", "says $380; the parts make $370"),
    ("50元-20元等於【40元】", "says 40元; the parts make 30元"),
    ("375 mm wide = 【17.76 inches】", "says 17.76 inches; 375 mm makes 14.76 inches"),
    ("375 MM (【14.96 Inches】)", "says 14.96 Inches; 375 MM makes 14.76 Inches"),
    ("100 miles (【200 km】)", "says 200 km; 100 miles makes 161 km"),
    ("10 kg = 【32 lb】", "says 32 lb; 10 kg makes 22 lb"),
    ("75°F (【36°C】)", "says 36°C; 75°F makes 24°C"),
    ("合計 【120 元】（50 + 60 元）", "says 120 元; the parts make 110 元"),
    ("總計 NT【$1,200】（NT$500 + NT$600）", "says $1,200; the parts make $1,100"),
    ("2 hours = 【130 minutes】", "says 130 minutes; 2 hours makes 120 minutes"),
    ("2 + 2 = 【5】, 2 + 3 = 【6】", "says 5; the parts make 4 (and 1 more)"),
]
NO_SUMS = [
    *[
        "90-100 = 4.0, 80-89 = 3.0",
        "2y + 3 = 11",
        "x - 3 * 4 = 2",
        "$100 + 10% = $110",
        "1 hour + 30 minutes = 90 minutes",
    ],
    *[
        "1.5 million + 500,000 = 2 million",
        "1 + 1 = 10",
        "2² × 3² × 29 = 756",
        "17 / 5 = 3 R 2",
        "33% + 33% + 33% = 100%",
    ],
    *[
        "5 ft 10 inches (178 cm)",
        "a rise of 10°C (18°F)",
        "5 miles (9 km uphill)",
        "5-6 miles (9 km)",
        "1 GB = 1024 MB",
    ],
    *[
        "2 + 2 = 10 - 6",
        "Is 2 + 2 = 5?",
        "It is not true that 2 + 2 = 5.",
        "`2 + 2 = 5`",
        "≈ 2 + 2 ≈ 4.1",
        "Room 12 (3 + 4 people)",
    ],
    *["12 oz (355 ml)", "40 ton (20 kg)", "一千丈（合2000米）", "20 percent of $50 = $10", "sin 30 + 1 = 1.5"],
    *["總計 $1,200（US$500 + NT$600）", "2 hours (45 minutes)", "130 minutes = 2 hours", "3 days = 24 hours"],
    *["1:30 hours = 90 minutes", "150 minutes = 2 hours, 30 minutes", "90 minutes = 1 hour and a half"],
    *["1h30 min = 1.5 hours", "一小時又30分鐘=1.5小時", "20 minutes = 0.3 hours"],
    *["7 + 8 = 3 (mod 12)", "11 + 3 = 2 o'clock", "0.1 + 0.2 = 0.30000000000000004"],
]


@table("text", RIGHT_SUMS)
def test_what_is_worked_out_beside_its_parts_is_checked_and_asks_for_no_source(text: str) -> None:
    assert hesitate(text).signals == ()


@table(("text", "detail"), WRONG_SUMS)
def test_a_sum_that_its_parts_do_not_make_is_wrong(text: str, detail: str) -> None:
    (signal,) = [one for one in hesitate(text.replace("【", "").replace("】", "")).signals if one.type == "wrong-sum"]
    assert (signal.detail, signal.weight) == (detail, 30)
    assert [span.text for span in signal.spans] == re.findall("【(.*?)】", text)


@table("text", NO_SUMS)
def test_it_calls_no_sum_wrong_that_may_mean_something_else(text: str) -> None:
    assert "wrong-sum" not in [signal.type for signal in hesitate(text).signals]


def test_a_wrong_sum_is_wrong_whoever_gave_its_parts() -> None:
    given = ("It was $500.00, $420.10 and $173.24.",)
    text = "According to the invoice the total is $1,193.34 ($500.00 + $420.10 + $173.24)."
    assert [signal.type for signal in AWARE.hesitate(text, [], given).signals] == ["wrong-sum"]


# Beside the bracketed one, what is marked.
ADDED_UP = [
    ("It was $272.33, is $244.91 now: a refund of 【$27.42】.", 2),
    ("Lamp $135.24, chair $471.82, bed $180.93. In all 【$787.99】.", 3),
    ("$12.50 and $3.20 make 【$15.70】; 【$15.70】 it is.", 2),
    ("枱燈135.24元，椅子471.82元，共【607.06元】。", 2),
    ("Rice 216 calories, oil 240 calories, peas 25 calories. Total content of the meal = 【481 calories】.", 3),
    ("Two at 75 calories, 75 calories, one at 20 calories, in all 【170 calories】.", 3),
    ("飯216大卡，油240大卡，豆25大卡，總共【481大卡】。", 3),
    ("原價272.33元，現價244.91元，退【27.42元】。", 2),
    ("A: $10.00, $4.10 less 【$5.90】; B: $23.00, $8.55.", 4),
]
NOT_ADDED_UP = [
    ("It was $272.33, is $244.91 now: a refund of 【$27.43】.", 2),
    ("A refund of 【$27.42】: it was $272.33, and is 272.33元 - 244.91元.", 3),
    ("It was $272, is $244 now: a refund of 【$28】.", 2),
    ("Lamp $135.24, chair 471.82元: in all 【$607.06】.", 2),
    ("Lamp $135.24, table $99.10, chair $471.82, bed $180.93, desk $50.11. In all 【$315.27】.", 5),
    ("枱燈135.24元，椅子471.82元，共【607.07元】。", 2),
    ("Rice 216 calories, oil 240 calories, peas 25 calories: 【481 calories】.", 3),
    ("Rice 216 calories, oil 240 calories, peas 25 calories. Total: 【482 calories】.", 3),
    ("A total of 【481 calories】. Rice 216 calories, oil 240 calories.", 2),
    ("飯216大卡，油240大卡，豆25大卡。【481大卡】。", 3),
    ("The total was 216 calories; in all 【216 calories】, not 240 calories.", 1),
    ("$5.10, $10.35, 【$5.10】.", 1),
]


@table(("text", "others"), ADDED_UP + NOT_ADDED_UP)
def test_what_is_added_up_to_the_cent_of_what_stands_before_has_its_source_there(text: str, others: int) -> None:
    figure = text[text.index("【") + 1 : text.index("】")]
    found = evidence(hesitate(text.replace("【", "").replace("】", "")), "no-source")
    assert (figure in found) is ((text, others) in NOT_ADDED_UP)
    assert len([each for each in found if each != figure]) == others


@table(
    ("text", "expected"),
    [
        ("Assume a tax rate of 20% here. 20% of $1,850 is $370, so at 20% you pay $370.", []),
        ("Let's say 30 people come. For 30 people we need 40 km of it.", ["40 km"]),
        ("2 x $50 = $100. You pay $100, and $200 later.", ["$200"]),
        ("如果來了30人，30人要吃20公斤。", ["20公斤"]),
        ("税率假設為20%，20%並不高，25%才高。", ["25%"]),
    ],
)
def test_what_is_supposed_or_worked_out_once_is_so_wherever_it_comes_again(text: str, expected: list[str]) -> None:
    assert evidence(hesitate(text), "no-source") == expected


def test_figures_given_earlier_are_remembered_and_words_are_not() -> None:
    given = ["A 30-mile walk in 2019, for $1,625.00.", "“Nothing ever grows there”, wrote Marie Curie, on ４%."]
    before = figures_of(given)
    for text, is_given in (
        ("It is 30 miles.", True),
        ("It cost $1,625 in the year 2019.", True),
        ("That is 4%.", True),
        ("That is 30%.", False),
        ("It is 31 miles.", False),
        ("As Marie Curie said: no.", False),
        ("He wrote “Nothing ever grows there”.", False),
    ):
        verdict = AWARE.score({"response": text, "items": []}, history=History(told=before))
        assert (verdict["hesitation"]["signals"] == []) is is_given, text


def test_dates_given_earlier_are_remembered_however_they_are_written() -> None:
    before = figures_of(['{"departure": "2024-03-05"}', "直到6月7日", "v1-2, pages 8-9", "May 26, or 12th of April"])
    for text, is_given in (
        ("3月5日出發。", True),
        ("2024年3月5日出發。", True),
        ("6 月 7 號到。", True),
        ("3月7日出發。", False),
        ("8月9日出發。", False),
        ("2023年3月5日出發。", False),
        ("You leave on May 26.", True),
        ("You leave on 12 April.", True),
        ("You leave on July 12.", False),
        ("5月26日出發。", True),
    ):
        verdict = AWARE.score({"response": text, "items": []}, history=History(told=before))
        assert (verdict["hesitation"]["signals"] == []) is is_given, text


def test_so_many_figures_are_remembered_those_named_last() -> None:
    known = figures_of(["7777 " + " ".join(map(str, range(10_000, 10_000 + MAX_TOLD)))])
    assert "7777" not in known.split()
    assert figures_of(["no figure"], known) == known
    again = figures_of(["10000, then 8888"], known).split()
    assert len(again) == MAX_TOLD
    assert again[-2:] == ["10000", "8888"]
    assert again[0] == "10002"
    assert figures_of(["1" * 24, "2" * 25]) == "1" * 24


HIDDEN = [
    *[
        "a\u200bb",
        "字\u200b字",
        "x\u2060y",
        "\u202eabc",
        "abc\u202c",
        "a\u200fb",
        "\u2066a\u2069",
        "a\u00adb",
        "a\ufeffb",
    ],
    *["a\U000e0061b", "\u3164", "cl\ufe01early", "x\u200d", "\u061cabc", "a\u061c\u200fb", "x\ufff9y\ufffb"],
]
NOT_HIDDEN = [
    *[
        "👩‍💻 👨‍👩‍👧",
        "❤️ ⚠️ 1️⃣",
        "می\u200cخواهم",
        "क्\u200dष",
        "\ufeffhello",
        "שלום \u200fabc",
        "🏴\U000e0067\U000e0062\U000e007f",
    ],
    *["café", "字\U000e0100", "ไทย\u200bไทย", "a b\u00a0c", "İ", ""],
]


@table("text", HIDDEN)
def test_it_shows_what_is_hidden(text: str) -> None:
    assert [(signal.type, signal.weight) for signal in hesitate(text).signals if signal.type == "hidden-text"] == [
        ("hidden-text", 30)
    ]


@table("text", NOT_HIDDEN)
def test_it_lets_scripts_and_emoji_join_as_they_do(text: str) -> None:
    assert hesitate(text).signals == ()


def test_it_finds_what_is_hidden_in_items_of_every_kind() -> None:
    wire = [{"kind": "task", "text": "fine"}, {"kind": "remember", "text": "a\u200bb"}]
    (signal,) = AWARE.hesitate("", wire).signals
    assert (signal.detail, signal.spans) == ("hidden characters in 1 place(s)", (Span(1, 2, "\u200b", 1),))
    assert len(AWARE.hesitate("a\u200bb", [Item("chat", "a\u200bb")]).signals[0].spans) == 1


KEYWORDS = [
    (
        "timeout",
        ["TIMEOUT!", "a timeout-handler", "ｔｉｍｅｏｕｔ", "time\u200bout", "tіmeout", "字timeout字"],
        ["timeouts", "x_timeout"],
    ),
    ("重試", ["重試", "重试了", "重\u200b試"], ["重 試", "重"]),
    ("资料库", ["資料庫", "资料库", "資料库"], ["資料", "数据库"]),
    ("C++", ["C++", "c++!", "Ｃ＋＋"], ["C+", "abc++"]),
    ("élan", ["ÉLAN", "élan vital"], ["élans", "elan"]),
    ("don't", ["don’t", "DON'T"], ["dont"]),
]


@table(("keyword", "hits", "misses"), KEYWORDS)
def test_it_recalls_a_past_error_by_whole_words_in_any_writing(
    keyword: str, hits: list[str], misses: list[str]
) -> None:
    patterns = ({"id": "ep", "keywords": [keyword], "description": "it"},)
    scorer = Scorer(patterns, profile="aware")
    for hit in hits:
        (signal,) = [s for s in scorer.hesitate(hit, []).signals if s.type == "error-pattern"]
        assert (signal.detail, signal.weight) == ("matches past error: it", 30)
        assert hit.startswith(signal.spans[0].text, signal.spans[0].start)
    for miss in misses:
        assert scorer.hesitate(miss, []).matched_pattern_ids == ()


def test_it_recalls_a_past_error_in_emphasis() -> None:
    for keyword, text, found in (
        ("timeout", "a _timeout_ here", ["timeout"]),
        ("timeout", "timeout, __timeout__, x_timeout_", ["timeout", "timeout"]),
        ("timeout", "_x_timeout", []),
        ("__init__", "in __init__ and __init__.py", ["__init__", "__init__"]),
    ):
        assert evidence(hesitate(text, patterns=({"id": "ep", "keywords": [keyword]},)), "error-pattern") == found


def test_it_takes_the_first_pattern_that_stands_alone() -> None:
    patterns = [{"id": word, "keywords": [word]} for word in ("out", "meout x", "x", "time out")]
    scorer = Scorer(patterns, profile="aware")
    found = {
        text: scorer.hesitate(text, []).matched_pattern_ids for text in ("timeout x", "time out x", "timeout", "xx")
    }
    assert found == {"timeout x": ("x",), "time out x": ("out",), "timeout": (), "xx": ()}


def test_it_never_finds_a_keyword_in_which_all_is_hidden() -> None:
    assert hesitate("a\u200b", patterns=({"id": "ep", "keywords": ["\u200b"]},)).matched_pattern_ids == ()


def test_it_looks_for_hedges_in_the_chat_itself() -> None:
    assert evidence(hesitate(f"Maybe. {LONG}", LONG, weights=HEDGING), "no-hedge") == [LONG]
    assert evidence(hesitate(f"{LONG}Maybe.", f"{LONG}Maybe.", weights=HEDGING), "no-hedge") == []
    assert evidence(hesitate("", LONG, "Maybe.", weights=HEDGING), "no-hedge") == []


def test_it_hears_no_hedge_in_a_mark_of_the_policys_own() -> None:
    mark = "Perhaps wrong ({score})."
    assert evidence(hesitate("", LONG + "Perhaps wrong (35).", weights=HEDGING), "no-hedge") == []
    assert evidence(hesitate("", LONG + "Perhaps wrong (35).", weights=HEDGING, marks={"chat": mark}), "no-hedge") != []


def test_it_switches_each_signal_off() -> None:
    response = "It is clearly so.\n\nIn 1998 a\u200bb said it, 2 + 2 = 5: therefore, therefore, therefore."
    kinds = [signal.type for signal in hesitate(response, LONG, weights=HEDGING).signals]
    assert kinds == ["absolute-claim", "no-hedge", "overconfidence", "no-source", "wrong-sum", "hidden-text"]
    assert hesitate(response, LONG, weights=dict.fromkeys(kinds, 0)).signals == ()


def test_one_scorers_patterns_serve_both_profiles() -> None:
    seed = Scorer([{"id": "ep", "keywords": ["time"]}])
    aware = seed.with_policy({"profile": "aware"})
    assert seed.hesitate("timeout", []).matched_pattern_ids == ("ep",)
    assert aware.hesitate("timeout", []).matched_pattern_ids == ()
    assert aware.with_policy({}).hesitate("timeout", []).matched_pattern_ids == ("ep",)


def test_the_new_weights_do_nothing_to_the_seeds_profile() -> None:
    assert Scorer(policy={"weights": {"no-source": 100}}).hesitate("In 1998, a\u200bb.", []).signals == ()


def test_it_gives_a_verdict_of_the_published_shape() -> None:
    body = {"response": "Clearly, in 1998 a\u200bb, 2 + 2 = 5.", "items": [{"kind": "chat", "text": LONG}]}
    verdict = TypeAdapter(Assessment).validate_python(AWARE.score(body), strict=True)
    assert verdict["profile"] == "aware"
    types = [signal["type"] for signal in verdict["hesitation"]["signals"]]
    assert types == ["absolute-claim", "no-source", "wrong-sum", "hidden-text"]
    assert verdict["items"][0]["disposition"] == "hold"  # 20 + 10 + 30 + 30


SURE = "顯然是快取。"  # a claim, and a hint only


@table(
    ("response", "weights", "told", "score"),
    [
        ("", {}, {}, 0),
        ("", HEDGING, {"no-hedge": 15}, 15),
        ("It is clearly so.", {}, {"absolute-claim": 20}, 20),
        ("The cache of this host 顯然 is slow.", {}, {"absolute-claim": 20}, 20),
        (SURE, {}, {"absolute-claim": 0}, 0),
        ("顯然", {}, {"absolute-claim": 0}, 0),
        (f"`clearly(it, was, obviously, so)` {SURE}", {}, {"absolute-claim": 0}, 0),
        ("```\n" + "clearly(it)\n" * 40 + f"```\n\n{SURE}", {}, {"absolute-claim": 0}, 0),
        (SURE, {"absolute-claim": 100}, {"absolute-claim": 0}, 0),
        (SURE, {"absolute-claim": 0}, {}, 0),
        (f"{SURE}\n\n1998年 a\u200bb。", {}, {"absolute-claim": 0, "no-source": 10, "hidden-text": 30}, 40),
    ],
)
def test_a_signal_weighs_what_its_record_on_real_texts_allows(
    response: str, weights: dict[str, int], told: dict[str, int], score: int
) -> None:
    items = [{"kind": "chat", "text": LONG}, {"kind": "action", "text": "x"}]
    scorer = AWARE.with_policy({"profile": "aware", "weights": weights})
    verdict = TypeAdapter(Assessment).validate_python(scorer.score({"response": response, "items": items}), strict=True)
    hesitation = verdict["hesitation"]
    assert hesitation is not None
    assert {signal["type"]: signal["weight"] for signal in hesitation["signals"]} == told
    assert all(signal["spans"] for signal in hesitation["signals"])
    assert (hesitation["score"], hesitation["confident"]) == (score, score < 30)
    counted = ", ".join(name for name, weight in told.items() if weight)
    assert hesitation["suggestion"] == (f"Hesitation triggered (score={score}): {counted}" if counted else "")
    chat, action = verdict["items"]
    assert chat["disposition"] == ("mark" if score >= 30 else "pass")
    assert action["text"] == (f"x\n\nHesitation: {counted} (score={score})" if score >= 30 else "x")


def test_it_notes_no_hint_where_everything_is_marked() -> None:
    scorer = AWARE.with_policy({"profile": "aware", "threshold": 0})
    assert scorer.score({"response": SURE, "items": [{"kind": "action", "text": "x"}]})["items"][0]["text"] == "x"


def test_every_word_belongs_to_one_list() -> None:
    names = ("ABSOLUTE", "HEDGE", "CONCLUSION", "REASONING", "CITATION", "PLAIN", "MONTHS", "ATTRIBUTION", "REPORTING")
    words = [word for language in LANGUAGES for name in names for word in getattr(language, name)]
    assert len(words) == len(set(words))


FLOODS = [
    "_a_ ",
    " _a",
    "'a ",
    "a'a",
    "\n\n    a",
    "- a\n\n    ",
    "\t",
    "clearly ",
    "一定",
    "a\u200b",
    "http://",
    '"',
    "[1]",
    "\n",
    "“",
    "`",
    "1,",
    "<a ",
    "March 3 ",
    "不",
    "\u202e",
    "A said ",
]


@table("flood", FLOODS)
def test_it_reads_no_more_of_a_flood_than_anybody_would(flood: str) -> None:
    """Counted, not timed: the work that grows with a text is one pass each."""
    for signal in hesitate(flood * 5_000, flood * 200).signals:
        assert len(signal.spans) <= 256
        count = re.search(r"\d+", signal.detail)
        assert count is None or int(count.group()) <= 10_000


pieces = st.sampled_from(
    [
        "一定",
        "顯然",
        "clearly",
        "maybe",
        "所以",
        "key",
        "KEY",
        "In 1998",
        "12%",
        "\u200b",
        "\u202e",
        "😀",
        "é",
        "İ",
        "`",
        '"',
        "「",
        "」",
    ]
) | st.text(max_size=3)
texts = st.lists(pieces, max_size=30).map("".join)


@given(texts, st.lists(texts, max_size=3))
def test_its_evidence_is_always_what_stands_there(response: str, chats: list[str]) -> None:
    for signal in hesitate(response, *chats, patterns=({"id": "ep", "keywords": ["key", "é"]},)).signals:
        assert signal.spans
        for span in signal.spans:
            text = response if span.item is None else chats[span.item]
            assert text[span.start : span.end] == span.text != ""


@table(
    ("response", "claims"),
    [
        ("<code>definitely</code> is a word", []),
        ("<pre class='x'>\nit is definitely so\n</pre>", []),
        ("<blockquote>This is definitely wrong.</blockquote>", []),
        ("他說<q>這肯定是錯的</q>。", []),
        ("It is <b>definitely</b> wrong.", ["definitely"]),
        ("<code>a</code> is definitely not <code>b</code>", ["definitely"]),
        ("<code>it is definitely wrong", ["definitely"]),
        ("</code> it is definitely wrong <code>", ["definitely"]),
        ("<coded>definitely</coded>", ["definitely"]),
    ],
)
def test_it_reads_no_claim_in_markup_for_code_and_quotations(response: str, claims: list[str]) -> None:
    signals = AWARE.score({"response": response})["hesitation"]["signals"]
    assert [span["text"] for signal in signals for span in signal["spans"]] == claims
