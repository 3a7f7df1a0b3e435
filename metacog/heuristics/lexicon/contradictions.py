"""What turns a statement round, what softens it, and what sets it in another time.

Ours; the kinds are those that surface features can find of de Marneffe, Rafferty and Manning, "Finding Contradictions
in Text" (2008): negation, antonymy, numbers. English words are folded; Chinese is in simplified characters, as
`shadow.fold` gives it.
"""


def _pairs(listed: str) -> tuple[tuple[str, str], ...]:
    return tuple((one, other) for one, _, other in (pair.partition("/") for pair in listed.split()))


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# "No, it is B" and "it is B, not A" say that it is B.
ANSWER = r"^(?:yes|no|nope|right|是的?|不是?的?|没有|对|不对|并非)(?:,\s*|\s+(?=it\b))(?=\S)"
# How somebody who looked again begins, before what is so.
LEAD_IN = (
    r"^on (?:reflection|(?:a )?(?:second|closer) (?:look|inspection))\s+(?=\w)"
    r"|^(?:on (?:reflection|(?:a )?(?:second|closer) (?:look|inspection))|looking (?:at it )?again"
    r"|i (?:have )?(?:looked|checked)(?: it)?(?: again)?|after checking|having checked|correction|actually|in fact"
    r"|i (?:have )?(?:double-?checked|re-?checked|verified|re-?read)(?: it| this)?"
    r"|更正|订正|其实|事实上|经查|查证后"
    r"|我?(?:刚刚?|已经?)?(?:重新|再|又)(?:去)?(?:检查|查|看|确认|核对|核实|算|读)(?:过|了)?(?:一次|一遍)?(?:后|之后)?)\s*[:,]\s*(?=\S)"
)
CONTRAST = (
    r",\s*(?:and )?not\b[^,.;]*(?=[.!]?$)|\bnot\b[^,.;]{1,60},?\s+but\s+(?!also\b)"
    r"|,?(?:而非|而不是)[^,。;]*(?=[。!]?$)|,(?:并非|并?不[是在])[^,。;]*(?=[。!]?$)|(?:并非|并?不[是在])[^,。;]*,而(?=[是在])"
)
# "It is B, not A" and "it is not A but B" deny A as well: what is said of it, and A.
DENIES_ONE = (
    r"^(.*\b(?:is|are|was|were)) .*,\s*(?:and )?not ([^,;]+?)[.!]?$",
    r"^(.*\b(?:is|are|was|were)) not ([^,;]{1,60}?),?\s+but\s+(?!also\b).*",
    r"^([^,;]*?)(?<![不只也还都])是[^,;]*,(?:并)?不是([^,;]+?)[。!]?$",
    r"^([^,;]*?)(?:并)?不是([^,;]+?),?而是.*",
)
# Parts one sentence in two statements: "…, but it is late", …，不過不常去.
BUT = r",\s*(?:but\b|不过|但|然而|可是)"
# The first clause states what it states, whatever follows it, unless that turns or limits it; before a reason
# (`why`) it does in any case.
HEAD = (
    r"^(?P<zh>(?!如果|若|除非|当|只要|只有|虽然|尽管|即使|就算|因为|由于|既然|为了|一旦|无论|不管|不但|不仅|除了|不是)"
    r"(?=[^,;:?]{0,60}[\u3400-\u9fff])[^,;:?]{5,60}(?<![时后前中下和与或])(?<!的话)(?<!来说)(?<!而言)),(?P<zh_why>因为|由于)?"
    r"(?!不过|但|然而|可是|除非|如果|只|直到|而|则|却|就|才|也|还|都|或|即使|尽管|虽然|当|不等于|不代表|不意味)(?=..)"
    r"|^(?P<en>(?!although|though|because|since|as\b|in case|until)[^,;:?]{12,120}),? "
    r"(?P<why>because|since(?= (?:it|they|the|he|she|we)\b)|which means) "
)
NEGATORS = _words("not no never none nobody nothing neither nor cannot without hardly unable")
# Cut out first: they hold a negator and deny nothing, or deny it twice.
NO_NEGATION = (
    r"\bnot (?:only|just|merely)\b|\bno doubt\b|\bwithout (?:a )?doubt\b|\bnothing but\b|\bno matter\b"
    r"|不但|不仅|不只|(?<![^,。;:\s只])不过|不过是|不管|不论|不断|不错|不少|不同|不久|不得不|不外乎|无论|无线|毫无疑问|没错|除非"
    r"|差不多|君不见|未来|非常|非洲|是不是|对不对|能不能|会不会|要不要|可不可以|有没有"
)
ZH_NEGATION = r"[不没无未]|并非|绝非|而非|从不|尚未"

ANTONYMS = _pairs("""
    always/never all/none increase/decrease up/down rise/fall before/after enable/disable open/closed open/close
    like/hate love/hate pass/fail required/optional mandatory/optional public/private faster/slower fast/slow
    empty/full older/younger old/new oldest/newest more/less higher/lower high/low true/false right/wrong
    safe/dangerous allow/forbid accept/reject include/exclude first/last early/late cheap/expensive free/paid
    agree/disagree start/stop win/lose keep/remove hot/cold success/failure best/worst strong/weak better/worse
    improve/worsen synchronous/asynchronous guilty/innocent alive/dead exist/missing present/absent
    allowed/forbidden permitted/forbidden allowed/prohibited permitted/prohibited allowed/banned
    succeed/fail succeeded/failed
    online/offline approved/rejected approved/denied approved/declined granted/denied granted/refused
    visible/hidden busy/idle temporary/permanent grow/shrink longer/shorter larger/smaller bigger/smaller
    lighter/heavier earlier/later buy/sell ascending/descending works/broken left/right north/south
    synchronously/asynchronously reduce/increase include/drop supported/dropped inbound/outbound
    encrypted/plaintext minimum/maximum
    raise/lower raise/reduce raise/cut easy/hard easy/difficult wide/narrow deep/shallow rare/common often/rarely
    frequently/rarely always/rarely always/seldom help/harm cause/prevent accelerate/slow strengthen/weaken
    upgrade/downgrade import/export gain/lose profit/loss lengthen/shorten lossless/lossy odd/even upper/lower
    outer/inner
""")
ZH_ANTONYMS = _pairs("""
    公开/私有 同步/异步 正常/故障 正常/坏了 正常/损坏 必须/不用 必须/无需 开馆/休馆 开业/停业 升序/降序 左边/右边
    左侧/右侧 必须/可选 安全/危险 上涨/下跌 上升/下降 升高/降低 增加/减少 喜欢/讨厌 之前/之后 启用/停用 开启/关闭
    打开/关闭 通过/失败 成功/失败 变快/变慢 快/慢 合法/非法 空的/满的 免费/收费 同意/反对 支持/反对 公开/保密
    总是/从不 必须/不必
    必填/选填 正确/错误 允许/禁止 接受/拒绝 最高/最低 最大/最小 最新/最旧 提高/降低 有效/无效 真的/假的 姐姐/妹妹
    启用/禁用 开门/关门 上涨/下降 可以/禁止 可以/不得 可以/不准 允许/不准 经常/从不 经常/从来不 总是/从来不 存在/缺失
    开着/关着 在线/离线 核准/驳回 批准/驳回 核准/拒绝 批准/拒绝 同意/拒绝 通过/驳回 可见/隐藏 增长/下降 增长/减少
    扩大/缩小 延长/缩短 盈利/亏损 提前/推迟 提前/延后 买入/卖出 加快/放慢 收紧/放宽
    开放/闭馆 开放/休馆 开放/关闭 开馆/闭馆 营业/停业 营业/打烊 营业/歇业 已读/未读 加速/减速 增强/减弱 变大/变小
    变多/变少 变好/变差 变高/变低 调高/调低 上调/下调 升级/降级 容易/困难 常见/罕见 导致/防止 激活/停用 显示/隐藏
    锁定/解锁 需要/无需 需要/不用 需要/不必
    更高/更低 较高/较低 均高/均低 更多/更少 更早/更晚 更远/更近 更长/更短 更大/更小 更快/更慢 更好/更差 更贵/更便宜
""")

# All of them do and some do not contradict each other; some do and some do not do not.
ALL = (
    r"(?<!\bnot )(?<!n't )(?<!almost )(?<!nearly )\b(?:all|every|each)(?: of)?(?: the)?(?= [a-z])"
    r"|(?<!不是)(?<!并非)(?<!不)(?<!几乎)(?:所有|全部|每个)"
)
SOME = r"\b(?:some|several|a few)(?: of the\b)?(?= [a-z])|有些|有的|某些|部分|有几[个项条]"
NOT_ALL = r"\bnot (?:all|every|each)\b|(?:不是|并非|不)(?:所有|全部|每个)"
# None of what another sentence counts: read as 0 of it.
NONE_OF = r"\bno (?!more\b|longer\b|less\b|fewer\b|one\b|doubt\b|matter\b|other\b|need\b|idea\b)(?=[a-z])"

# Words that only join others: they say nothing of the subject.
STOPWORDS = _words("""
    a an the this that these those it its is are was were be been being am do does did done have has had having will
    would shall should can could may might must to of in on at by for with from as and or but so i we you they
    my our your their me us them there here also just still really very definitely clearly certainly any some
    able only then than longer anymore now yet already actually both each every everybody everyone about into
""")
ZH_STOP = r"[的了是在和与或是就也都而其之于以为被把让这那个会能可着地得有很来说已经曾将并及还]|从来"

# May is a month beside a day, and behind what a month follows; what people may do is a rule.
HEDGE = (
    r"(?<!\byou )(?<!customers )(?<!customer )(?<!users )(?<!user )(?<!members )(?<!passengers )(?<!passenger )"
    r"(?<!guests )(?<!employees )(?<!students )(?<!visitors )(?<!travelers )(?<!travellers )(?<!buyers )(?<!admins )"
    r"(?<!agents )(?<!anyone )(?<!\bwe )"
    r"(?<!\d )(?<!\d(?:st|nd|rd|th) )(?<!\b(?:in|of|by) )(?<!\b(?:this|last|next|late) )(?<!\b(?:until|since|early) )"
    r"\bmay\b(?! \d)"
    r"|\b(?:might|could|maybe|perhaps|possibly|probably|seems?)\b|可能|也许|或许|大概|似乎"
)
# One of several, told apart from the first by nothing else.
ANOTHER = r"\b(?:other|another|others)\b|另[一外]|其[他它]|别的"
BOUND = (
    r"\b(?:at least|at most|up to|more than|less than|over|under|about|around|nearly|almost)\b"
    r"|至少|最多|超过|不到|(?<![合预契条特签违履制公])约(?![定束会翰旦])|左右|以上|以下"
)
# One of two sentences has it: they speak of different times, and both can hold.
PAST = r"\b(?:used to|previously|formerly|once was|back then)\b|以前|曾经|过去|原先"
# What is on is enabled, what cannot be is not: written so, they meet their opposites.
SWITCHED = (
    r"\b((?:is|are|was|were|be|stays?|remains?|turned|switched|set to)(?: (?:now|currently|still|always))?) (on|off)"
    r"(?=[.!,;]|$)"
)
ZH_CANNOT = r"无法|没法|没办法|不可以|不能够|不可能|不再"
# When something holds: of another time another thing may be so.
WHEN = (
    r"\b(?:used to|previously|formerly|once was|back then|was|were|had been|originally|initially|before|after|until"
    r"|during|tomorrow|yesterday|tonight|in (?:19|20)\d\d"
    r"|(?:this|next|last) (?:week|month|year|quarter|time|spring|summer|autumn|fall|winter|sprint))\b"
    r"|以前|曾经?|过去|原先|原本|原来|之前|之后|昨天|明天|去年|今年|明年|[上下这本]个?(?:周|月|季|学期)"
    r"|(?:19|20)\d\d年|[一二三四五六七八九十\d]+月份?(?=[^\d]|$)"
)
CAP = r"\b(?:at most|up to)\b|最多"  # of two most one is wrong, of two leasts none
CONDITION = (
    r"^(?:if|when|unless|while|once)\b|^(?:如果|若|除非|当|只要)|\bif\b"
    r"|^(?:so |and |now |but )?(?:(?:let's|let us) (?:assume|suppose|say|pretend)|assume|suppose|assuming|supposing)\b"
    r"|^(?:假设|假如|假定|假使|倘若|要是)"
)

# What numbers name instead of count, and when a year is the point of the sentence.
LABEL = (
    r"(?:version|v|step|chapter|page|part|phase|section|line|issue|case|room|level|day|week|q|#|order|invoice|ticket"
    r"|account|customer|user|task|bug|pr|build|run|job|server|node|host|worker|question|exercise|problem|table|flight"
    r"|train|bus|channel|第|步骤|版本|订单|单号|工单|编号|发票|任务|题|用户|客户|节点|航班|列车|公交|线路)\s*$"
)
# One of several, by its letter: line A, 乙班.
LETTERED = (
    r"\b(?:line|group|team|room|section|plan|option|building|wing|zone|gate|class|part|variant|unit|terminal|list|appendix"
    r"|batch|site|type) [a-z]\b|[甲乙丙丁a-z](?=[组班栋座区线楼队])"
)
DATED = (
    r"due\b|deadline|moved|found|born|happen|occur"
    r"|(?<!\ba )(?<!\ban )(?<!\bnother )\b(?:meeting|appointment|interview|exam|wedding|flight)\b"
    r"|complet|construct|demolish|abolish|ratif|patent|discover|invent|sign(?:ed)?\b|wedding|establish|releas|launch|publish|die|built|creat|introduc|expir|end|start|begin"
    r"|成立|出生|生于|发生|会议|面试|考试|婚礼|航班|发布|建立|推出|上市|创立|建成|到期|去世|截止|改到|举行|竣工|完工|落成|通车|开业|签署|签订|发明|首映|上映|出版"
)
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
ZH_WEEKDAYS = "一二三四五六日"
# To which hours of each twelve are added, and what twelve becomes.
ZH_HALVES = {
    **dict.fromkeys(("凌晨", "清晨", "半夜", "午夜"), (range(0), 0)),
    **dict.fromkeys(("早上", "早晨", "上午"), (range(0), 12)),
    "中午": (range(1, 4), 12),
    **dict.fromkeys(("下午", "午后", "傍晚"), (range(1, 12), 12)),
    **dict.fromkeys(("晚上", "晚间", "夜里", "晚"), (range(5, 12), 0)),
}
# What is no longer so is not so: the words say nothing else.
ANY_MORE = r"\b(?:any more|any longer)\b"
# A number right behind a name tells which one: Python 3.11. Behind a month or a currency it counts.
NO_NAME = (
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*|USD|EUR|GBP|JPY|CNY|RMB|TWD|NTD|HKD|CAD|AUD|CHF|INR"
)
# Before the subject these tell of none but the same thing.
SAME_THING = _words("new current actual correct updated latest right real exact official total final revised")
# How much of the first a unit is, to compare what is measured in two of one kind.
SCALES = (
    {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "day": 86400},
    {"秒": 1, "分": 60, "小": 3600, "天": 86400},
    {"clock": 1, "点": 60},
    {"gram": 1, "g": 1, "kg": 1000, "kilogram": 1000, "pound": 453.6, "lb": 453.6, "ounce": 28.35, "oz": 28.35},
    {"meter": 1, "metre": 1, "m": 1, "cm": 0.01, "km": 1000, "kilometer": 1000, "kilometre": 1000, "mile": 1609.3},
    {"kb": 1, "mb": 1000, "gb": 1e6, "tb": 1e9},
    {"克": 1, "公斤": 1000, "千克": 1000},
)
# What something happens so often in, in seconds: a rate in one is the same in another. A year has 365 days.
PER = {
    **dict.fromkeys(("second", "sec", "s", "秒", "秒钟"), 1),
    **dict.fromkeys(("minute", "min", "分钟", "分"), 60),
    **dict.fromkeys(("hour", "hr", "h", "小时"), 3600),
    **dict.fromkeys(("day", "天", "日"), 86_400),
    **dict.fromkeys(("week", "周", "星期", "礼拜"), 604_800),
    **dict.fromkeys(("month", "月"), 2_628_000),
    **dict.fromkeys(("year", "年"), 31_536_000),
}
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMERALS = {
    **{word: str(number) for number, word in enumerate(_COUNTED)},
    "twelve": "12",
}
ZH_NUMERALS = dict(zip("一二两三四五六七八九", (1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
ZH_TENS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000}
ZH_MEASURES = "个名位种条项台次天年月周人件份元点时分秒季倍岁层楼"

RETRACTION = (
    r"\bi was (?:wrong|mistaken)\b|\bon second thoughts?\b"
    r"|\bi (?:retract|withdraw|take (?:that|it) back|no longer (?:think|believe))\b"
    r"|\bmy (?:earlier|previous|first|original|last) (?:answer|claim|statement|conclusion|view)\b.{0,20}"
    r"\b(?:wrong|incorrect|mistaken|false|not (?:right|correct|true))\b"
    r"|\b(?:this|that) (?:was|is) (?:wrong|incorrect|a mistake|not (?:right|correct|true))\b"
    r"|我(?:之前|先前|刚才|原来|原先)?(?:说|写|答|想|判断|弄|搞|看)?错了|我收回"
    r"|(?:之前|先前|原先|原来|刚才)的(?:说法|结论|答案|回答|判断).{0,6}(?:不对|不正确|有误|错|不成立|站不住)"
)
