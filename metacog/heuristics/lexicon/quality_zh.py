"""Chinese characters that say how something is said, not what it is about, and the shapes of Chinese questions.

All of it is looked for in folded text (`words.fold`): simplified characters, half-width signs.
"""

# The commonest characters of grammar: pronouns, particles, copulas, and what questions are asked with.
FUNCTION = frozenset(
    "的了是在和与及或也都就还又很我你您他她它们这那有没不吗呢吧啊呀嘛么什怎为何哪谁几请问能会可以要想把被给让对之其而且但如果个些多少候"
)

# A sentence without a question mark asks when it ends in a particle, or holds a word that asks and none that takes
# the asking back: 我不知道什么…, 无论如何.
ENDING = r"(?:[吗呢]|对不对|是不是|好不好|行不行)$"
ASKING = (
    r"为什么|为何|怎么|怎样|如何|什么|何时|哪[里儿个些种一年]|谁|多少|多久|多大|多长|是否|能不能|可不可以|会不会|有没有|是不是|要不要"
    r"|几[个次天年岁点]"
)
NOT_ASKING = r"知道|[无不]论|不管|任何|没(?:有)?什么|没(?:有)?谁|(?:什么|谁|怎么|怎样|如何)[都也]|告诉|了解|好几|不怎么"
# A second question inside one sentence: ，什么时候到？
SECOND = (
    r"[,;、](?:以及|还有|并且|那么|那|又)?"
    r"(?=为什么|为何|怎么|如何|什么|何时|哪|谁|多少|多久|几[个次天年岁点]|是否|能不能|会不会|有没有|要不要|可不可以)"
    r"|(?:以及|还有|和)(?=谁是|为什么|为何|怎么|如何|什么时候|何时|多久|是否|能不能|有没有)"
)
# ，可以带狗吗？ but not ，可以告诉我吗？
SECOND_POLAR = (
    r"[,;、](?:以及|还有|并且|那么|那|又)?"
    r"(?=(?:可以|能|需要|要|会|有)(?!告诉|帮|说|讲|教|解释|给我|请)[^,;、]{1,20}吗[?\s]*$)"
)
# What stands before an answer in a list of questions and answers.
ANSWER = r"答|回答|答案"
TAGS = frozenset(("是吗", "对吗", "好吗", "可以吗", "行吗", "对吧", "是吧", "好不好", "对不对", "行不行", "是不是"))

# A question that wants no more than to be taken up.
ANYTHING_ELSE = r"还有(?:什么|其他|别的)[^?]{0,8}(?:要|需要|该)(?:我|注意|知道)"

POLAR = r"吗[?\s]*$|是否|能不能|可不可以|会不会|有没有|是不是|要不要|对不对|好不好|行不行"
NUMBER = r"多少|几[个次天年岁点]|多久|多大|多长|多远|多高|何时|什么时(?:候|间)|哪一?[年天日]|第几"
REASON = r"为什么|为何|因何|何故|怎么会|原因"

# Asked for a time, a condition is an answer, too.
TIME = r"什么时候|何时"
TIME_WORDS = (
    r"时候|时$|之后|之前|以后|以前|如果|只要|一旦|当|[今明昨后前去]天|今晚|马上|立[刻即]|随时|很快|尽快|不久|从不|从未|永远|[上下这本][个]?[周月季年]"
    r"|[去今明前后]年|周[一二三四五六日末]|星期[一二三四五六日天]|[早中下晚上][上午]|凌晨|傍晚|[〇零一二两三四五六七八九十百千半]+(?:[年月日天点号周刻]|小时|分钟|世纪)"
    r"|[春夏秋冬][天季]|(?:唐|宋|元|明|清|汉|秦|隋|商|周)(?:朝|代|初|末)|民国|公元|年代|世纪|节"
)

YES_OR_NO = frozenset("是不对没能会可有好当行否应并无")
# Wherever these stand in a sentence, it decides.
DECIDES = r"可以|能够|不能|不可|不会|不用|不必|不需|必须|已经"
# Words that begin like a yes or a no and are none.
NO_DECISION = (
    r"会[议员计话场客长]|可[是惜]|不[过同久仅但如管论]|没问题|有[人时关限些名趣]|能[力源量]|是否|对[于象方话手比]|好[像处久多]|当[时地年中]"
    r"|[我你您他她它这那]们?是(?!的)|行[李程政业动为]|应[用当]|并[且列]|无[论线]"
)
NUMBER_WORDS = r"[〇零一二两三四五六七八九十百千万亿半]|今天|明天|昨天|马上|从不|从未|没有"
REASON_WORDS = r"因为|由于|原因|为了|所以|因此|导致|之所以|\A\W*(?:可能|也许|或许|大概)"
# A figure beside a name is a part of it unless a word leads to it, or a measure follows: 写于2008年.
LEADS_TO_FIGURE = (
    r"[在于为是有约共达至到][ ]?\d|\d[ ]?(?:[年月日天点分秒元块米岁个人次层万亿%]|小时|公[里斤分])"
    r"|[〇零一二两三四五六七八九十百千万亿半]+(?:[年月日天点元块米岁个人次层]|小时|公[里斤分])"
)
# How a short answer opens that points at what was asked about.
POINTS_BACK = r"这(?!个?问题)|此(?:句|诗|词|人|事)|(?:是)?指|意思是|出自"
MINE, YOURS = "我", "[你您]"
ASKS_FOR_A_WAY = r"怎么|如何|怎样"
STEPS = r"首先|然后|接着|最后|先|点击|点选|按|打开|选择|输入|安装|使用|可以|需要|应该"
# A question put back to the user that asks for nothing: it defers no answer.
COURTESY = r"还有(?:什么|其他|别的)|其他(?:问题|需要)|可以帮(?:到|助)?[您你]"
# Said to everybody, whatever was asked.
PLEASANTRY = (
    r"(?:(?:很|非常)?(?:高兴|荣幸|乐意)[^,。!]{0,6}(?:为[您你]服务|帮(?:助|到|忙)[您你]?|回答)[^。!]{0,14}|祝[您你][^。!]{1,16}"
    r"|(?:感谢|谢谢)[您你]?的?(?:提问|咨询|联系|来信|耐心|支持|问题|询问)?[^,。!]{0,8}|[您你]好|不客气|(?:这是(?:一个|个)?)?好问题"
    r"|随时为[您你]服务)\W*$"
)
# …，由张伟主持; 作者是曹雪芹; 老板叫李大华。
NAMES_SOMEBODY = (
    r"由[^,。]{2,8}|(?:作者|负责人|主持人|主讲人|联系人|老师|导演|经理)(?:是|:|叫)?[^,。]{2,8}"
    r"|^[^,。是叫这那它]{1,8}[是叫][^,。的了不]{2,8}\W*$"
)
# ，在信义路五号
NAMES_A_PLACE = r"^\W*(?:地址|位置|我们|就|也)*(?:在|位于|位在|坐落)"
# Beside the answer to another question this may well answer one that wants a yes or a no: ，七天内能退。
STATES = r"[能可会有没不也要需得免都]|包含|已"
# But not what only explains that other answer.
EXPLAINS = r"因为|由于|所以|因此|如果|当|为了"
# How a reply begins that has not named anything yet: 好的，…
NO_NAME = (
    r"[您你]好|好[的吧呀啊]?$|嗯|收到|了解|明白|没问题|当然|抱歉|对不起|不好意思|其实|目前|现在"
    r"|据|根据|关于|对于|至于|一般|通常|首先|以下|如果|我"
)
# What is needed from the user before the question can be answered.
ASKS_FOR = (
    r"请(?:您|你)?(?:先)?(?:提供|确认|告诉|告知|说明|给我|补充)|(?:能|可以)(?:否)?(?:提供|告诉我|说明)"
    r"|需要[^,。]{0,6}更多信息"
)
# A request in the form of a question.
REQUEST = r"[你您](?:能|可以|可否|愿意)[^?]{0,3}(?:帮|再|给|确认|检查|看|查)"
# How somebody begins who wants something made or found.
ORDERS = (
    r"(?:请|麻烦|现在|帮我|帮忙|给我|为我|能不能|可不可以|可以|你|来)*"
    r"(?:写|续写|改写|编|创作|构思|设计|生成|列|推荐|想|翻译|讲|给|补|模仿|起|取|介绍|描述|举|找|算|计算|说)"
)
# How somebody begins who wants something told of a subject that is named.
ASKS_TO_BE_TOLD = r"(?:请|麻烦|帮我|给我|为我|能不能|可以|你|来)*(?:解释|说明|分析|比较|评价|评估|讨论|论述|阐述|阐明)"
# The answer is on its way, or somebody else is to give it.
GOES_TO_FIND_OUT = (
    r"转接|转人工|转交|稍[等候]|正在(?:查|为)|我(?:先|来|去|这就|再){0,2}(?:查|看|确认|检查|核实|找)(?:一下|看|一查)"
)
# No answer: to refuse one, where nothing behind it gives a reason.
REFUSES = (
    r"(?:[很真非常我]*(?:抱歉|对不起|不好意思|遗憾)[,。!]?|我?作为[^,。]{1,20},?|[对就]?于?(?:这[个种]|您的|该)问题,?|目前|暂时|我|还|\s)*+"
    r"(?:(?:不能|无法|不便)[^,。;]{0,24}(?:回答|作答|答复)|(?:不能|无法)(?:对|就)[^,。;]{0,24}提供"
    r"|(?:没有?|尚未|未)学习[^,。;]{0,6}回答|(?:不能|无法|没办法)(?:协助|帮助|帮忙|处理|满足)[^,。;]{0,12}[。!\s]*\Z)"
)
GIVES_GROUNDS = r"因为|由于|因人|取决|所以|因此|但|不过|然而|缺[乏少]|信息|没有[^,。]{0,12}(?:资料|证据|标准|明确)"
# An answer, too: there is none, or none is known.
HAS_NO_ANSWER = (
    r"没有[^,。]{0,8}答案|因[^,。]{1,12}而(?:异|有)|取决于|有争议|信息不足|没有?(?:查到|找到|相关)|未能?(?:查到|找到)"
    # Or the question is wrong.
    r"|(?:说法|问题|前提|假设)[^,。]{0,4}(?:错误|[不没无][^,。]{0,2}(?:准确|成立|正确|恰当|科学|依据|存在|符合))|具体分析"
    r"|问题[^,。]{0,8}(?:无解|无关|不适用)|(?:所以|因此)[^,。]{0,4}[无不][法能][^,。]{0,4}回答"
    r"|没有(?:[^,。]{0,8})(?:经历|经验|情感|感情|感受|情绪|身体|教育背景)|[无不][法能](?:实时)?获取"
    r"|不(?:知道|清楚|得而知)|[无不][法能](?:[^,。]{0,4}确定|得知|判断|给出|知道)|情况有关|看[^,。]{0,6}情况|很?难说|并?不存在"
)
# The message names the language the answer is to have.
_LANGUAGE = r"(?:[英中日韩法德俄泰][文语]|西班牙[文语]|阿拉伯[文语]|拉丁文|汉语)"
NAMES_A_LANGUAGE = (
    rf"翻译|[翻译][成为]|[用以]{_LANGUAGE}|[繁简]体|(?:[改写换转变说讲念唱]成|[写拟想作起取]|[一几两][封篇首段句个份]){_LANGUAGE}"
    rf"|{_LANGUAGE}(?:的?(?:信|邮件|文章|作文|名[字称]?|书名|片名|歌名|标题|单词|句子|版本?|原文|怎么)|是什么|叫什么)"
)
