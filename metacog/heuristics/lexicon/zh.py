"""Chinese: what the `aware` profile looks for, and the marks of both scripts.

Words stand in the seed's traditional characters; they and the text are folded to simplified ones before they meet
(`shadow.fold`). The expressions stand in simplified characters and see half-width signs, but "。".
"""

MARKS = {
    # The seed's own, letter for letter (seed 000, 行為調節).
    "zh-Hant": {
        "chat": "（⚠️ 我對這個回答不太確定，可能需要更多思考）",
        "remember": "⚠️ [hesitation score={score}]",
        "task": "[needs-review]",
    },
    # The same, transcribed.
    "zh-Hans": {
        "chat": "（⚠️ 我对这个回答不太确定，可能需要更多思考）",
        "remember": "⚠️ [犹豫分数={score}]",
        "task": "[需要复核]",
    },
}

# Seed 000; the last line says the same.
ABSOLUTE = (
    *("一定", "不可能", "顯然", "毫無疑問", "肯定是"),
    *("肯定會", "絕對是", "毋庸置疑", "無庸置疑", "絕無可能"),
    *("必定", "必然會", "必然是", "絕對會", "絕對不會", "絕對沒有", "絕不會", "千真萬確"),
    *("可以肯定的是", "無疑是", "百分之百是"),
)
# Seed 000, then findings on real texts and what reads the same.
HEDGE = (
    *("我不確定", "也許", "可能", "但我不太肯定", "需要確認", "我的理解是"),
    *("似乎", "據說", "應該是", "或許", "大概", "恐怕", "好像", "估計", "看來", "看起來", "我猜", "我認為", "我覺得"),
    *("不太確定", "不確定", "無法確定", "不能確定", "不太肯定", "不敢肯定", "說不定", "疑似", "推測", "未必"),
    *("不一定", "不見得", "不太可能", "不大可能", "據我所知", "就我所知", "有待確認", "尚待查證"),
    *("很難說", "難說", "據傳", "相傳", "傳聞"),
    # What is not settled.
    *("沒有明確答案", "沒有明確的答案", "沒有明確結論", "沒有明確的結論", "沒有定論", "尚無定論"),
    *("沒有確切證據", "沒有確切的證據", "沒有確鑿", "很難確定", "難以確定"),
    *("難以判斷", "說法不一", "眾說紛紜", "有爭議", "因人而異", "僅供參考", "我不清楚"),
    *("尚無確鑿", "我不知道"),
    *("這取決於", "這主要取決於", "一概而論", "並不是絕對", "並非絕對", "沒有絕對", "沒有一個明確"),
)
# Seed 000.
CONCLUSION = ("所以", "因此", "結論", "答案是")
REASONING = ("因為", "考慮到", "另一方面", "但是", "由於", "不過", "然而")
# findings on real texts: a source is a citation, not the word.
CITATION = (
    *("出處", "根據", "來源：", "資料來源", "數據來源", "消息來源", "參考資料", "參考文獻", "參考："),
    *("引自", "摘自", "參見", "出自", "載於", "見於", "據報導", "據報道", "據統計", "據調查", "據官方", "據記載"),
    *("據史料", "據《", "見《", "在《"),
)
# Listed so that what lies in them does not count.
PLAIN = (
    *(
        "一定的",
        "一定程度",
        "一定量",
        "一定數量",
        "一定範圍",
        "一定時間",
        "一定條件",
        "一定比例",
        "一定規模",
        "一定距離",
    ),
    *(
        "一定影響",
        "一定限度",
        "一定區別",
        "一定作用",
        "一定難度",
        "一定風險",
        "一定差異",
        "一定幫助",
        "一定要求",
        "一定能量",
    ),
    *(
        "一定次數",
        "一定意義",
        "一定水平",
        "一定基礎",
        "一定經驗",
        "一定壓力",
        "一定價值",
        "一定成本",
        "一定期限",
        "一定關係",
    ),
    *(
        "有一定",
        "具備一定",
        "存在一定",
        "達到一定",
        "需要一定",
        "造成一定",
        "帶來一定",
        "起到一定",
        "產生一定",
        "受到一定",
        "某一定",
    ),
    *("盡可能", "儘可能", "只可能", "可能性", "可能的話", "之所以", "所以然", "好像素", "看來源"),
    *("下結論", "無可能", "根據地", "大概念", "大概率", "不確定性", "最不可能", "不可能性", "百分之百", "沒有爭議"),
    *("如果你不確定", "如果您不確定", "若不確定"),
    # Advice and wishes claim nothing; "thereby" concludes nothing.
    *("一定要", "請一定", "請您一定", "會因此", "將因此", "能因此", "要因此"),
)
NEGATED = (
    r"(?:[不未非无没]|未必|并非|没有|无法|难以|不见得|谈不上|说不上|称不上|不知)(?:是|会|就|都|能|很|那么|太|到|说|有)?"
    r"|(?:几乎|近乎|差不多|看似|似乎|好像|也许|或许|可能|恐怕)(?:是|就)?"
    r"|(?:[不没]|无法)(?:能|是|可以|敢|好)?(?:代表|意味|表示|说|保证|确保|确定|等于|认为)[^,。;!?\s]{0,16}|没有[^,。;!?\s]{1,4}|期望"
    r"|(?:没有(?:任何|哪|一)|不可能|不存在|缺[乏少]|尚未)[^,。;!?\s]{0,8}"
    r"|(?:不能|无法|不可)[^,。;!?\s]{0,20}(?:保证|确保|确定)[^,。;!?\s]{0,8}"
    r"|(?:是否|是不是|会不会|能不能|有没有)[^,。;!?\s]{0,6}"
)
# What stands before a claim, and then behind it, in a sentence that speaks of it as somebody's mistake.
MISTAKEN = (
    r"(?:说|认为|以为|声称|宣称|相信)",
    r"(?:(?:是|并)(?:不(?:准确|正确|对|科学|成立|可靠|客观|真实)|错误|片面|没有(?:科学)?(?:根据|依据)|误解|谣言)"
    r"|(?:说法|观点|想法|看法)(?:是错|不对|不准确|不正确|不成立|没有))",
)
# Such a word where it means "a certain".
MANNER = r"一定(?:情况|时期|阶段|环境|区域|地区|场合|前提|标准|规则|顺序)"
# What a figure is supposed to be is not claimed: it stands in the clause of a condition or an assumption.
SUPPOSED = r"(?:如果|假设|假如|假定|假使|倘若|要是|若是|比方说)"
CONCLUDED = r"那么|就会|就能|就可|就要|就是|则|将会|[你您他她它]会|会(?:看|发|得)"
# Letters at the end of a question that has no mark.
ASKING = "吗"
NOT_CITED = (
    r".{0,3}?(?:自己|个人|您|你|我|需要|需求|要求|情况|具体|实际|兴趣|不同|经验|上述|以上|自身|喜好|这些|这个|上下文)"
    r"|不明|不详|未知|何在|是什么"
    # A book is cited by what stands in it: 在《史记》中, not 在《明报》连载.
    r"|(?<=在《)[^《》\n]{1,40}》(?!中|里|一书|一文)"
)
# Facts that ask for a source (type `no-source` of seed 000). What makes a number a figure, and what a date:
UNITS = (
    r"[多余]?\s?(?:[万亿]|千米|公里|公斤|公尺|公顷|平方|米|吨|美元|欧元|日元|元|人|名|位|岁|倍|度|摄氏|个百分点|分之"
    r"|千克|毫克|公克|毫升|公升|大卡|千卡|卡路里|英里|英尺|海里|光年)"
    r"|(?:(?<=[0-9]{3})|(?<=[0-9]{3}\s))[多余]\s?年"
)
NOT_FIGURE = r"\s?%\s?的?(?:确定|肯定|把握)"
TOTAL = r"(?:共|总|合计|加起来)"
AS_OF = r"(?:截至|截止到?|至今\s?\(|目前\s?\()\s?"
BEFORE_YEAR = r"(?:公元|西元)(?:前)?\s*"
MONTHS = ()
ATTRIBUTION = (
    *("研究顯示", "研究表明", "研究指出", "研究發現", "專家認為", "專家表示", "專家指出", "科學家認為", "科學家發現"),
    *("調查顯示", "統計顯示", "數據顯示", "眾所周知", "科學證明", "百分之"),
)
REPORTING = ("曾說", "曾說過", "曾指出", "曾表示", "宣稱", "聲稱", "發明了")
# It opens its clause, or follows what somebody is, and holds no word of grammar.
NAME = (
    r"(?:(?<![一-鿿0-9])|(?<=[人家师者由]))"
    r"(?:(?![的地得了着在是有些不没我你您他她它们这那此其人者也都就还又而且])[一-鿿·]){2,6}"
)
_PLEASE = r"(?:请|麻烦|帮我|给我|为我|能不能|可以|你)*"
# How somebody begins who asks for something made up.
MADE_UP = _PLEASE + (
    r"(?:(?:想象|假设|假如|虚构|编造)|[^。!?,\n]{0,24}菜(?:怎么|如何|要怎么|应该怎么)(?:做|煮|烧)|(?:编|续?写|创作|构思|设计|模拟|生成|讲|说)(?!的|过|于|师)[^。!?,\n]{0,24}"
    r"(?:故事|小说|诗|歌词|剧本|台词|对白|对话|笑话|段子|场景|预算|食谱|菜谱|收据|发票|广告|童话|寓言|应用题"
    r"|测试数据|示例数据))"
)
# How somebody begins who asks for words of their own, or to compare with.
COMPOSED = _PLEASE + (
    r"(?:(?:写|编|创作|构思|设计|拟|想|发)(?!的|过|于)[^。!?,\n]{0,24}"
    r"(?:朋友圈|文案|标语|口号|推文|微博|帖子|比喻|类比|句子)|造[^。!?,\n]{0,6}句|用[^。!?,\n]{1,24}造)"
)
# What stands before a quotation that somebody is made to say, and when it is no claim about anybody.
# A colon opens what is said; without one, words are spoken of (会说“你好”, 表示“吃饭”的意思) as often as somebody.
QUOTING = (
    r"(?:(?:说|道|云|曰|表示|指出|名言是?):\s?"
    r"|(?:(?<![小传学据听来于么欢会能向别们就])说|写道|(?<![白阿乌])云|曰|指出|(?<![以来常般于多字\"”」])表示|名言)(?:是)?,?\s?)"
)
NOT_QUOTING = r"[你您我们][^。!?\n]{0,8}|(?:用户|说明|文档|错误|日志)[^。!?\n]{0,8}"
