"""How an agent says that it is stuck, how a user asks it to think twice, and how it is asked back.

SEED is letter for letter seed 002, "Detection Keywords". AWARE adds to it, by signal: the uncontracted forms, and what
agents' transcripts say instead; then the same in traditional and in simplified Chinese. All of AWARE is folded.
"""

SEED = {
    "exhaustion": (
        "I've tried everything",
        "I'm out of ideas",
        "I don't know what else to try",
        "I'm stuck",
        "I can't figure out",
        "This is puzzling",
        "I'm at a loss",
    ),
    "uncertainty": (
        "I'm not sure why",
        "This should work but",
        "I don't understand why",
        "For some reason",
        "Strangely",
        "Unexpectedly",
        "I would have expected",
        "This is confusing",
    ),
    "scope-creep": (
        "Let me try a completely different approach",
        "Let's start over",
        "Maybe we should try something else entirely",
        "I'm going to take a step back",
        "Let me rethink this",
    ),
}

# "I am completely out of ideas."
_DEGREES = ("", "really ", "completely ", "totally ", "entirely ", "truly ", "quite ", "still ", "just ", "now ")
_AT_AN_END = tuple(
    f"{who} {degree}{how}"
    for who, states in (
        *((who, ("stuck", "out of ideas", "at a loss")) for who in ("i'm", "i am")),
        *((who, ("stuck", "out of ideas")) for who in ("we're", "we are")),
    )
    for degree in _DEGREES
    for how in states
)

# "This should work but": where it is, what follows must be a failure, see `GOES_ON`.
_SHOULD_WORK = tuple(
    f"{how}{but}"
    for how in (
        *("應該可以", "應該能行", "應該可行", "應該行得通", "應該沒問題", "應該會成功", "應該能用", "應該會過"),
        *("应该可以", "应该能行", "应该可行", "应该行得通", "应该没问题", "应该会成功", "应该能用", "应该会过"),
    )
    for but in ("，但", ",但", "但", "，可是", "，然而")
)

AWARE = {
    "exhaustion": (
        *_AT_AN_END,
        "i've tried everything",
        "i have tried everything",
        "i've exhausted",
        "i have exhausted",
        "we've exhausted",
        "we have exhausted",
        "i've run out of ideas",
        "i have run out of ideas",
        "i don't know what else to try",
        "i do not know what else to try",
        "i don't know what else i can try",
        "i do not know what else i can try",
        "i don't know what else i could try",
        "i do not know what else i could try",
        "not sure what else to try",
        "i can't figure out",
        "i cannot figure out",
        "i can't seem to figure out",
        "this is puzzling",
        "i'm puzzled",
        "nothing i try works",
        "nothing i've tried works",
        "nothing i try helps",
        "nothing i try makes",
        "nothing i've tried helps",
        "nothing i've tried has worked",
        "nothing i've tried has helped",
        "nothing seems to work",
        "我卡住了",
        "我又卡住了",
        "我真的卡住了",
        "我完全卡住了",
        "我還是卡住了",
        "我还是卡住了",
        "我們卡住了",
        "我们卡住了",
        "我想不出",
        "想不到其他辦法",
        "想不到其他办法",
        "想不出其他",
        "什麼方法都試過",
        "什么方法都试过",
        "所有方法都試過",
        "所有方法都试过",
        "試過所有方法",
        "试过所有方法",
        "試過了所有",
        "试过了所有",
        "能試的都試了",
        "能试的都试了",
        "不知道還能怎麼",
        "不知道还能怎么",
        "不知道還能試",
        "不知道还能试",
        "無計可施",
        "无计可施",
        "束手無策",
        "束手无策",
        "我沒轍",
        "我没辙",
        "毫無頭緒",
        "毫无头绪",
        "我沒有頭緒",
        "我没有头绪",
        "我沒頭緒",
        "我没头绪",
        "我卡在這",
        "我卡在这",
        "百思不得其解",
        "i ran out of ideas",
        "i have no more ideas",
        "i'm running out of ideas",
        "i'm running out of options",
        "i've run out of options",
        "i'm out of options",
        "i have no idea what else",
        "i don't know how to proceed",
        "我沒招了",
        "我没招了",
        "想不出辦法",
        "想不出办法",
        "黔驢技窮",
        "黔驴技穷",
        "走投無路",
        "走投无路",
        "不知道還能做什麼",
        "不知道还能做什么",
        "不知道該怎麼辦",
        "不知道该怎么办",
        "都試過了，還是",
        "都试过了，还是",
        "i'm at my wits' end",
        "i've hit a wall",
        "i have hit a wall",
        "沒有別的辦法",
        "没有别的办法",
        "沒有其他辦法",
        "没有其他办法",
        "想不到別的",
        "想不到别的",
        "實在沒招",
        "实在没招",
        "實在沒轍",
        "实在没辙",
        "完全沒有頭緒",
        "完全没有头绪",
        "一點頭緒都沒有",
        "一点头绪都没有",
        "完全沒頭緒",
        "完全没头绪",
        "還是搞不定",
        "还是搞不定",
        "怎麼都搞不定",
        "怎么都搞不定",
        "怎麼試都不行",
        "怎么试都不行",
        "怎麼改都不行",
        "怎么改都不行",
        "試了各種方法",
        "试了各种方法",
        "試遍所有",
        "试遍所有",
        "試遍了所有",
        "试遍了所有",
        "真令人費解",
        "真令人费解",
        "真是令人費解",
        "真是令人费解",
        "這令人費解",
        "这令人费解",
        "這很令人費解",
        "这很令人费解",
        "我沒辦法了",
        "我没办法了",
        "我真的沒辦法了",
        "我真的没办法了",
        "我實在沒辦法了",
        "我实在没办法了",
        "我完全沒辦法了",
        "我完全没办法了",
        "我已經沒辦法了",
        "我已经没办法了",
        "我也沒辦法了",
        "我也没办法了",
        "我沒有辦法了",
        "我没有办法了",
        "我真的沒有辦法了",
        "我真的没有办法了",
        "我實在沒有辦法了",
        "我实在没有办法了",
        "該試的我都試",
        "该试的我都试",
        "該試的都試",
        "该试的都试",
        "能試的我都試",
        "能试的我都试",
        "能試的都試過",
        "能试的都试过",
    ),
    "uncertainty": (
        "i'm not sure why",
        "i am not sure why",
        "this should work but",
        "this should work, but",
        "that should have worked",
        "this should have worked",
        "i don't understand why",
        "i do not understand why",
        "i don't know why",
        "not clear to me why",
        "unclear to me why",
        "i have no idea why",
        "for some reason",
        "strangely,",
        "oddly,",
        "weirdly,",
        "unexpectedly,",
        "i would have expected",
        "i'd have expected",
        "this is confusing",
        "i'm confused",
        "不確定為什麼",
        "不確定為何",
        "不确定为什么",
        "不确定为何",
        "不知道為什麼",
        "不知道为什么",
        "不知為何",
        "不知为何",
        "不明白為什麼",
        "不明白为什么",
        "不明白為何",
        "不明白为何",
        "不清楚為什麼",
        "不清楚为什么",
        "不清楚為何",
        "不清楚为何",
        "沒搞懂為什麼",
        "没搞懂为什么",
        "沒弄懂為什麼",
        "没弄懂为什么",
        "沒想通為什麼",
        "没想通为什么",
        "沒弄明白為什麼",
        "没弄明白为什么",
        "不理解為什麼",
        "不理解为什么",
        "搞不懂為什麼",
        "搞不懂为什么",
        "奇怪的是",
        "按理說應該",
        "按理说应该",
        "照理說應該",
        "照理说应该",
        "理論上應該可以",
        "理论上应该可以",
        "出乎意料的是",
        "這讓我困惑",
        "这让我困惑",
        "我很困惑",
        "i can't explain why",
        "i cannot explain why",
        "i'm baffled",
        "i am baffled",
        "照理應該",
        "照理应该",
        "莫名其妙地",
        "奇怪，",
        "看不懂為什麼",
        "看不懂为什么",
        "想不通為什麼",
        "想不通为什么",
        "出乎意料地",
        "i have no clue why",
        "no idea why it",
        "no idea why this",
        "no idea why the",
        "idk why",
        "this makes no sense",
        "this doesn't make sense",
        "this does not make sense",
        "weirdly enough,",
        "strangely enough,",
        "oddly enough,",
        "出乎意料，",
        "意外的是",
        "莫名其妙，",
        "我本來以為",
        "我本来以为",
        "我本以為",
        "我本以为",
        "我原以為",
        "我原以为",
        "我原本以為",
        "我原本以为",
        "我原本預期會",
        "我原本预期会",
        "我原本預期是",
        "我原本预期是",
        "這令人困惑",
        "这令人困惑",
        "這很令人困惑",
        "这很令人困惑",
        "真令人困惑",
        "真是令人困惑",
        "這很奇怪",
        "这很奇怪",
        "說不通啊",
        "说不通啊",
        "這說不通",
        "这说不通",
        "這不合理",
        "这不合理",
        "這沒道理",
        "这没道理",
        "我不懂為什麼",
        "我不懂为什么",
        "我不懂為何",
        "我不懂为何",
        "我也不懂為什麼",
        "我也不懂为什么",
        "我還是不懂為什麼",
        "我还是不懂为什么",
        "我真的不懂為什麼",
        "我真的不懂为什么",
        "我實在不懂為什麼",
        "我实在不懂为什么",
        "我完全不懂為什麼",
        "我完全不懂为什么",
        *_SHOULD_WORK,
    ),
    "scope-creep": (
        "let me try a completely different approach",
        "i'll try a completely different approach",
        "let's try a completely different approach",
        "let me try an entirely different approach",
        "let me try a totally different approach",
        "let's start over",
        "let me start over",
        "let me start from scratch",
        "let's start from scratch",
        "maybe we should try something else entirely",
        "i'm going to take a step back",
        "let me take a step back",
        "let's take a step back",
        "let me step back",
        "let me rethink this",
        "let me rethink the",
        "換一個完全不同的",
        "换一个完全不同的",
        "換個完全不同的",
        "换个完全不同的",
        "完全換一個思路",
        "完全换一个思路",
        "完全換個思路",
        "完全换个思路",
        "讓我們從頭開始",
        "让我们从头开始",
        "讓我從頭開始",
        "让我从头开始",
        "我們從頭來過",
        "我们从头来过",
        "讓我重新思考",
        "让我重新思考",
        "讓我重新想",
        "让我重新想",
        "讓我退一步",
        "让我退一步",
        "我們退一步",
        "我们退一步",
        "let's try something entirely different",
        "let's try something completely different",
        "let me try something entirely different",
        "let me try something completely different",
        "let me try another approach entirely",
        "我換個思路",
        "我换个思路",
        "我換一個思路",
        "我换一个思路",
        "我換一種思路",
        "我换一种思路",
        "我們換個思路",
        "我们换个思路",
        "我們換一個思路",
        "我们换一个思路",
        "我們換一種思路",
        "我们换一种思路",
        "換一種完全不同",
        "换一种完全不同",
        "推倒重來",
        "推倒重来",
        "我退一步",
        "重新開始吧",
        "重新开始吧",
        "i'll start from scratch",
        "i will start from scratch",
        "i'll start over",
        "從頭再來吧",
        "从头再来吧",
        "我們從頭再來",
        "我们从头再来",
        "讓我從頭再來",
        "让我从头再来",
        "我先退一步",
        "換一個全新的",
        "换一个全新的",
        "換個全新的",
        "换个全新的",
        "試試完全不同",
        "试试完全不同",
        "嘗試完全不同",
        "尝试完全不同",
        "我得重新思考",
        "我需要重新思考",
        "我們應該試試別的",
        "我们应该试试别的",
        "我們該試試別的",
        "我们该试试别的",
        "我應該試試別的",
        "我应该试试别的",
        "我該試試別的",
        "我该试试别的",
        "或許該試試別的",
        "或许该试试别的",
        "也許該試試別的",
        "也许该试试别的",
        "或許應該試試別的",
        "或许应该试试别的",
        "也許應該試試別的",
        "也许应该试试别的",
    ),
}

# What stands before or behind such a phrase, in its clause, where it is not meant of here and now.
NOT_MEANT_BEFORE = (
    "if",
    "when",
    "whenever",
    "until",
    "unless",
    "in case",
    "whether",
    "before",
    "not that",
    "never say",
    "who",
    "如果",
    "若",
    "假如",
    "萬一",
    "万一",
    "除非",
    "直到",
    "並不是",
    "并不是",
    "不是",
    "你是不是",
    "我知道你",
    "你可能",
    "您可能",
)
# Who stands right before a Chinese phrase without "I" is stuck instead.
SOMEBODY = (
    r"(?:(?<!其)[他她它](?:們|们)?|[你您](?:們|们)?|用戶|用户|使用者|客戶|客户|有人|大家|很多人|許多人|许多人)"
    r"(?:也|還|还|都|又|可能|一定|並|并)?$"
)
# Whose words they are that follow: "the user writes: I'm stuck".
SAID_BY = (
    r"(?:\b(?:users?|customers?|clients?|reporter|somebody|someone|people|he|she|they) (?:also |then |just )?"
    r"(?:writes?|wrote|says?|said|reports?|reported|complain(?:s|ed)?|asks?|asked|told (?:me|us))(?: that)?"
    r"|(?:用戶|用户|使用者|客戶|客户|有人|[他她](?:們|们)?)(?:說|说|寫道|写道|表示|回報|反饋|反馈|抱怨))\s?[:：,，]?\s*\Z"
)
# Idioms that are said of anybody: the agent's own where it says so, or where nobody is named (警方束手無策).
IDIOMS = (
    *("無計可施", "无计可施", "束手無策", "束手无策", "黔驢技窮", "黔驴技穷", "走投無路", "走投无路"),
    *("毫無頭緒", "毫无头绪", "百思不得其解"),
)
OWN_BEFORE = (
    r"[^我咱]*[我咱].*|(?:(?:對於?|对于?|面對|面对)[這这那][^我咱]{0,12}"
    r"|但是?|可是|然而|所以|因此|結果|结果|目前|現在|现在|暫時|暂时|一時|一时|已經?|已经|真的?|真是|實在|实在|完全"
    r"|幾乎|几乎|徹底|彻底|仍然?|依然|還是|还是|也|都|就|有點|有点|感到|對此|对此|\s)*+"
)
# Right before a Chinese phrase: 我還沒有試過所有方法.
DENIED = r"(?:沒有?|没有?|尚未|並未|并未|並非|并非)$"
NOT_CLAIMED = r"(?:\bnot|n't) (?:saying|claiming|suggesting|implying)(?: that)? \Z"
# Right behind a phrase, what makes another of it: 我沒辦法了解, 應該可以，但請先備份, 試試別的餐廳, "start over here".
GOES_ON = (
    r"(?<=start over) (?:here|there)\b|(?<=[辦办]法了)[解斷断結结]"
    r"|(?<=[試试][別别]的)(?=[一-鿿])(?!方[法式案向]|做法|[辦办]法|思路|路|[東东]西|途[徑径]|了|吧|啦)"
    r"|(?:(?<=[以行通題题功用過过][,，]但)|(?<=[以行通題题功用過过]但)|(?<=[,，](?:可是|然而)))"
    r"(?!是?(?:(?!在(?![這这]))[^,，。.!！?？;；\n]){0,8}?(?:不(?:行|通|[對对]|工作|起作用|成功)|[沒没](?:用|效|反[應应]|成功|[過过]|有[^,，。\n]{0,4}"
    r"(?:用|效|反[應应]|成功|通[過过]))|失[敗败]|[報报][錯错]|出[錯错]|[錯错][誤误]|[無无]效|崩[潰溃]|卡住))"
)
# "This is confusing for newcomers": not for the one who says it. "This should work, but only on Linux" says where.
FOR_OTHERS = r" (?:for|to) (?!(?:me|us)\b)| (?:only|not (?:on|in|for|with))\b"
# What somebody is stuck with stays as it is, but for what is wrong: the old API, not this bug.
STUCK_WITH = (
    r" with (?:the|an?|our|my|your|these|those) (?![^.,;!?\n]{0,32}\b(?:bugs?|errors?|problems?|issues?|tests?"
    r"|failures?|exceptions?|crash(?:es)?|questions?|task|idea|mess)\b)"
)
# "Weirdly," says it of what follows only where it opens its clause: not in "it behaves weirdly, but" or 他很奇怪，.
TO_OPEN_A_CLAUSE = (",", "怪，")
OPENS_A_CLAUSE = (
    *("", "and", "but", "so", "yet", "then", "now", "very", "quite", "rather"),
    *("真", "很", "好", "真是", "但", "但很", "可是", "這很", "这很", "這真", "这真", "這就", "这就", "咦", "嗯"),
)
NOT_MEANT_BEHIND = ("except", "yet?", "的話", "的话", "之前", "的人", "的用戶", "的用户", "的使用者")
# In the same sentence: what is done then is a plan.
CONDITION = ("if", "in case", "如果", "要是", "萬一", "万一", "假如")
# A new approach for which a reason is given is no scope creep (seed 002: "without clear rationale").
RATIONALE = (
    "because",
    "since",
    "given that",
    "now that",
    "as the",
    "so that",
    "the reason",
    "因為",
    "因为",
    "由於",
    "由于",
    "既然",
    "理由是",
)

LABELS = {
    "en": {
        "repeated-approach": "Repeated identical approach: tried {count} times",
        "repeated-command": "Repeated identical command: run {count} times",
        "circular-reasoning": "Circular reasoning: repeats a passage of its own failed step {step}",
        "error-loop": "Error loop: same error {count} times",
        "exhaustion": "Exhaustion: “{words}”",
        "uncertainty": "Uncertainty: “{words}”",
        "scope-creep": "Scope creep: “{words}”",
        "stale-context": "Stale context: {percent}% of the context window in use",
        "no-commits": "No commits: {minutes} minutes of work since the last one",
        "test-regression": "Test regression: {passed} tests pass, {best} did",
    },
    "zh-Hant": {
        "repeated-approach": "重複相同做法：已試 {count} 次",
        "repeated-command": "重複相同指令：已執行 {count} 次",
        "circular-reasoning": "循環推理：重複了第 {step} 步失敗時自己說過的內容",
        "error-loop": "錯誤迴圈：同一個錯誤出現 {count} 次",
        "exhaustion": "無計可施：「{words}」",
        "uncertainty": "不確定：「{words}」",
        "scope-creep": "方向飄移：「{words}」",
        "stale-context": "上下文將滿：已用 {percent}%",
        "no-commits": "沒有提交：距上次提交已工作 {minutes} 分鐘",
        "test-regression": "測試倒退：{passed} 個通過，先前有 {best} 個",
    },
    "zh-Hans": {
        "repeated-approach": "重复相同做法：已试 {count} 次",
        "repeated-command": "重复相同指令：已执行 {count} 次",
        "circular-reasoning": "循环推理：重复了第 {step} 步失败时自己说过的内容",
        "error-loop": "错误循环：同一个错误出现 {count} 次",
        "exhaustion": "无计可施：“{words}”",
        "uncertainty": "不确定：“{words}”",
        "scope-creep": "方向飘移：“{words}”",
        "stale-context": "上下文将满：已用 {percent}%",
        "no-commits": "没有提交：距上次提交已工作 {minutes} 分钟",
        "test-regression": "测试倒退：{passed} 个通过，先前有 {best} 个",
    },
}
# What the wire says of each, the contract's "same error 3 times".
DETAILS = {
    "repeated-approach": "same approach {count} times",
    "repeated-command": "same command {count} times",
    "circular-reasoning": "repeats a passage of failed step {step}",
    "error-loop": "same error {count} times",
    "exhaustion": 'says "{words}"',
    "uncertainty": 'says "{words}"',
    "scope-creep": 'says "{words}"',
    "stale-context": "{percent}% of the context window in use",
    "no-commits": "no commit in {minutes} minutes of work",
    "test-regression": "{passed} tests pass, {best} did",
}

# Seed 002, "Suggested Prompt", letter for letter (its line ends in a blank); the others translate it.
PROMPTS = {
    "en": "I'm detecting signs we might be stuck on this problem:\n{signals}\n\n"
    "Would you like me to **Think Twice**? I'll distill the problem into a \n"
    "comprehensive brief and consult a fresh sub-agent for a different perspective.",
    "zh-Hant": "我察覺到我們可能卡在這個問題上：\n{signals}\n\n"
    "要我**再想一次**嗎？我會把問題整理成一份完整的簡報，請一個全新的子代理從不同角度來看。",
    "zh-Hans": "我察觉到我们可能卡在这个问题上：\n{signals}\n\n"
    "要我**再想一次**吗？我会把问题整理成一份完整的简报，请一个全新的子代理从不同角度来看。",
}

# A clause asks to think twice when it is nothing but this, what may lead to it, and what may follow.
_CLOSELY = r"(?:仔細|仔细|好好|認真|认真|用心|慢慢|重新)?地?"
_TWICE = r"think(?: +|-| *\r?\n *)twice"
THINK_TWICE = (
    rf"{_TWICE}|ｔｈｉｎｋ[ \u3000]+ｔｗｉｃｅ"
    r"|think about (?:this|it|that)(?: carefully)? (?:once more|again)|re-?think|reconsider"
    r"|think (?:(?:this|it|that|things) (?:over|through)(?: carefully)? )?(?:once more|again)"
    r"|(?:have another|have a second) think|give (?:this|it|that) (?:a second|another|some more) (?:thought|think)"
    r"|have (?:another|a second) think about (?:this|it|that)"
    rf"|再{_CLOSELY}(?:想想|想一想|想一次|想一遍|想一下|想清楚|思考一次|思考一下|思考一遍|考慮一下|考虑一下|考慮考慮|考虑考虑"
    r"|考慮一次|考虑一次|琢磨一下|琢磨琢磨|斟酌一下|斟酌斟酌)"
    r"|重新(?:思考|考慮|考虑|想想|想一想|想一遍|想一次|想過|想过|想一下)|再三思考|三思"
    # To look at it again, but at what one thought, not at the files.
    rf"|(?:再|重新){_CLOSELY}(?:檢視|检视|審視|审视|檢查|检查|推敲|檢討|检讨)(?:一[次遍下])?"
    r"(?=(?:你|您)?的?(?:想法|思路|結論|结论|推理|邏輯|逻辑|判斷|判断|假設|假设))"
)
# One of these stands in each of them.
IN_THINK_TWICE = ("think", "ｔｈｉｎｋ", "reconsider", "thought", "再", "重新", "三思")
_EMOJI = "[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d]"
LEADS = (
    rf"(?:{_EMOJI}|"
    r"please|pls|ok|okay|now|so|hey|hmm|wait|stop|yes|well|just|let's|lets|let us|can you|could you|would you"
    r"|why don't you|why don't we|why not|we (?=should|need|must|have to|had better|better)|i think|i said|go ahead"
    r"|will you|can we|could we|you|should|need to|must|have to|had better|better|i want you to|i'd like you to"
    r"|i(?:'m| am) (?:asking|telling) you to|i ask you to|i told you to"
    r"|i would like you to|i need you to|i asked you to|try to|maybe|perhaps|really|and|then|but|go and|go|do a|do|try"
    r"|it's time to|time to|(?:take a )?step back|stop and|slow down|use|run|invoke|start|trigger|kuro|claude|agent"
    r"|@[\w.-]+|#|/|\*+|"
    r"我(?:[覺觉]得|[認认][為为])(?=[你您])|(?:我?[想要]|[我還还懇恳敬])?[請请]你?您?|我叫[你您]|不如|要不(?!要)"
    r"|[還还希]?望(?=[你您三])|麻煩你?您?|麻烦你?您?|拜託|拜托|幫我|帮我|給我|给我|你們?|你们|您|我?要你|我?想要你|我?希望你|那就?"
    r"|(?:換|换)[個个種种](?:角度|思路|方向|方式|立場|立场)(?:來|来)?|冷靜(?:一下|點)?|冷静(?:一下|点)?|停下來|停下来"
    r"|先|好的?|可以|能不能|能否|能|要不要|可不可以|可否|應該|应该|最好|還是|还是|停|等等|務必|务必|要|得)\s*"
)
_THE_MATTER = (
    r"(?![^\n]* (?:is|was) what \w+ (?:said|says?|told|wrote)\b)"
    r"(?:(?:it|this|that|these|those)\b(?! (?:is|was|are|were|means|meant|sounds)\b)"
    r"|(?:the|your|my|our|why|how|what|whether)\b|[^\s\d]*\d)"  # or bug-17
)
# What the agent thought of: a user who wants the refund reconsidered asks for a refund.
_THOUGHT = (
    r"(?:it|this|that|everything|(?:the|this) whole thing)\b"
    r"|(?:your|the|this|that|our)(?: \w+){0,2}? (?:approach|plan|answer|solution|conclusion|idea|design|strategy"
    r"|reasoning|assumptions?|logic|thinking|response|fix|diagnosis)\b[^\n]{0,40}"
    r"|(?:你|您)?的?(?:想法|思路|結論|结论|推理|邏輯|逻辑|判斷|判断|假設|假设|方案|做法|方法|答案|回答)[^\n]{0,20}"
)
_ANSWERING = r"(?:you )?(?:answer|answering|reply|replying|respond|responding)\b"
TAILS = (
    rf"(?:{_EMOJI}|"
    r"then (?:answer|reply|respond|tell|try|go|continue|proceed|decide|act|write|say|give|fix)\b[^\n]{0,60}"
    r"|please|pls|now|again|here|first|harder|this time|for me|for us|okay|ok|then|mode|\*+"
    rf"|(?:about|on|with|over) {_THE_MATTER}[^\n]{{0,60}}"
    rf"|before {_ANSWERING}[^\n]{{0,60}}|(?:and|because|since)\b[^\n]{{0,60}}|{_THOUGHT}|"
    r"吧|啊|呀|呢|嗎|吗|喔|哦|看|看看|一下|好嗎|好吗|行嗎|行吗|可以嗎|可以吗|再(?:說|说|回答|做|動手|动手)"
    r"|(?:這|这|那|怎|辦法|办法|有沒有|有没有|清楚|別的|别的)[^\n]{0,20})\s*"
)
# Clauses that go on behind it as advice for later, or as the idiom.
NOT_ASKED = rf"{_TWICE} before(?! {_ANSWERING})|三思而"
# A colon behind these sets words apart that nobody says: they are to be translated, printed or explained.
MENTIONED = (
    r"(?:translate|translation|spell|print|type|echo|title|button|label|caption|lyrics|phrase|idiom|sentence|words?"
    r"|翻譯|翻译|翻成|譯成|译成|英文|改成|改為|改为|顯示|显示|印出|按鈕|按钮|標題|标题|歌名|片名|造句|例句|成語|成语|意思)"
    r"[^\n。.!?！？]{0,24}[:：]\s*\Z"
)

# What numbers in capitals behind a name count, where others say which error it is (TS2304).
COUNTERS = (
    r"(?:REQ|ID|JOB|TASK|PID|TID|RUN|TRACE|ORDER|TXN?|BUILD|WORKER|NODE|POD|HOST|PORT|LINE|ROW|UID|USER|CONN|PR)"
    r"[-_]?\d"
)
# What stands before the number of an error.
CODES = (
    r"\b(?:http(?:/[12](?:\.[01])?)?|status(?: code)?|exit(?:ed)?(?: with)?(?: code| status)?|error code|code|errno"
    r"|winerror|signal|sqlstate|error(?= \(?\d{2,5}\b))"
    r"|退出[码碼]|结束代码|結束代碼|狀態[码碼]|状态码|(?:错误|錯誤)(?:代?[码碼号號])|返回[码碼]|回傳碼|代[码碼]|[信訊]号|訊號"
)
# Commands that run tests: to run them again while they pass is no loop.
RUNS_TESTS = (
    r"\b(?:py\.?test|unittest|nosetests|tox|nox|jest|vitest|mocha|karma|playwright test|cypress run|rspec|phpunit|ctest"
    r"|(?:npm|yarn|pnpm|bun|go|cargo|mvn|gradlew?|dotnet|swift|mix|make|rake|bazel|sbt|flutter|dart|deno|manage\.py)"
    r"(?: run)?(?: -\S+)* tests?)\b"
)
# Commands that wait for something, or ask whether it is there yet: to ask again is no loop.
WAITS = (
    r"(?:^|[;&|(]\s*|\bdo\s+)(?:sleep|watch|wait|until)\b|\s--(?:wait|watch|follow)\b|\btail\s+-[a-z0-9 ]*f\b"
    r"|\bkubectl\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)?(?:get|wait|top|rollout\s+status)\b"
    r"|\bgh\s+(?:run\s+(?:view|list|watch)|pr\s+(?:checks|status))\b|\bdocker(?:\s+compose)?\s+ps\b"
    r"|\bsystemctl\s+(?:status|is-active)\b|\b(?:squeue|sacct|nvidia-smi|pg_isready)\b"
    r"|\b(?:curl|wget|http)\b[^;&|]{0,120}(?:healthz?|ready|readyz|livez|alive|status|\bping)\b(?!=)"
)
