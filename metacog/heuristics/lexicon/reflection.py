"""What reflection says and leaves out: words of asking, which are no subject, and the lessons it proposes.

Ours, but for the form of a lesson: seed 004, "Reflection Engine": "When user asks about X, remember to also mention Y".
Chinese to be looked for is written in simplified characters, as `shadow.fold` gives it.
"""

from collections.abc import Mapping

_ASKING_EN = (
    "ask asked asking check dear email explain find hear kindly look mail mean mention message news question remind "
    "reply say search send show speak suggest summarise summarize talk translate understand wonder work working "
    "morning afternoon evening week month year tomorrow yesterday monday tuesday wednesday thursday friday saturday "
    "sunday always never again still wrong correct incorrect forgot forget missed told said means meant"
)
ASKING_EN = frozenset(_ASKING_EN.split())
_ASKING_ZH = (
    "帮忙 帮 麻烦 谢谢 一下 告诉 知道 觉得 需要 希望 应该 可能 现在 今天 明天 昨天 最近 "
    "整理 翻译 说明 解释 提醒 查查 查一查 看看 消息 资料 问题 时候 怎么样 不对 不是 错了 又忘 "
    "忘了 总是 一定 记得 说过 上周 下周 本周 周一 周二 周三 周四 周五 周六 周日"
)
ASKING_ZH = tuple(_ASKING_ZH.split())

# {subject} and {reason} are somebody's words; counts are whole numbers.
LESSONS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "mention": "When asked about {subject}, also mention {asked}.",
        "corrected": "You were corrected {count} times about {subject}; the last time: “{quote}”",
        "corrected-on": "You were corrected {count} times on {asked}; the last time: “{quote}”",
        "corrected-alike": "You were corrected {count} times alike; the last time: “{quote}”",
        "gap": "Asked about {subject} {count} times with {why}. Look it up first, or say what you do not know.",
        "low-confidence": "low confidence",
        "low-retrieval": "little retrieved",
        "unanswered": "questions left open",
        "and": ", ",
        "or": " or ",
        "rejected": "Rejected in {count} responses for: {reason}. Make sure of that before you say it.",
        "impasse": "{count} responses about {subject} got nowhere. Read what is asked once more before you answer.",
    },
    "zh-Hant": {
        "mention": "被問到{subject}時，也要提到{asked}。",
        "corrected": "你在{subject}上被糾正了 {count} 次；最近一次：「{quote}」",
        "corrected-on": "你因為{asked}被糾正了 {count} 次；最近一次：「{quote}」",
        "corrected-alike": "你被類似地糾正了 {count} 次；最近一次：「{quote}」",
        "gap": "被問到{subject} {count} 次，{why}。先查證，或說明你不知道什麼。",
        "low-confidence": "信心低",
        "low-retrieval": "查到的很少",
        "unanswered": "問題沒有回答",
        "and": "、",
        "or": "或",
        "rejected": "有 {count} 個回應因為「{reason}」被退回。說之前先確認。",
        "impasse": "關於{subject}的 {count} 個回應沒有進展。回答前先再讀一次問題。",
    },
    "zh-Hans": {
        "mention": "被问到{subject}时，也要提到{asked}。",
        "corrected": "你在{subject}上被纠正了 {count} 次；最近一次：“{quote}”",
        "corrected-on": "你因为{asked}被纠正了 {count} 次；最近一次：“{quote}”",
        "corrected-alike": "你被类似地纠正了 {count} 次；最近一次：“{quote}”",
        "gap": "被问到{subject} {count} 次，{why}。先查证，或说明你不知道什么。",
        "low-confidence": "信心低",
        "low-retrieval": "查到的很少",
        "unanswered": "问题没有回答",
        "and": "、",
        "or": "或",
        "rejected": "有 {count} 个回复因为“{reason}”被驳回。说之前先确认。",
        "impasse": "关于{subject}的 {count} 个回复没有进展。回答前先再读一次问题。",
    },
}
