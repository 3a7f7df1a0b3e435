"""How a person says that something said was wrong, and how an agent admits it.

SEED is letter for letter seed 000, "Error Patterns". The rest is ours: regular expressions on folded text without
quotations, each read within one sentence. `~` stands for what opens a sentence. Chinese is written in simplified
characters, as `shadow.fold` gives it, punctuation in half width.
"""

SEED = ("不是有說", "為何還是", "我提醒你")

# type, strength (how often it alone means a correction, as we judge it), expression
CUES = (
    # -- English --
    (
        "denial",
        0.8,
        r"\b(?:that|this|it|which|what you \w+|the answer[a-z ]{0,16}"
        r"|your (?:answer|summary|claim|statement|result|code|translation))"
        r"(?:'s| is| was|'re| are)(?: still| just| simply| also| actually| clearly)? (?:wrong"
        r"|incorrect|false|not (?:right|correct|true|accurate)|a mistake|outdated|the opposite)\b"
        r"(?! (?:of me )?to [a-z])",
    ),
    (
        "denial",
        0.8,
        r"\b(?:isn't|wasn't|is not|was not) (?:right(?! to )|correct|true|how"
        r"|what i(?! (?:expect|thought|hope|saw|see|g[eo]t)))\b",
    ),
    (
        "denial",
        0.8,
        r"\b(?:not|isn't|wasn't) (?:what|how|which|who|the (?:one|file|way|thing)) (?:i|we) (?:asked|said"
        r"|meant|wanted|told|want|mean|need|needed)",
    ),
    ("denial", 0.7, r"\b(?:that|this|it|these)(?:'s| is| are) (?:still )?the wrong (?!way to|place|time)\w"),
    ("denial", 0.7, r"\b(?:that|this)'s not (?:how|what|where|who|which|the)\b"),
    (
        "denial",
        0.8,
        r"\byou(?:'re| are| were)(?: still| just| clearly)? (?:wrong|mistaken|incorrect|confusing|off by|way off"
        r"|contradicting (?:yourself|what)|ignoring|misreading|misunderstanding|missing the point|mixing|hallucinating"
        r"|making (?:this|that|it|things|stuff) up|using the wrong|repeating the mistake)\b",
    ),
    (
        "denial",
        0.7,
        r"~(?:still |again |also )?(?:wrong|incorrect|not (?:correct|right|true|quite))(?: again"
        r"| still)?(?: \w+){0,2}\s*[.!,:]?$",
    ),
    (
        "denial",
        0.7,
        r"~(?:sorry,? but )?(?:no|nope|nah|wrong|incorrect|not quite)[,.:]?\s+(?:no\b,?\s*)*+"
        r"(?:it(?:'s| is)|that(?:'s| is)(?! (?:fine|all|alright|ok|good|it\b))|the|she|he|they"
        r"|i (?:meant|said|mean|asked|want)\b|you|we (?:said|agreed))\b",
    ),
    (
        "denial",
        0.6,
        r"\bi(?:'m afraid\b.{0,20}\bwrong|(?:'m afraid| don't think| do not think)\b.{0,20}\b(?:right|correct))\b",
    ),
    (
        "fault",
        0.8,
        r"\byou(?:'ve| have)?(?: just| also| again| still)? (?:forgot|forgotten|misunderstood|misread|misheard"
        r"|missed|ignored|overlooked|confused|mixed up|swapped|got (?:it|that|the \w+|this"
        r"|them)(?: \w+)? (?:wrong|backwards|mixed up)|made (?:a|another|the same) mistake|invented"
        r"|mix(?:ed)? (?:\w+ ){1,3}up"
        r"|made (?:that|this|it) up|contradict(?:ed)?|mistranslated|misquoted|misspel(?:led|t)|miscounted"
        r"|miscalculated|misinterpreted|misnamed|mislabell?ed|left out|mistook|hallucinated)\b",
    ),
    (
        "fault",
        0.7,
        r"(?<!did )(?<!if )\byou(?:'ve| have)?(?: just| also| again)? \w{3,}(?: \w+){0,3} the wrong \w+[^?]*$",
    ),
    (
        "denial",
        0.7,
        r"\b(?:is|are|was|were|'s)(?: still| just| simply| also| actually)? (?:misattributed|misquoted|mistranslated"
        r"|misspel(?:led|t)|miscalculated|mislabell?ed|upside down|out of date)\b",
    ),
    ("fault", 0.7, r"\byou (?:keep|kept) (?:\w+ing)\b"),
    (
        "fault",
        0.7,
        r"\byou (?:gave|sent|showed|told|used|wrote|picked|chose|booked)\b[^.!?]{1,40}\bi (?:wanted|asked for|said"
        r"|meant|needed|ordered)\b",
    ),
    (
        "fault",
        0.7,
        r"\byou (?:haven't|didn't|did not|have not) (?:fix|read|answer|do|change|listen|follow|include"
        r"|understand)",
    ),
    ("fault", 0.7, r"\byou (?:were supposed|should have|shouldn't have|weren't supposed)\b"),
    ("fault", 0.7, r"\byou \w+(?:ed|lt) .{1,30} (?:wrongly|incorrectly|backwards|the wrong way)\b"),
    (
        "fault",
        0.6,
        r"\b(?:your|the) (?:answer|summary|calculation|citation|link|code|regex|translation|reply"
        r"|response)\b.{0,24} (?:is wrong|leaves out|misses|is dead|doesn't|does not|is made up|contradicts)\b",
    ),
    (
        "fault",
        0.6,
        r"\b(?:error|mistake|typo|bug) in your (?:answer|calculation|code|reply|summary|reasoning|translation"
        r"|last)\b",
    ),
    (
        "reminder",
        0.8,
        r"\b(?:i|we)(?:'ve| have)?(?: already| just| clearly)?"
        r" (?:told you(?! so\b| (?:it|that|this) (?:would|will|wouldn't) )|said (?:no|so|to you|that|it should)"
        r"|asked you to|mentioned (?:that|it|this))\b",
    ),
    (
        "reminder",
        0.6,
        r"~(?:but )?i (?:(?:already|clearly|just|specifically|explicitly|literally) )?(?:asked for|meant(?! to\b)"
        r"|said(?! (?:yes|hi|hello|goodbye|goodnight)\b)|wrote|mentioned)\b",
    ),
    ("reminder", 0.7, r"\bi (?:said|asked for|meant|wrote|wanted) [^.,;?]{1,30}, not (?!that\b|only\b)"),
    ("reminder", 0.7, r"\b(?:as|like) (?:i )?(?:already )?(?:said|mentioned|told you)(?: before| earlier| already)?\b"),
    (
        "reminder",
        0.8,
        r"\b(?:let me|i) remind(?:ed)? you\b(?! (?:that )?you(?:'re| are)? (?:can(?!'t| not)|may(?! not)"
        r"|could(?!n't| not)|free\b|welcome\b|always\b))",
    ),
    ("reminder", 0.8, r"\b(?:didn't|did) i (?:not )?(?:say|tell|ask|mention)\b"),
    (
        "reminder",
        0.8,
        r"\bi (?:never|didn't|did not) (?:say|said|ask(?:ed)? (?:for|you)|mean|meant|want|wanted|tell|told)\b",
    ),
    (
        "reminder",
        0.7,
        r"\b(?:how many times (?:do|did|must|have) i|we've been over this|we agreed (?:on|that)"
        r"|read it again|re-?read my"
        r"|read (?:my|the) (?:message|question|request|instructions?|e?-?mail) (?:again|properly))\b",
    ),
    (
        "reproach",
        0.7,
        r"\bwhy (?:are|do|did|is|have|would) you (?:still|keep|again|delete|remove|change|ignore|not)\w*\b",
    ),
    ("reproach", 0.5, r"~(?:please )?stop (?:call|add|chang|us|say|mak|ask|writ|do|assum|ignor|repeat)\w*ing\b"),
    ("restatement", 0.6, r"~(?:not|it's not|it isn't|it's) [^,.;?]{1,30}, (?:not|but|it's) ?[^,.;?]{1,30}[.!]?$"),
    (
        "restatement",
        0.6,
        r"\b(?:it|this) (?:should|has to|was supposed to) (?:be|say"
        r"|read)\b(?! (?:linked|under|another|in|on|at|there|fine|enough|possible|able)\b)"
        r"(?!.*\bor\b)[^?]*(?:$|, not|instead)",
    ),
    (
        "fault",
        0.6,
        r"(?<!did )\byou(?:'ve| have)?(?: just| also| again| still| even)? (?:dropped|skipped|undid|undone|omitted"
        r"|broke|broken|overwrote|overwritten|duplicated|truncated|garbled|misplaced) (?:my (?!heart)|the (?!record|ice"
        r"|news|bank)|an? (?!record)|one |two |both |half |several |part |steps? |lines? |questions? |points? |(?:it"
        r"|them|that|this)[.!]?$)[^?]*$",
    ),
    ("fault", 0.6, r"(?<!did )\byou (?:answered|solved|quoted|translated|summari[sz]ed) an?(?:other| different) "),
    (
        "fault",
        0.7,
        r"\bthe (?:\w+ ){1,3}(?:that )?you (?:gave|sent|showed|told|used|wrote|listed|quoted|cited|suggested|provided"
        r"|mentioned)(?: me| us)? (?:is|are|was|were|does|do|did)(?:n't| not)?(?: even| actually)? (?:broken|dead|wrong"
        r"|incorrect|invalid|outdated|made up|fake|empty|work|exist)\b(?<!does work)(?<!do work)(?<!did work)[^?]*$",
    ),
    (
        "reproach",
        0.7,
        r"\b(?:who|nobody|no one|no-one) (?:asked|told) you to (?:add|book|buy|cancel|change|commit|delete|deploy|do "
        r"(?:this|that)|drop|edit|fix|format|include|install|modify|order|post|push|refactor|remove|rename|reset"
        r"|rewrite|run|send|touch|translate)\b",
    ),
    (
        "reproach",
        0.7,
        r"\byou (?:\w+ )?said [^.?]{1,60}\bnow you(?:'re| are)? (?:say|tell|claim)"
        r"|~but you (?:just |also |clearly )?(?:said|told me|promised|wrote|claimed)\b|\byou (?:just |also )?(?:said"
        r"|told me|wrote|claimed) (?:the opposite|otherwise|something (?:else|different))\b",
    ),
    (
        "denial",
        0.7,
        r"\bnothing to do with (?:my (?:question|request|problem)|what i (?:asked|said|want|meant)|the (?:question"
        r"|task))\b",
    ),
    (
        "denial",
        0.7,
        r"\b(?:docs?|documentation|manual|(?:web)?site|page|contract|receipt|invoice|policy|logs?|screen|app|label"
        r"|ticket|e-?mail|spec|readme|output) (?:clearly |actually )?(?:says?|states?|shows?|reads?) (?:otherwise|the"
        r" opposite|something else)\b",
    ),
    (
        "denial",
        0.6,
        r"~(?:no|nope),? not (?:the (?!last time)|th[ai]t(?! i\b)|those|these|my)\b",
    ),
    (
        "restatement",
        0.6,
        r"~(?:that|this|those|there)(?:'s| is| was| are| were) [^,.;?]{1,40}, not (?:mine|ours|yours|his|hers|theirs|"
        r"(?:my|our|the) \w+|\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten)(?: \w+)?[.!]?$",
    ),
    ("reminder", 0.6, r"~again[,:] (?:it's|it is|i (?:said|asked|meant)|my name)\b"),
    (
        "restatement",
        0.6,
        r"~(?:it's|it is|the (?:\w+ ){1,5}(?:is|are|was|were)) [^,.;?]{1,24},"
        r" not (?!too|very|so|yet|sure)[^,.;?]{1,24}\b",
    ),
    ("restatement", 0.7, r"~correction\b|\bthe other way (?:a)?round\b"),
    (
        "restatement",
        0.5,
        r"~(?:no|nope), (?!thank|problem|worr|not|i\b|we\b|all|please"
        r"|(?:it|that)(?:'s| is) (?:fine|all|alright|ok|good|it\b))[a-z]",
    ),
    (
        "restatement",
        0.5,
        r"~actually,? (?:it's|it is|the|that's|i (?:said|meant))\b(?! (?:great|fine|good|nice|perfect))",
    ),
    ("restatement", 0.6, r"\b(?:does not|doesn't|do not|don't) (?:exist|answer (?:what|my))\b"),
    (
        "restatement",
        0.6,
        r"~once more: |~not (?!now|yet|sure|today|really|bad|at all|that)[^,.;?]{1,20}, [^,.;?]{1,20}[.!]?$",
    ),
    ("denial", 0.6, r"~(?:the|that|this|your) (?:\w+ ){1,3}(?:is|are) (?:wrong|incorrect|outdated|off by)\b"),
    ("restatement", 0.6, r"~you mean (?!to\b|that\b|if\b|like\b)[^?]{1,40}$"),
    ("restatement", 0.5, r"\b(?:it|this|that|they) (?:was|were) supposed to (?!rain|snow)[a-z]+\b[^?]*$"),
    ("denial", 0.6, r"~(?:it|that|this|they) (?:did|does|is|was|has|will|can|do|are|were)(?: not|n't)(?:[,.!]|$)"),
    ("denial", 0.5, r"~(?:wasn't|isn't|weren't) (?:it|that) [^?]{1,30} (?:who|which|that) "),
    (
        "denial",
        0.7,
        r"\b(?:your|the) (?:maths?|arithmetic|numbers?|sums?|count|totals?|dates?|logic|figures?) (?:is|are|seems?)"
        r" (?:way )?off\b[^?]*$",
    ),
    ("fault", 0.6, r"\b(?:error|mistake|typo) in your (?!opinion|experience|view)\w+\b[^?]*$"),
    (
        "denial",
        0.5,
        r"\bplease (?:correct|rectify) (?:that|this)\b(?! (?:text|essay|sentence|paragraph|e?-?mail|letter|file|code))",
    ),
    (
        "denial",
        0.8,
        r"\b(?:that|this|it|which)(?:(?:'s| is) not| isn't)(?: really| even| at all)? (?:an|the) answer to"
        r" (?:my (?:\w+ )?question|what i (?:asked|wanted))\b[^?]*$",
    ),
    (
        "denial",
        0.7,
        r"~(?:that's |it's |this is )?(?:the )?wrong (?!number)\w+ ?(?:[-–—,:]+|[.]{2,}) ?"
        r"i (?:meant|said|asked for|wanted)\b(?! to\b)",
    ),
    # With a K, with two Ls.
    (
        "restatement",
        0.6,
        r"~(?:it's|it is|that's) (?:actually )?spel(?:led|t) (?:(?!exactly|just|correctly|right)[\w'-]+,? )?"
        r"with(?:out)? (?:(?:an?|one|two|the|double|single|capital|small) )*(?:[b-z]|a(?=[.!,]|$))"
        r"(?:'?s)?(?![\w'])[^?]{0,16}$",
    ),
    # "7 am not pm", all of it.
    (
        "restatement",
        0.6,
        r"^(?!.*\b(?:i|we|you|they|he|she|it|do|does|did|is|are|was|were|can|will|would|could|should|why|if|or|have|has"
        r"|may|might|let|course|certainly|probably|maybe|perhaps|definitely|absolutely|surely|better|still|just|please"
        r"|hopefully|preferably|ideally|but|and|whether)\b)[^,.:;?]{1,24} not (?:a |an |the )?"
        r"(?!found|set|ready|valid|sure|now|yet|today|here|there|bad|good|fine|ok|enough|much|many|really|that|this|applicable"
        r"|necessary|possible|so\b|\w{2,}ed\b|\w+(?:able|ing)\b)[^,.;? ]{1,16}[.!]?$",
    ),
    # -- Chinese --
    (
        "reminder",
        0.8,
        r"(?<!是)不是有说(?!明)|我提醒你(?!,?(?:随时)?(?:都|也)?可以随?时?(?:休息|离开|停|问)|,?随时)"
        # Why the world is still so is no complaint about the agent.
        r"|为何还是(?!(?:需?要|得)(?![我你您])|会(?!把|用|写)|想|觉得|感觉|感到|认为|睡|有人|下[雨雪]|(?:很|好|[那这]么)?(?:冷|热|累|困|痛|疼|饿|穷"
        r"|贵|忙|难过|孤单|喜欢|害怕|担心|紧张|多人))|~(?:再|容我|得)?提醒你(?:一下|一句)?[,:]|~再说一次[,:](?!谢)",
    ),
    (
        "denial",
        0.8,
        r"~(?:这|那|还是|又|完全|根本)*(?:不对|不正确|不准确|不是这样|错[了啦啰咯喽])"
        r"(?![称外劲等吗])(?:[吧啊,。!. ]|$)",
    ),
    (
        "denial",
        0.8,
        r"(?:不是|并不是)(?:这个意思|我的?(?:问题|提问)的(?:答案|回答)(?!吗)"
        r"|我(?:要|说|问|想|指)的|我的意思|这样|这样的|这样[,。!]|让你|叫你)",
    ),
    (
        "denial",
        0.7,
        r"(?:这|那|该)(?:个|句|段|条)?(?:说法|数字|答案|结论|翻译|总结|日期)?(?:是|就是)?(?:错误的|错的|不正确"
        r"|不准确|有误)",
    ),
    ("denial", 0.7, r"(?:上面|前面|刚才|以上)的?[^,。?]{0,8}(?:有误|不对|错了|是错的)(?!吗)"),
    (
        "denial",
        0.7,
        r"(?:根本|压根)(?:不存在|没有|不是)|(?<!怎么)(?<!什么)没有这(?:个|种|条|本)(?:东西|api|函[数式]|参数|选项|指令"
        r"|命令|方法|功能|按钮|属性|栏位|字段|页面|菜单|选单|规定|说法|车次|航班|套件|模块)(?![^。]*(?:怎么|吗[?]?$))|~"
        r"(?:这|那|你)[^,。?]{1,12}(?:指令|命令|参数|函[数式]|方法|选项|功能|api|接口|套件|模块|网址|论文|法条|条文)"
        r"(?:根本|压根|并|其实)*不存在(?![^。]*(?:怎么|吗|为什么))",
    ),
    (
        "denial",
        0.6,
        r"(?<!我的)(?:汇率|金额|日期|时间|数字|总数|地址|名字|单位|版本|顺序|答案|结果|格式|人数|价格|年份|出处|来源|资料|链接|楼层|尺寸)"
        r"(?:好像|应该|似乎|都|也|还是|又|已经|全)?(?:不太?对|不正确|有误|过期|过时|错)(?:了|喔|哦|啊|吧)*(?:[,。!]|$)",
    ),
    ("denial", 0.7, r"答非所问|(?:完全)?(?:跟|和)我说的.{0,4}相反|~(?:你|您|这|完全|根本)*文不对题"),
    ("denial", 0.7, r"~(?:你|您)(?:又|好像|完全|已经)*(?:跑题|离题|偏题|跑偏)了"),
    (
        "denial",
        0.7,
        r"(?:跟|和|与)我(?:问|说|要|写|给)?的(?:问题|需求|要求|提问)?(?:完全|根本)?(?:无关|没有?关系|不是一回事|不符"
        r"|不一致)(?![^。]*吗)(?<!我的无关)(?<!我的没关系)|(?:你|您)的?[^,。?]{0,8}(?:跟|和|与)[^,。?]{1,10}(?:不符"
        r"|不一致|对不上)(?![^。]*吗)|(?:你|您)[^,。?]{0,6}前后(?:矛盾|不一)"
        r"|(?:你|您)(?:刚才|刚刚|之前|前面|上次|昨天|先前|一开始)(?:才|还)?说[^。]{1,24}(?:现在|这次|怎么)又",
    ),
    (
        "reproach",
        0.7,
        r"(?:没有?人|谁)(?:让|叫|要|准)你(?!难过|伤心|生气|失望|开心|心烦|来)|说好的(?!幸福|永远)[^,。?]{1,10}呢[?!]?$",
    ),
    (
        "reproach",
        0.7,
        r"(?:你|您)(?:刚才|刚刚|之前|前面|上次|昨天|先前|自己)*不是(?:(?:说|讲)(?![笑谎的])|告诉|答应|保证)",
    ),
    (
        "fault",
        0.8,
        r"(?<![怕免让帮教])(?:你|您)(?:上次|刚才|刚刚|之前|昨天|又|也|都|还是|还|完全|可能|好像|应该|是)*"
        r"(?:搞|弄|说|讲|写|算|看|记|理解|答|翻译?|听|想|用|猜|订|寄|发|标|抄|引|选|贴)(?:错(?!误)|反|混|误)(?![^。]*"
        r"(?:吗|会怎样?|怎么办)[^,。]{0,2}$)",
    ),
    (
        "fault",
        0.8,
        r"(?<![怕免让帮教])(?:你|您)(?:上次|刚才|刚刚|又|还是|完全|好像)*(?:改|删|加|放|传|送|填|拿|数|读|设|配|找|套"
        r"|排)(?:错(?!误)|反了)(?![^。]*(?:吗|会怎样?|怎么办)[^,。]{0,2}$)",
    ),
    (
        "fault",
        0.8,
        r"(?:你|您)(?:又|都|还是|完全|好像)?(?:把.{1,16})?(?:错了|误会|误解|忘了|忘记|漏了|漏掉|忽略|犯了|弄反"
        r"|搞混|弄混|搞反|写反)",
    ),
    (
        "fault",
        0.7,
        r"~(?:我说)?(?:顺序|名字|文件|档案|日期|总数|答案|单位|符号|方向|意思|数字|金额|总额|价格|费用|人数|年份|时间|地址)?(?:又|还是|都)?(?:说|写|算|看|记|理解|翻译?|弄"
        r"|搞|数|读|听|答|拼|打)?(?:错|反)[了啦啰咯喽](?:吧|[,。!]|$)",
    ),
    (
        "fault",
        0.7,
        r"(?:你|您)(?:根本|还是|都|又)?没有?(?:看清|看懂|看完|看我|读|修好|回答|听懂|照|按(?![钮键下]))|(?:你|您)"
        r"(?:根本|压根|又|完全)没有?(?:测|检查|验证|跑|理解|考虑|处理|加|改|做|听|看|用)(?!过|错|见|到)|(?:你|您)(?:又"
        r"|还|好像|总共|一共)*(?:(?:算|写|列|加|打|数|订|译)(?:少|多|漏)|(?:少|多|漏)(?:算|写|列|加|打|数|订|译))了"
        r"(?![^。]*吗)|~(?:还|又)?漏(?:了|掉)(?:第|[^,。?]{0,8}(?:点|步|字|行|项|条|段|句|需求|要求|问题|条件|参数|答案"
        r"|单位))[^,。?]{0,6}[。!]?$|~(?:还|又)?少了(?:第|[^,。?]{0,6}(?:步|行|栏位|字段|参数|逗号|括号|引号|分号"
        r"|符号))[^,。?]{0,6}[。!]?$",
    ),
    (
        "fault",
        0.6,
        r"(?:你|您)(?:又|都|还是|怎么)?(?:把[^,。?]{1,12})?(?:翻译?|写|改|看|当|读|算|听|打|订|标)成(?!功)"
        r"(?:[^,。?]{1,12}了(?:[,。!啦喔哦]|$)|了[^,。?好很真]{1,12}(?:[,。!]|$))",
    ),
    ("fault", 0.6, r"(?:你|您)(?:自己)?编的|自作主张|自相矛盾|(?:自己)?前面说的.{0,6}矛盾|前面说的.{0,8}矛盾"),
    ("fault", 0.6, r"(?:总结|翻译|引用|链接|连结|答案|日期|计算).{0,4}(?:漏了|有误|是假的|打不开|差了)"),
    (
        "reminder",
        0.8,
        r"我(?:已经|明明|之前|早就|刚刚)?(?:提醒过你|(?<!我)提醒你|(?:说过|讲过)(?![^。]*吗[?]?$)|(?:跟|和)你(?:说过|讲过))",
    ),
    (
        "reminder",
        0.8,
        r"~(?:跟|和)你(?:说|讲)(?:过|了(?=[,。!不别要用是两三几]|多少|好几))|我(?:早就?|已经|明明|一直|都)(?:说|讲)"
        r"(?:了(?!解)|不要|不用|别|要|得)|(?:讲|说)过?(?:多少|几)次|明明(?:说|讲)好|不是有?(?:说|讲)(?:过|好|了)",
    ),
    (
        "reminder",
        0.7,
        r"不是(?:早就|早|已经|才|刚|都)*(?:跟|和|告诉|提醒|交代)过?(?:你|您)|早就(?:(?:跟|和)(?:你|您)(?:说|讲)|告诉过?(?:你|您))",
    ),
    (
        "reminder",
        0.6,
        r"(?<![他她们说小声证表阐聪透文发])明明(?:就|都|也|还(?=有))?(?:不?是|说|讲|写|订|点|叫|让|应该|可以|没|已经|选"
        r"|填|标|答应|付|有)",
    ),
    ("reminder", 0.8, r"我(?:说|问|要|指|写|讲)的不?是|我的意思是|我指的是"),
    (
        "reminder",
        0.8,
        r"我(?:从来|可|根本)?(?:没有|没)(?:(?:这么|这样|那么|那样)?说(?!明|完|服|清)|让你|叫你|要你|要求)"
        r"|我什么时候(?:说|让)",
    ),
    (
        "reproach",
        0.7,
        r"(?<![他她它们])你?(?:怎么|为什么|为何)你?(?:又|还是|还在|老是)"
        r"(?:把[^,。?]{1,12})?(?:改|错|忘|写|用|说|删|加|漏|没|不)[^?]*[?]?$",
    ),
    ("reproach", 0.6, r"~怎么还是"),
    ("reproach", 0.7, r"你怎么(?:把|又|还)|别再.{1,10}(?:叫我|了)|别再(?:叫|加|改|用|写|说)"),
    ("restatement", 0.6, r"(?:应该|要)[^?,。]{1,20}才(?:对|是)(?:[。!,]|$)"),
    ("restatement", 0.6, r"~(?:你|您)是?(?:想说|要说|指)(?:的?是)?[^,。?]{1,20}吧"),
    ("denial", 0.6, r"~不是(?:啦|喔|哦|的|吧)?,(?=[是在应它]|我(?:是|要|想|说|问|指|的|点|买|订|让|叫))"),
    ("denial", 0.5, r"~(?:这|那|它|他|她)[^,。?]{0,4}不是[^,。?]{2,16}的[吗嘛]"),
    ("denial", 0.6, r"~没有?[啊呀欸诶吧],[^。?]{0,12}(?:还是|仍)"),
    (
        "denial",
        0.7,
        r"~(?:这|那|你的?)?[^,。?]{0,4}(?:资讯|资料|信息|消息|说法|内容|数据)[^,。?]{0,4}(?:过时|过期|太旧)",
    ),
    ("denial", 0.5, r"请(?:改正|更正|订正)(?:一下|过来)?(?:[。!]|$)"),
    ("restatement", 0.6, r"应该是[^?]{1,20}(?:才对|,?(?:不是|而不是))"),
    ("restatement", 0.6, r"~不是[^?,。]{1,16},而?是[^?]{1,20}|是[^?,。]{1,12},?而?不是[^?,。]{1,12}[。!]?$"),
    ("restatement", 0.6, r"(?<!这样)(?<!这)是[^,。?]{1,12}好[吗嘛][。!]?$"),
    ("restatement", 0.7, r"~更正|~纠正一下|(?:跟|和).{0,6}相反"),
    ("restatement", 0.5, r"~不,\s*(?:我|是|应该|这)|只给了?我|(?:麻烦|请)(?:看清楚|重读我)"),
    (
        "reminder",
        0.6,
        r"(?:再|重新|仔细|认真|好好)(?:看|读)(?:看|读|一下|一遍|一次|清楚)?我的?(?:问题|消息|信息|讯息|要求)(?![^。]*(.)不\1)",
    ),
    ("denial", 0.6, r"~(?:胡说|乱说|瞎说|瞎编)(?:八道)?(?:[,。!]|$)"),
    (
        "denial",
        0.7,
        r"(?:你|您)(?:刚才|刚刚|上次|之前)?(?:给|写|说|发|用|算|列|引用|提供)的[^,。?]{0,12}"
        r"(?:是错(?:误)?的|不对|有误|错了|不正确|不准确|打不开|不存在)(?!吗)",
    ),
)

# A sentence that has this asks, supposes, tells of others or of the speaker: a cue in it says nothing.
NOT_MEANT = (
    r"\bif\b|\bwhether\b|\bcorrect me\b|\b(?:am|was|were) i\b|\bis (?:that|this|it) (?:wrong|right|correct"
    r"|incorrect)\b"
    r"|\bi (?:was|am|may be|might be|made|got|have it)\b(?! afraid| sure)|\bi'm (?:wrong|mistaken)\b"
    r"|\b(?:nothing|something|what)(?:'s| is| was| went) wrong\b"
    r"|\b(?:might|may|could) be\b|\b(?:he|she|they|my \w+) (?:said|told|says|asked|got|made|were|was)\b"
    r"|\b(?:the|an?|our|my|this|one|another) (?:customer|client|user|guest|reviewer|manager|boss|colleague|teacher"
    r"|buyer|seller|supplier)s? (?:just |also |still )?(?:said|says?|told|tells?|claim(?:s|ed)?|thinks?|wr[io]tes?"
    r"|insists?|complain(?:s|ed)?)(?: (?:that|me|us))* (?:you|we|it|this|that|your|our)\b"
    r"(?![^.!?]*, (?:and |so |but )?you\b)"
    r"|\b(?:translate|story|write a|how do (?:i|you) say|tell me (?:if|whether|about))\b|\bplease check\b"
    r"|\b(?:explain|know|understand|wonder(?:ing)?|learn|tell me|asks?|asking) why\b|\banything wrong\b"
    r"|\b(?:don't|do not) think (?:that )?(?:you're|you are|you were|that's|this is|it's|it is) "
    r"(?:wrong|incorrect|mistaken)"
    r"|\bthank|\bgreat\b|\bmissed nothing\b|\bnot a problem\b"
    r"|如果|是否|对不对|是不是.{0,8}(?:错|忘)|哪里错|错了?(?:吗|在哪)|我(?:记|写|说|理解|搞|弄|看)?(?:错"
    r"|忘)"
    r"|(?:他|她|老板|同事|有人)[^,。]{0,10}(?:说|把|弄)|(?<!你)(?<!您)(?:翻|翻译|英文|故事|解释)[^,。]{0,8}(?:成|怎么|:)"
    r"|(?:客户|顾客|客人|主管|经理|上司|对方|朋友|老师|同学|家人|买家|卖家|用户(?!名))(?:们|刚才|刚刚|昨天|今天|一直|又|都|还)*"
    r"(?:跟我|对我|来信|回信|写信|打来)?(?:说|讲|表示|认为|觉得|抱怨|反映|投诉|骂)(?!的)[^,。:]{0,12}(?:错|漏|忘|不对|误)"
    r"|没错|不错|(?:报|出)了?错|谢谢|好奇|想了解|原因"
)

NO = (
    r"(?:no|nope|nah|not quite)\b(?! no\b)|(?:it|that|this|they) \w+(?: not|n't)\b|不[,]|不是[啦喔哦的吧]?,"
    r"|没有?[啊呀欸诶吧],"
)
WHICH = (
    r"(?:^|[.!;,。] ?)(?:and |so )?(?:which|what|when|where|how many|how much"
    r"|how [^.!?]{1,30} spel[lt]\w*|who)\b[^.!?]*\?$"
    r"|[哪几][^。?]{0,16}\?$|什么[^。?]{0,12}\?$"
)
# What asks for a choice without a question mark: whatever is said then is the choice.
ASKS_TO_CHOOSE = (
    r"\bplease (?:choose|pick|select|tell|give|provide|specify|enter|let me know)\b"
    r"|\b(?:could|can|would) you (?:please )?spell\b|\bplease spell\b|\blet me know (?:which|what|when)\b"
    r"|请(?:您|你)?(?:先)?(?:选|挑|提供|告诉|告知|输入|指定)"
)

KINDS = (
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:星期|周|礼拜)[一二三四五六日天]",
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
    r"|(?:十[一二]?|[一二三四五六七八九])月|[0-9]月",
    r"[0-9]|[一二三四五六七八九十两百千万][点个位人元块年天楼度公]",
)

# A keyword is not cut inside a number, nor between it and what is counted; what only counts needs its noun, too.
NUMERALS = "0123456789一二两三四五六七八九十百千万亿几"
COUNTERS = "个名位种条项台件份张本片只支部辆栋句"
MEASURES = f"{COUNTERS}次天年月日周人元块点时分秒季倍岁层楼小公克米度折"
NO_NUMBER = "统唯同单之周期拜万专"  # before a numeral: 统一, 星期三
# The same in English: 3 | days, three | working days. "Three" alone is no term, and ends no phrase.
EN_CUT = (
    r"\b(?:[0-9]+|one|two|three|four|five|six|seven|eight|nine|ten|twelve) [a-z]+"
    r" (?:second|minute|hour|day|week|month|year|time|percent|euro|dollar|pound|mile)s?\b|[0-9] [a-z]"
)

# What an agent says in its next reply when it was corrected; looked for in the first sentences only.
CONCESSIONS = (
    (
        0.7,
        r"\b(?:you(?:'re| are) (?:absolutely |completely |quite |totally |so )?"
        r"(?:right(?!-(?:hand|wing|brain|foot|side|lean|click|align|angle|mind))(?! (?:on (?!that|this)|here"
        r"|there|now|at|next|behind|above|below|beside|in (?:front|the))\b)|correct)|my (?:mistake|bad|error|apologies)"
        r"|i stand corrected|good catch|my (?:earlier|previous|last|first|original) (?:answer|reply|response|message"
        r"|statement|claim|calculation|summary) (?:was|is) (?:wrong|incorrect|inaccurate|mistaken|misleading|not "
        r"(?:right|correct|accurate)))\b",
    ),
    (
        0.7,
        r"\b(?:i apologi[sz]e|apologies|sorry) (?:for|about) (?:the|my|that|this) (?:\w+ )?(?:mistake|error"
        r"|confusion|oversight|misunderstanding|mix-?up|incorrect|wrong)",
    ),
    (
        0.7,
        r"\bi (?:misunderstood|misread|was wrong|was mistaken|made (?:a|an) (?:mistake|error)|got (?:that"
        r"|it) wrong|mixed up|overlooked|missed that|forgot|should have)\b",
    ),
    (
        0.7,
        r"\b(?:i'm |i am )?(?:so |very |really )?(?:sorry(?: about (?:that|this))?|(?:my )?apologies|i"
        r" apologi[sz]e)[,.;:!-]* (?:but )?i (?:had |have |must have )?(?:used|took|read|sent|gave|picked|misspoke"
        r"|confused|misattributed|left (?:out|off)|skipped|missed (?!your)|mixed|misheard|assumed|invented|made (?:that"
        r"|this|it) up|misstated|miscounted|copied)\b",
    ),
    (0.7, r"\bthank(?:s| you) for (?:the correction|correcting|pointing (?:that|this|it) out|catching)\b"),
    (
        0.7,
        r"(?:你|您)说(?:得|的)(?:很|没|完全)?(?:对(?![方象面手吗]|不对)|错)|(?:你|您)是对的|(?:是|~)我的(?:错|疏忽|失误)|我(?:搞|弄|看"
        r"|理解|记|算|说|写)错了",
    ),
    (
        0.7,
        r"(?:抱歉|对不起|不好意思),?是?我(?:刚才|刚刚|之前|先前)?(?:搞|弄|看|理解|记|算|说|误|忘|漏|没|(?:用|给|写|发"
        r"|选|删|加|改|引用|提供|抄)(?:了|错|成))",
    ),
    (
        0.7,
        r"我(?:刚才|刚刚|之前|先前|上面|前面|上次)的?(?:说法|回答|答案|结论|计算|理解|判断|描述|回复)是?(?:错|有误|不"
        r"(?:太|够|完全)?(?:正确|对|准确))",
    ),
    (0.7, r"(?:感谢|谢谢)(?:你|您)?的?(?:指正|纠正|提醒|指出)|我(?:误会|误解|忽略|忘|漏)(?:了|掉)"),
    (
        0.3,
        r"~(?:i'm |i am )?(?:so |very |really )?sorry\b(?! (?:to hear|but i (?:can't|cannot)|for (?:the"
        r"|your) (?:delay|wait|inconvenience|loss)))",
    ),
    (0.3, r"~(?:非常|很|真的)?(?:抱歉|对不起)(?!,?我?(?:无法|不能|没办法|让您久等))"),
)
# No part of a mistake, where somebody is corrected twice.
APOLOGY = (
    r"\b(?:i(?:'m| am) )?(?:so |very )?sorry\b|\b(?:my )?apolog(?:ies|i[sz]e)\b"
    r"|[很非常真]*(?:抱歉|对不起|不好意思)"
)
CONCESSION_NOT_MEANT = (
    r"\b(?:if|whether|in case|unless|think|believe) (?:that )?you(?:'re| are) (?:right|correct)\b|\byou(?:'re| are)"
    r" right (?:to|that it depends)\b|你说的对方|(?:如果|假如|假使|要是|倘若|若|万一|是否|不管|无论)(?:是)?(?:你|您)"
    r"(?:是|说[得的])(?:很|没|完全)?(?:对|错)"
)
