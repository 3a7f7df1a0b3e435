"""What fills a request for more steps without saying anything, and what names a need (seed 003, 2.3).

The seed gives "need time" and "thinking"; the rest is ours, from asking how else the same is said. All folded; Chinese
in both scripts, since a request may mix them.
"""


def _listed(listed: str) -> tuple[str, ...]:
    """Longest first, so that what is cut out of a text leaves no half of a longer one."""
    return tuple(sorted(listed.split(), key=len, reverse=True))


# Words that a request may hold and still ask for nothing: function words, time and effort, praise of data as such.
FILLERS = frozenset(
    _listed("""
    a an the this that these those it its i i'm i'd i'll i've me my we our us you your he she they them their there
    here and or but so because since as if then than of for to from in on at by with about into over up out off is are
    was were be been being am do does did doing done have has had having can could may might must shall should will
    would not no yes ok okay well just only also too very really quite still yet already again almost nearly now
    please pls sorry thanks thank hi hello let's let lets need needs needed needing want wants wanted require requires
    required requesting request requested ask asking more most much many some any all other another few several bit
    little lot lots extra additional further time times moment while longer long minutes minute seconds second hours
    hour soon later step steps call calls tool tools round rounds turn turns attempt attempts try tries trying
    extension extend budget quota allowance limit think thinking thought thoughts reason reasoning consider
    considering reflect reflecting ponder pondering continue continuing keep keeps going go get getting make making
    give giving take taking finish finishing complete completing conclude conclusion wrap work working works progress
    task job things thing stuff investigate investigating investigation research researching explore exploring dig
    digging deeper deep look looking check checking verify verifying understand understanding analyse analyze
    analysing analyzing analysis study studying find finding search searching gather gathering collect collecting
    learn know see use using important relevant better best good great necessary sufficient enough useful helpful
    detailed specific full proper reliable recent latest various certain different new accurate correct concrete
    supporting support supports argument arguments claim claims side sides balanced well-founded appropriate topic
    issue problem question answer matter subject situation case point everything something anything sure carefully
    thoroughly properly fully quickly which what who when where why how max maximum
    incomplete insufficient inadequate unfinished before after concluding close nearer grant granted approve approved
    current currently existing present available comprehensive thorough robust solid stronger convincing confident
    confidence overall general clearer picture depth
    reach reaching decide deciding decision decisions judgement judgment determine determining improve improves
    improved improving provide provides providing respond reply so far thin weak scarce sparse limited wait waiting
    haven't hasn't hadn't don't doesn't didn't isn't aren't wasn't can't cannot couldn't won't final finally
    await awaiting read reading asap fyi btw urgent urgently immediately
    reached missing lacking lacks lack absent against under between within during
    """)
)

# What can be looked up, and says by itself what about: "emissions data" is a need as it stands.
TELLING = frozenset(
    _listed("""
    patent patents emissions index indices turnover wages salary salaries mortality unemployment inflation effects
    symptoms
    專利 专利 指數 指数 費用 费用 薪資 薪资 工資 工资 副作用 症狀 症状 排放 毛利 毛利率 失業率 失业率 增長率 增长率
    成長率 成长率 死亡率 房價 房价 油價 油价 關稅 关税 稅率 税率
    """)
)
# What can be looked up. With a word beside it that is no filler, it is a need for data.
NEEDS = TELLING | frozenset(
    _listed("""
    data dataset datasets figure figures statistic statistics stats number numbers price prices cost costs revenue
    earnings report reports filing filings source sources citation citations reference references paper papers article
    articles survey surveys benchmark benchmarks measurement measurements log logs trace traces traceback output
    outputs result results test tests schema schemas config configuration setting settings documentation docs
    changelog release version versions code file files function module record records table tables rate rates share
    shares ratio law statute ruling regulation policy contract clause quote quotes date dates evidence information
    info details list dose dosage temperature weight population capacity history commit commits diff error errors
    """)
)

ZH_FILLERS = _listed("""
    需要 更多 時間 时间 一些 一點 一点 一下 再 想想 思考 思索 思路 考慮 考虑 研究 調查 调查 探索 深入 了解 瞭解 理解
    分析 查詢 查询 查找 查看 查 找 看 看看 搜尋 搜索 確認 确认 驗證 验证 檢查 检查 繼續 继续 完成 進行 进行 進一步
    进一步 還 还 還沒 还没 尚未 沒有 没有 沒 没 不夠 不够 不足 足夠 足够 充分 完整 詳細 详细 具體 具体 相關 相关 重要
    必要 有用 可靠 準確 准确 最新 其他 其它 各種 各种 某些 這個 这个 那個 那个 這些 这些 這 这 那 此 我 我們 我们 你
    您 請 请 讓 让 給 给 想 要 想要 希望 可以 能 能夠 能够 才能 必須 必须 應該 应该 可能 因為 因为 所以 由於 由于 目前
    現在 现在 已經 已经 仍 仍然 仍需 的 了 著 着 地 得 和 與 与 及 或 以 以便 為 为 為了 为了 在 對 对 於 于 是 有 很
    更 多 些 個 个 次 步 步驟 步骤 步數 步数 工具 調用 调用 呼叫 額度 额度 延長 延长 申請 申请 問題 问题 議題 议题
    主題 主题 事情 情況 情况 結論 结论 答案 總結 总结 任務 任务 工作 回答 快 快要 就 就好 好 才 也 都 嗎 吗 呢 吧 啊
    結束 结束 無法 无法 判斷 判断 決定 决定 所有 全部 看完 讀完 读完 還沒查完 还没查完 尚未查完
    閱讀 阅读 等待 太少 薄弱 不多 有限 盡快 尽快 提高 提升 改善 改進 改进 答覆 答复
    夠 够 批准 核准 准許 准许
    比較 比较 核實 核实 方面 方向 部分 到 做 缺少 缺 支持 論點 论点 觀點 观点 立場 立场 佐證 佐证 平衡 全面 更好 來 来
    蒐集 搜集 收集 加強 加强 強化 强化 充實 充实 補充 补充 完善 深度 廣泛 广泛 說服力 说服力 主張 主张 立論 立论
""")
ZH_NEEDS = _listed(
    " ".join(sorted(word for word in TELLING if not word.isascii()))
    + """
    數據 数据 資料 资料 資訊 信息 財報 财报 營收 营收 報告 报告 報表 报表 統計 统计 價格 价格 股價 股价 成本 來源 来源
    出處 出处 文獻 文献 論文 论文 日誌 日志 紀錄 記錄 记录 測試 测试 結果 结果 輸出 输出 文件 檔案 版本 指標 指标 法規
    法规 法條 法条 條文 条文 判決 判决 樣本 样本 比例 利率 匯率 汇率 設定 设置 配置 程式碼 代码 錯誤 错误 證據 证据
    新聞 新闻 清單 清单 名單 名单 日期 數字 数字 歷史 历史 佔比 占比 銷量 销量
    條款 条款 工期 交期 參數 参数 規格 规格 規定 规定 政策 產量 产量 產能 产能 人口 面積 面积 引文 原文 合約 合同
    訂單 订单
"""
)
# Whose question it is, and that it is to be answered, says nothing of what is missing.
AIM = (
    r"\b(?:answer(?:ing)?|help(?:ing)?|satisfy(?:ing)?|address(?:ing)?|resolv(?:e|ing)|(?:reply|respond)(?:ing)? to)"
    r" (?:the |my |our )?(?:user|customer|client)(?:['’]?s['’]?)?(?: (?:questions?|requests?|query|queries))?\b"
    r"|(?:回答|答[覆复]|解答|回[覆复應应])(?:用[戶户]|使用者|客[戶户])(?:提出)?的?(?:問題|问题|提問|提问|疑問|疑问)?"
)
