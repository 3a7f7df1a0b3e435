"""What has one value at a time, and the shapes of sentences that give it, English and Chinese.

Ours: what people and agents put into a memory (owners, places, versions, ports, dates). All of it is looked for in
folded text: small letters, simplified characters, half-width signs. A shape has the groups "subject" and "value", and
"verb" where the verb tells what is said.
"""

import re
from typing import NamedTuple


class Shape(NamedTuple):
    pattern: re.Pattern[str]
    relation: str = ""  # as the verb says
    takes_any: bool = False  # else its value is a name, an identifier, or has "the" before it


def _any(listed: str) -> str:
    """Give a pattern for one of the words, where "_" stands for a blank."""
    return f"(?:{'|'.join(listed.split())})".replace("_", " ")


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Somebody or something of which there is one at a time, and that a name is given for.
_ROLE = _any("""
    owner lead leader manager maintainer author contact assignee ceo cto cfo president chair chairman chairwoman
    chairperson head director boss supervisor teacher doctor dentist landlord tenant winner champion captain coach
    husband wife spouse partner fiancé fiancée mentor advisor adviser editor founder inventor principal mayor on-call
    capital
""")
_NAMED = _any(r"""
    headquarters hq office birthplace hometown residence venue location destination origin room seat name nickname
    title surname username login email e-mail mail address hostname host domain url link endpoint website password
    passphrase key pin secret token bucket tag channel namespace cluster region zone server proxy employer school
    university bank vendor supplier provider carrier registrar airline hotel major currency timezone time_zone
    language locale framework broker database license licence model runtime engine compiler codename birthday
    anniversary deadline (?:due|start|end|launch|release|delivery|expiry|wedding|moving)_date schema
    (?:entry|primary|preferred|current|official|main|lead|chief)_\w+
    root_cause cause culprit reason bug error problem issue fault leak bottleneck regression
    port version phone extension number zip_code postcode postal_code code id gate release build date
""")
# Of these any word is a value.
_QUALITY = _any(r"""
    colou?r status priority severity log_level encoding format plan tier default mode file_system filesystem branch
    default_\w+ protocol algorithm strategy blood_type
    favou?rite_(?:colou?r|food|dish|drink|sport|fruit|season|subject)
""")
_WHERE = ("in", "at")
_PLACED = _any("located based hosted stored held kept deployed situated parked headquartered installed buried")
_VERB = _any(r"""
    lives?_(?:in|at) resides?_(?:in|at) works?_(?:for|at|in) studies_at is_employed_(?:by|at) comes?_from grew_up_in
    was_born_(?:in|at) reports?_to belongs?_to points?_to defaults?_to resolves?_to depends_on listens?_(?:on|at)
    sits?_(?:in|at) is_(?:assigned|married|pinned|set|engaged)_to is_(?:called|named) is_(?:written_in|powered_by)
    is_licensed_under
    is_due(?:_(?:on|in))? is_scheduled_(?:for|on) starts?_(?:on|at) ends?_(?:on|at) leaves?_from departs?_from
    (?:is|was)_(?:owned|maintained|led|managed|run|written|founded|developed|designed|painted|directed)_by
    (?:is|was)_(?:invented|discovered|chaired|built|composed)_by
""")
_DOES = _any("""
    owns leads manages maintains chairs runs founded wrote invented discovered directed heads painted designed composed
""")
_NEEDS = _any(r"""
    needs requires uses targets runs(?:_on)? is_on is_at is_pinned_to ships_with upgraded_to is_built_with
""")
_WHOSE = r"(?:(?:the|our|my|his|her|its|their|your|this) )?"
_ADVERB = r"(?:(?:now|currently|still|always|actually|really|today|officially|set to|called) )*"
_OF = r"(?: (?:of|for|in|on|at|to|behind) [^,;:]{1,60}?)?"
_IS = r"(?:is|are|=|:)"
_VERSION = r"(?P<value>\d+(?:\.\d+)*(?:-[\w.]+)?)"

ENGLISH = tuple(
    Shape(re.compile(pattern), *rest)
    for pattern, *rest in (
        (
            rf"(?P<value>[^,;]{{1,50}}) {_IS} {_ADVERB}the (?P<subject>[^,;:]{{0,40}}?\bdefault(?: \w+)?{_OF})",
            "is",
            True,
        ),
        (rf"{_WHOSE}(?P<subject>[^,;:]{{0,60}}?\b{_QUALITY}{_OF}) {_IS} {_ADVERB}(?P<value>[^,;]{{1,50}})", "is", True),
        (
            rf"{_WHOSE}(?P<subject>[^,;:]{{0,60}}?\b(?:{_ROLE}|{_NAMED}){_OF}) {_IS} {_ADVERB}(?P<value>[^,;]{{1,50}})",
            "is",
        ),
        (
            rf"(?P<value>[^,;]{{1,50}}) {_IS} {_ADVERB}(?:the|our|my|his|her|their|your) "
            rf"(?P<subject>[^,;:]{{0,40}}?\b{_ROLE}{_OF})",
            "is",
        ),
        (
            rf"(?P<subject>[^,;:]{{1,80}}?) (?:is|are|lies|stands) {_ADVERB}(?P<verb>(?:{_PLACED} )?(?:in|at)) "
            r"(?P<value>[^,;]{1,50})",
        ),
        (rf"(?P<subject>[^,;:]{{1,80}}?) {_ADVERB}(?P<verb>{_VERB}) {_ADVERB}(?P<value>[^,;]{{1,50}})",),
        (rf"(?P<value>[^,;]{{1,40}}?) (?P<verb>{_DOES}) (?P<subject>[^,;]{{1,60}})",),
        (rf"(?P<subject>[^,;:]{{1,60}}? {_NEEDS} [a-z][\w+#-]*) v?{_VERSION}", "version", True),
        (rf"(?P<name>[a-z][\w+#-]*) {_VERSION} is (?P<subject>(?:required|needed)\b.{{0,60}})", "version", True),
        (
            rf"(?P<subject>[^,;:]{{1,80}}?) (?:is|are) (?:on|at|in)? ?(?:version|release|v) ?{_VERSION}",
            "version",
            True,
        ),
    )
)

_ZH_ROLE = _any("""
    负责人 联系人 承办人 主管 经理 老板 作者 译者 导演 导师 班主任 总监 店长 主席 校长 院长 部长 队长 组长 班长 市长
    (?:主要|首席)(?:开发者|工程师|设计师|架构师|作者|供应商|客户) 主编 教练
    总统 总理 主任 创办人 创始人 执行长 总经理 董事长 首都 省会 冠军 得主 凶手 法人
""")
_ZH_NAMED = _any("""
    编辑 老师 丈夫 妻子 太太 先生 男友 女友 房东 房客 总部 所在地 地点 位置 出生地 故乡 老家 户籍 密码 口令 密钥
    帐号 账号 用户名 使用者名称 生日 出生日期 电话 手机 地址 住址 邮箱 信箱 电邮 网址 域名 主机 名字 姓名 名称 全名
    代号 绰号 端口 连接埠 埠号 通讯端口 版本 版号 版本号 截止日期? 期限 到期日 交期 日期 时间 上线日 发布日 颜色
    分支 语言 语系 时区 币别 货币 默认值 预设值 预设 默认 价格 窗口 供应商 厂商 银行 学校 雇主 公司 血型 主修 专业
    科系 职位 职称 状态 优先级 优先顺序 格式 编码 协议 模型 数据库 资料库 框架 引擎 许可证 授权 频道 群组 区域 机房
    航班 登机口 座位 房号 车牌 门号 编号 方案 等级 根因 根本原因 原因 主因 症结 瓶颈 最爱 偶像 星座 生肖 国籍 籍贯
""")
_ZH_PLACED = _any("""
    办公室 总部 公司 分店 门店 餐厅 店 会议 会议室 服务器 伺服器 机房 仓库 工厂 实验室 教室 考场 家 老家 婚礼 面试
    活动 比赛 展览 音乐会 演唱会 聚会 数据中心 资料中心 备份 档案 文件 文档 代码 程式码 钥匙 根因 问题 漏洞 错误
    设定档 配置 日志 数据库 资料库 校区 学校 医院 诊所 宿舍 车 停车位 座位
""")
_ZH_VERB = _any("""
    位于 位在 住在 住 坐落[于在] 设[在于] 部署[在于] 托管[在于] 架设在 存放?在 放在 保存在 储存在 停在 出生[于在] 生于
    毕业[于自] 任职于 就职于 就读于? 来自 属于 隶属于? 搬[到去至] 迁[到至往] 嫁给 娶了? 指向 监听 使用的是 用的是 出自
    写于 建于 成立于 改名为 更名为 叫做? 名叫
""")
_ZH_WORKS = _any("上班 工作 任职 念书 读书 上学 就读 服务 教书")
_ZH_BY = _any("负责 管理 维护 主持 带领 撰写 领导 处理 接手 承办 设计 发明 创立 担任 执导 主办 提供")
_ZH_DOES = _any("负责 管理 维护 主持 带领 撰写 领导 创立 发明 执导 接手")
_ZH_NEEDS = _any("需要? 要求 使用 采用 运行在? 跑在? 执行于 升级[到至] 基于 锁定在?")
_ZH_NOW = _any("目前 现在 现 如今 已经 已 仍然 仍 还 一直 主要 暂时 正式 刚") + "*"
_ZH_IS = _any("就?是 为 叫做? 改为 改成 改到 变成 换成 定在 定于 定为 设为 设在 在 :")
_ZH_VALUE = "(?P<value>[^,;。:]{1,16}?)"

CHINESE = tuple(
    Shape(re.compile(pattern), relation, True)
    for pattern, relation in (
        (
            rf"(?P<subject>[^,;。:]{{0,24}}?(?:{_ZH_ROLE}|{_ZH_NAMED})){_ZH_NOW}{_ZH_IS} ?(?P<value>[^,;。]{{1,30}}?)",
            "is",
        ),
        (rf"(?P<subject>[^,;。:]{{1,20}}?){_ZH_NOW}(?P<verb>{_ZH_VERB}) ?{_ZH_VALUE}", ""),
        (
            rf"(?P<subject>[^,;。:]{{0,16}}?{_ZH_PLACED}){_ZH_NOW}(?P<verb>在){_ZH_VALUE}"
            r"(?:举行|举办|召开|进行|里面?|内)?",
            "",
        ),
        (rf"(?P<subject>[^,;。:]{{1,10}}?){_ZH_NOW}在{_ZH_VALUE}(?P<verb>{_ZH_WORKS})", ""),
        (rf"(?P<subject>[^,;。:]{{1,24}}?){_ZH_NOW}由{_ZH_VALUE}(?P<verb>{_ZH_BY})", ""),
        (rf"(?P<value>[^,;。:]{{2,6}}?){_ZH_NOW}(?P<verb>{_ZH_DOES})了?(?P<subject>[^,;。:]{{2,24}}?)", ""),
        (rf"(?P<value>[^,;。:]{{2,8}}?){_ZH_NOW}(?:就?是|担任)(?P<subject>[^,;。:]{{0,20}}?{_ZH_ROLE})", "is"),
        (
            rf"(?P<subject>[^,;。:]{{1,24}}?{_ZH_NEEDS} ?[a-z][a-z+#.-]*) ?v?(?P<value>\d+(?:\.\d+)*)版?",
            "version",
        ),
    )
)

# Verbs that say the same.
_ALIKE = {
    "place": "in at 位于 位在 在 坐落于 坐落在 设在 设于 "
    + " ".join(
        f"{verb}_{where}"
        for verb in ("located", "based", "situated", "headquartered", "hosted", "deployed")
        for where in _WHERE
    ),
    "store": "stored_in stored_at held_in held_at kept_in kept_at 存放在 存在 放在 保存在 储存在",
    "live": "live_in lives_in live_at lives_at resides_in resides_at reside_in 住在 住",
    "work": "works_for works_at work_for work_at is_employed_by is_employed_at 任职于 就职于 上班 工作 任职 服务",
    "study": "就读于 就读 念书 读书 上学",
    "due": "is_due is_due_on is_due_in is_scheduled_for is_scheduled_on",
    "called": "is_called is_named 叫 叫做 名叫",
    "deploy": "部署在 部署于 托管在 托管于 架设在",
    "born": "出生于 出生在 生于",
    "graduate": "毕业于 毕业自",
    "moved": "搬到 搬去 搬至 迁到 迁至 迁往",
}
VERBS = {verb.replace("_", " "): relation for relation, listed in _ALIKE.items() for verb in listed.split()}
# Verbs of somebody who has a part: Anna owns it, she is the owner of it.
ROLES = {
    "owns": "owner",
    "leads": "lead",
    "manages": "manager",
    "maintains": "maintainer",
    "chairs": "chair",
    "founded": "founder",
    "wrote": "author",
    "invented": "inventor",
    "is owned by": "owner",
    "is led by": "lead",
    "is managed by": "manager",
    "is maintained by": "maintainer",
    "is chaired by": "chair",
    "was founded by": "founder",
    "was written by": "author",
    "was invented by": "inventor",
    **{verb: verb for verb in ("管理", "维护", "主持", "带领", "撰写", "领导", "创立", "发明", "执导", "承办")},
    **dict.fromkeys(("负责", "接手"), "负责人"),
}

# What stands behind or before a value and belongs to none: "… now", "… since May".
BESIDE = re.compile(
    r" (?:now|instead|today|these days|nowadays|again|already|from now on|as of (?:now|today)|since [^,;]{1,30})$"
    r"|^(?:as of (?:now|today)|now|today|these days|currently|for now),? "
    r"|^(?:目前|现在|如今|即日起|从现在起),?|(?:了|喔|哦|啊)$"
)
# No value, or more than one.
NO_VALUE = re.compile(
    r"^(?:in|at|on|by|for|with|from|to|up|very|too|so|still|being|about) |^\w{2,}(?:[^r]ed|ing|able|ful|ous)$"
    r"|\b(?:and|or|both|either|not|no|than|that|which|who|where|when|if|because|also|too|as well|one of|among|part of"
    r"|unknown|tbd)\b|[/&、]|和(?!平)|[与跟及或也不没]|以及|(?<![成首京])都|之一|其中|未知|未定|待定"
    r"|(?:好|新|谁|什么|哪里?)的?$|的$|比|从"
)
ARTICLE = re.compile(r"^(?:the|a|an|our|my|his|her|their|room|port|v|version) |^v(?=\d)|(?:里|里面|内|号)$")
SUBJECT_STOP = re.compile(r"'s\b|[的之我们咱你您他她它本该]|(?<!在)现在")
SUBJECT_TOKEN = re.compile(r"[a-z0-9][\w.+#-]*|负责人|(?:(?!负责人)[\u3400-\u9fff])+", re.ASCII)
SUBJECT_STOPWORDS = _set("""
    the a an our my his her its their your this of for in on at to is are currently now i we he she it they there
""")
VALUE_TOKEN = re.compile(r"[a-z0-9][\w.+#@:/-]*|[\u3400-\u9fff]", re.ASCII)
VALUE_STOPWORDS = _set("the a an our my in on at of mr mrs ms dr")

# One of these holds places, so that who is in it may be in one of them.
REGIONS = _set("""
    europe asia africa america australia china taiwan japan korea germany france italy spain england britain uk usa us
    canada india brazil mexico california texas bavaria scotland ireland netherlands switzerland austria poland sweden
    欧洲 亚洲 非洲 美洲 中国 台湾 日本 韩国 美国 英国 法国 德国 意大利 西班牙 加拿大 印度 巴西 泰国 越南 北部 南部
    中部 东部 国外 国内 海外 云端 本地
""")
