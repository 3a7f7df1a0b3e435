"""More tool calls by rule: substantial, not the same again, the first two only (seed 003, 2.3)."""

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.memory.extension import judge
from tests.tables import table


@table(
    ("reason", "concrete"),
    [
        ("目前缺乏台積電 Q3 財報數據，此為核心論據", ["Q3", "數據", "財報"]),  # the seed's chairman
        ("需要查詢央行最新利率", ["利率"]),
        ("查台積電財報", ["財報"]),
        ("要確認《勞動基準法》第 38 條", ["勞動基準法"]),
        ("需要了解日本的失业率数据", ["失业率", "数据"]),
        ("缺少疫苗副作用的统计", ["副作用", "统计"]),
        ("需要失業率的數據", ["失業率", "數據"]),
        ("I need emissions data", ["emissions", "data"]),
        ("还没看 src/cache.py 的锁", ["src/cache.py"]),
        ("Need TSMC Q3 revenue to settle the main point", ["TSMC", "Q3", "revenue"]),
        ("I need the server logs from the failed deploy", ["logs"]),
        ("We still lack the 2023 inflation data for Japan", ["2023", "Japan", "inflation", "data"]),
        ("Need to read src/cache.py to see who takes the lock", ["src/cache.py"]),
        ("tokyo housing prices are missing", ["prices"]),
        ("I have only found the adult dosage of ibuprofen", ["dosage"]),
        ("还没读租房合同的退租条款", ["条款", "合同"]),
        ("Thinking: the changelog of psycopg 3.2", ["3.2", "changelog"]),
        ("must compare `lock()` with the spec", ["lock()"]),
        ("who holds the patent on the separator film", ["patent"]),
        ("the side effects of aspirin in the elderly", ["effects"]),
        ("隔離膜的專利歸誰所有", ["專利"]),
        ("查阿司匹林的副作用", ["副作用"]),
        ("柏林的房租指数有没有下跌", ["指数"]),
        ("Need TSMC's Q3 revenue", ["TSMC", "Q3", "revenue"]),
        ("需要台積電第三季財報", ["財報"]),
        ("Waiting for the results of the load test", ["results", "test"]),
        ("Need the user logs of last night", ["logs"]),
        ("Need the 2024 budget figures of Kyoto", ["2024", "Kyoto", "figures"]),
        ("還沒看完所有判決資料，勞動基準法那件", ["資料", "判決"]),
        ("查用户登录日志", ["日志"]),
        ("查完工日期", ["日期"]),
        ("Need the signed delivery slip of parcel 4417 from the courier", ["4417", "slip", "parcel"]),
        ("Need order 88213 status at the courier", ["88213"]),
        ("需要查包裹 4417 的簽收單", ["4417", "包裹", "簽收單"]),
        ("需要查包裹4417的签收单", ["4417", "包裹", "签收单"]),
        ("還缺訂單 88213 的狀態", ["88213", "訂單"]),
        ("The invoice of the supplier is missing; I need its total", ["invoice"]),
        ("I have to read the stack trace of the second crash", ["trace"]),
        ("The camera in the hall is still to be read", ["camera"]),
        ("還沒看病人的病歷", ["病歷"]),
        ("需要查看路由器的狀態", ["路由器"]),
    ],
)
def test_a_concrete_reason_passes(reason: str, concrete: list[str]) -> None:
    judgement = judge(reason, [])
    assert judgement.approved
    assert judgement.objections == ()
    assert [*judgement.entities, *judgement.needs] == concrete


@table(
    ("reason", "objection"),
    [
        ("need more time", "filler"),
        ("I'm still thinking", "filler"),
        ("I’m still thinking", "filler"),
        ("Please extend, I am almost done", "filler"),
        ("Need 5 more steps to finish the investigation", "filler"),
        ("NEED MORE TIME PLEASE", "filler"),
        ("Thinking about the important question further", "filler"),
        ('I need "more time"', "filler"),
        ("Need more data", "not-concrete"),
        ("I need additional relevant information on this topic", "not-concrete"),
        ("Need more data and information", "not-concrete"),
        ("the weather feels somewhat gloomy", "not-concrete"),
        ("Gloomy weather", "not-concrete"),
        ("More evidence is necessary for a balanced conclusion", "not-concrete"),
        ("需要更多資料來支持論點", "not-concrete"),
        ("需要更多時間", "filler"),
        ("還需要再思考一下", "filler"),
        ("还需要再思考一下", "filler"),
        ("我還沒完成分析，請給我更多步數", "filler"),
        ("我想「再想想」這個問題", "filler"),
        ("需要更多資料", "not-concrete"),
        ("The evidence is incomplete; please extend", "not-concrete"),
        ("I need to gather evidence before concluding", "not-concrete"),
        ("數據還不夠，請批准延長", "not-concrete"),
        ("资料不足，需要继续调查", "not-concrete"),
        ("我需要进一步研究相关信息", "not-concrete"),
        ("天氣有點陰沉沉", "not-concrete"),
        ("The existing information is inadequate, so a deeper analysis is needed.", "not-concrete"),
        ("還要搜集更多資訊來加強主張", "not-concrete"),
        ("Additional information is required to reach a well-founded conclusion.", "not-concrete"),
        ("Need more evidence to make a decision", "not-concrete"),
        ("More data would improve my answer", "not-concrete"),
        ("The evidence so far is thin", "not-concrete"),
        ("Waiting for more results", "not-concrete"),
        ("I need to read more articles", "not-concrete"),
        ("I haven’t read enough papers", "not-concrete"),
        ("Not enough evidence yet to give a final answer", "not-concrete"),
        ("Need time ASAP", "filler"),
        ("I need 2024 more seconds", "filler"),
        ("Need more information to answer the user's question", "not-concrete"),
        ("資料蒐集尚未結束", "not-concrete"),
        ("资料搜集尚未结束", "not-concrete"),
        ("數據不夠，無法判斷", "not-concrete"),
        ("数据不够，无法判断", "not-concrete"),
        ("我還沒看完所有資料", "not-concrete"),
        ("我还没看完所有资料", "not-concrete"),
        ("我需要更多信息来回答用户的问题", "not-concrete"),
        ("我需要更多資訊來回答使用者的問題", "not-concrete"),
        ("I want to be more thorough", "filler"),
        ("More context would help me produce a better answer", "not-concrete"),
        ("需要更多時間思考", "filler"),
        ("再給我幾步就好", "filler"),
        ("我還沒完成調查", "filler"),
        # A number says how much, or stands behind nothing that could bear it.
        ("I need 10000 more tokens", "not-concrete"),
        ("I scanned 250 pages and want to go on", "not-concrete"),
        ("We are at 100 percent effort already", "not-concrete"),
        ("I would rather look at 4000 of those", "not-concrete"),
        ("資料 300 筆還沒看完", "not-concrete"),
        ("至少還要 500 字", "not-concrete"),
    ],
)
def test_an_empty_reason_does_not_pass(reason: str, objection: str) -> None:
    judgement = judge(reason, [])
    assert not judgement.approved
    assert [each.type for each in judgement.objections] == [objection]


@table(
    ("reason", "is_too_short"),
    [
        ("", True),
        ("TSMC's Q3", True),
        ("TSMC's Q3.", False),
        ("台積電財", True),
        ("台積電財報", False),
        ("  Q3 TSMC   ", True),
    ],
)
def test_a_reason_has_ten_columns_at_least(reason: str, is_too_short: bool) -> None:
    assert ("too-short" in [each.type for each in judge(reason, []).objections]) is is_too_short


@table(
    ("before", "reason", "likeness"),
    [
        ("Need TSMC Q3 revenue figures", "need TSMC  Q3 revenue figures!", "same-reason"),
        ("Need TSMC Q3 revenue figures", "We need the revenue figures of TSMC for Q3", "near-duplicate"),
        (
            "Need the server logs of the failed deploy",
            "Need the server logs of the failed deploy last night",
            "near-duplicate",
        ),
        ("Need TSMC's Q3 revenue", "I need the Q3 revenue of TSMC", "near-duplicate"),
        ("缺少台積電第三季財報", "還缺台積電第三季的財報", "near-duplicate"),
        ("查台積電財報數據", "查台積電財報數據。", "same-reason"),
        ("查台積電財報數據", "需要台積電的財報數據", "near-duplicate"),
        ("查台積電財報數據", "查台积电财报数据", "same-reason"),
        ("查台積電財報數據", "需要台积电的财报数据", "near-duplicate"),
        ("查詢日本失業率數據", "我想再查詢一下日本失業率數據", "near-duplicate"),
        ("查询日本失业率数据", "还需要查询日本的失业率数据", "near-duplicate"),
        (
            "Fetch the unemployment rate for France 2023",
            "fetch unemployment rates of France in 2023",
            "near-duplicate",
        ),
        ("Need 2 more steps for TSMC's report", "Need 3 more steps for TSMC's reports", "near-duplicate"),
        ("需要再查 2 次台積電營收資料", "需要再查 3 次台積電營收資料", "near-duplicate"),
        ("需要台積電在第三季的半導體營收", "還需要台積電在第三季的半導體營收數據", "near-duplicate"),
        (
            "Need traceback from test_login.py",
            "Need the traceback of test_login.py, still missing",
            "near-duplicate",
        ),
        ("比較台北與高雄的房價統計", "比較高雄和台北的房價統計資料", "near-duplicate"),
        ("核实欧洲麻疹疫苗接种率报告", "核实麻疹疫苗在欧洲的接种率报告", "near-duplicate"),
        ("需要台積電第三季財報的毛利率數據", "需要台積電第三季財報的毛利率資料", "near-duplicate"),
        (
            "Find rulings on the GDPR fine against Meta",
            "Find the rulings on Meta's fine under GDPR",
            "near-duplicate",
        ),
        (
            "Compare the quarterly revenue table of TSMC with the investor website",
            "Compare the quarterly revenue summary of TSMC with the investor website",
            "near-duplicate",
        ),
        ("I need TSMC's Q3 revenue.", "I need the revenue of TSMC for the third quarter.", "near-duplicate"),
        ("I need TSMC's Q3 revenue.", "TSMC third-quarter revenue is still missing.", "near-duplicate"),
        ("Need the logs of node-17.", "I want to look at node-17's log files.", "near-duplicate"),
        ("Looking for patents on turbines by Siemens.", "Siemens turbine patents are needed.", "near-duplicate"),
        ("需要台積電第三季營收。", "還缺台積電Q3的營收數據。", "near-duplicate"),
        ("需要台積電第三季營收。", "台積電三季度營收還沒查到。", "near-duplicate"),
        ("需要 node-17 的日誌。", "想看 node-17 的日志文件。", "near-duplicate"),
        (
            "The unemployment rate of Spain in 2023 is missing.",
            "We still lack Spain's 2023 unemployment rate.",
            "near-duplicate",
        ),
        ("缺少西班牙2023年的失業率。", "西班牙 2023 年失业率还没有找到。", "near-duplicate"),
        ("I need the second half results of Acme.", "Acme's H2 results are needed.", "near-duplicate"),
        ("需要下半年業績報告。", "需要H2業績報告。", "same-reason"),
        (
            "Check the changelog of Django 5.2 for async.",
            "Read Django 5.2's changelog about async.",
            "near-duplicate",
        ),
    ],
)
def test_the_same_reason_does_not_pass_again(before: str, reason: str, likeness: str) -> None:
    judgement = judge(reason, [before])
    assert [each.type for each in judgement.objections] == [likeness]
    assert judgement.objections[0].detail == "request 1 gave the same reason"


@table(
    ("before", "reason"),
    [
        ("Need TSMC Q3 revenue figures", "Need TSMC Q2 revenue figures"),
        ("Need page 12 of the annual report of TSMC", "Need page 13 of the annual report of TSMC"),
        ("需要查勞動基準法第38條的條文", "需要查勞動基準法第39條的條文"),
        ("需要台積電與三星電子在第三季的營收資料", "需要台積電與三星電子在第二季的營收資料"),
        ("需要台積電與三星電子今年的營收資料", "需要台積電與三星電子去年的營收資料"),
        ("需要台积电上半年的半导体营收数据", "需要台积电下半年的半导体营收数据"),
        (
            "Need TSMC consolidated revenue by segment for Q3 2025",
            "Need TSMC consolidated revenue by segment for Q2 2025",
        ),
        ("Need the server logs", "Need the client logs"),
        ("Read src/cache.py for the lock", "Read src/lock.py for the cache"),
        ("查台積電財報數據", "查聯發科財報數據"),
        ("缺少台積電 Q3 財報", "缺少台積電 Q4 財報"),
        ("查询日本失业率数据", "查询德国失业率数据"),
        ("need more time", "Need the server logs"),
        ("Find court rulings on the GDPR fine against Meta", "Find court rulings on the GDPR fine against Amazon"),
        ("Check the data center revenue table of Nvidia", "Check the data center revenue table of Intel"),
        ("比較台北與高雄的房價統計", "比較台北與台中的房價統計"),
        ("查這款新藥在老年病人身上的副作用", "查這款新藥在老年病人身上的費用"),
        ("查找欧洲麻疹疫苗接种率统计", "查找非洲麻疹疫苗接种率统计"),
        ("需要輝達資料中心的全年營收", "需要超微資料中心的全年營收"),
        ("Need the API docs of the payment service", "Need the API docs of the invoice service"),
        ("I need TSMC's Q3 revenue.", "I need TSMC's Q4 revenue."),
        ("I need TSMC's Q3 revenue.", "I need TSMC's second quarter revenue."),
        ("Need the logs of node-17.", "Need the config of node-17."),
        ("Need the logs of node-17.", "Need the logs of node-18."),
        ("Looking for patents on turbines by Siemens.", "Siemens turbine prices are needed."),
        ("需要台積電第三季營收。", "需要台積電第四季營收。"),
        ("需要 node-17 的日誌。", "需要 node-17 的設定檔。"),
        ("需要台積電的營收。", "需要聯電的營收。"),
        ("The unemployment rate of Spain in 2023 is missing.", "We still lack Spain's 2023 inflation rate."),
        ("缺少西班牙2023年的失業率。", "缺少西班牙2023年的通膨率。"),
        ("Check the changelog of Django 5.2 for async.", "Read Django 5.1's changelog about async."),
        ("Need the logs of node-17.", "Need the logs and the config of node-17."),
        ("I need the results of the first half of the match.", "I need the H1 results of Acme."),
    ],
)
def test_another_reason_passes(before: str, reason: str) -> None:
    assert judge(reason, [before]).approved


def test_it_looks_at_every_request_before() -> None:
    judgement = judge("Need the server logs", ["Need the server logs", "查台積電財報數據"])
    assert [each.type for each in judgement.objections] == ["too-many", "same-reason"]
    assert judgement.objections[1].detail == "request 1 gave the same reason"


@table(("count", "approved"), [(0, True), (1, True), (2, False), (3, False)])
def test_only_the_first_two_pass_by_rule(count: int, approved: bool) -> None:
    previous = ["Need the client logs", "查台積電財報數據", "Read src/lock.py for the cache"]
    assert judge("Need TSMC Q3 revenue figures", previous[:count]).approved is approved


def test_a_judgement_is_said_as_json() -> None:
    assert judge("Need TSMC's more time", []).as_dict() == {
        "approved": True,
        "objections": [],
        "entities": ["TSMC"],
        "needs": [],
    }
    assert judge("need more time", []).as_dict()["objections"] == [
        {"type": "filler", "detail": "the reason only says that there is more to do"}
    ]


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3))
def test_whatever_is_asked_gets_an_answer(reason: str, previous: list[str]) -> None:
    judgement = judge(reason, previous)
    assert judgement.approved is not bool(judgement.objections)
    assert not judge(reason, [*previous, reason]).approved
