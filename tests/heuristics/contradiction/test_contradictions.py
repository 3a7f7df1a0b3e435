"""Two texts that cannot both hold: a second look and its first, knowledge and a memory (seed 000)."""

import importlib.util
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics.contradiction.contradictions import compared, contradicted, contradicts
from tests.tables import table

spec = importlib.util.spec_from_file_location("measure_corrections", Path(__file__).with_name("measure_corrections.py"))
assert spec
assert spec.loader
measuring = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measuring)


@table(
    ("first", "second", "kind"),
    [
        ("The cache is safe.", "The cache is not safe.", "negation"),
        ("The API supports pagination.", "The API doesn’t support pagination.", "negation"),
        ("The endpoint accepts JSON.", "The endpoint no longer accepts JSON.", "negation"),
        ("Deploys always run on Friday.", "Deploys never run on Friday.", "negation"),
        ("快取是安全的。", "快取不是安全的。", "negation"),
        ("介面支援分頁。", "接口。介面不支持分页；介面不支援分頁。", "negation"),
        ("部署總是在週五進行。", "部署從不在週五進行。", "negation"),
        ("The build succeeded.", "The build did not succeed.", "negation"),
        ("沒有人能進入保險庫。", "小王能進入保險庫。", "negation"),
        ("The database runs on PostgreSQL.", "The database runs on MySQL.", "value"),
        ("The code is MIT licensed.", "The code is licensed under GPL.", "value"),
        ("程式碼採用 MIT 授權。", "程式碼採用 GPL 授權。", "value"),
        ("火車從四號月台發車。", "火車從七號月台發車。", "value"),
        ("Sales rose in the third quarter.", "Sales fell in the third quarter.", "antonym"),
        ("店裡週一公休。", "店裡週一照常營業。", "antonym"),
        ("他的生日是五月三日。", "他的生日是五月五日。", "number"),
        # Kept for some, and given to all.
        ("Only admins can delete projects.", "Everyone can delete projects.", "antonym"),
        ("Any member can delete projects.", "Only the admins can delete projects.", "antonym"),
        ("No one but admins can delete projects.", "All users can delete projects.", "antonym"),
        ("只有管理員可以刪除專案。", "任何人都可以刪除專案。", "antonym"),
        ("所有成员都能导出数据。", "只有管理员能导出数据。", "antonym"),
        # All of them, and so many of them.
        ("Every test passed.", "Two tests failed.", "antonym"),
        ("3 of the tests failed.", "All tests passed.", "antonym"),
        ("所有測試都通過了。", "有兩個測試失敗。", "antonym"),
        # Nothing is what it costs.
        ("The package is free.", "The package costs $20.", "number"),
        ("這項服務是免費的。", "這項服務要收 200 元。", "number"),
        ("The deadline was met.", "The deadline was missed.", "antonym"),
        ("The user prefers dark mode.", "The user prefers light mode.", "antonym"),
        ("用户喜欢深色主题。", "用户喜欢浅色主题。", "antonym"),
        ("The cache is safe.", "The cache is unsafe.", "antonym"),
        ("The test passes on Windows.", "The test fails on Windows.", "antonym"),
        ("The test fails on Windows.", "The test passes on Windows.", "antonym"),
        ("The migration is reversible.", "The migration is irreversible.", "antonym"),
        ("這個做法是安全的。", "這個做法是危險的。", "antonym"),
        ("三月價格上漲。", "三月价格下跌。", "antonym"),
        ("The loan was granted.", "The loan was denied.", "antonym"),
        ("列印機在線。", "列印機離線。", "antonym"),
        ("Rust is slower than C in this loop.", "C is slower than Rust in this loop.", "antonym"),
        ("這個迴圈 Rust 比 C 慢。", "這個迴圈 C 比 Rust 慢。", "antonym"),
        ("The timeout is 30 seconds.", "The timeout is 60 seconds.", "number"),
        ("The team has four members.", "The team has 6 members.", "number"),
        ("The budget is 1,200 euros.", "The budget is 1,300 euros.", "number"),
        ("Kuro was founded in 2019.", "Kuro was founded in 2021.", "number"),
        ("預設逾時是 30 秒。", "默认值。預設逾時是 60 秒。", "number"),
        ("團隊有四個成員。", "团队有六个成员。", "number"),
        ("會議在三樓舉行。", "会议在五楼举行。", "number"),
        ("The bug is in the parser.", "I was wrong: it is in the lexer.", "retraction"),
        ("The bug is in the parser.", "My earlier answer was incorrect.", "retraction"),
        ("錯誤在解析器。", "重新檢視後，我之前說錯了。", "retraction"),
        ("答案是悉尼。", "我收回。", "retraction"),
        ("會議在三點開始。", "會議在四點開始。", "number"),
        ("退款要七天。", "退款要十四天。", "number"),
        ("团队有二十个成员。", "團隊有 12 個成員。", "number"),
        ("Yes, the cache is safe.", "No, the cache is not safe.", "negation"),
        ("是的，他們是同一個人。", "他們不是同一個人。", "negation"),
        ("- Budget: $500", "- Budget: $700", "number"),
        ("阿明對花生過敏。", "阿明對花生不過敏。", "negation"),
        ("這個帳號已經停用。", "這個帳號還沒停用。", "negation"),
        ("I'm able to change the order.", "I'm unable to change the order.", "negation"),
        ("茅山道士可以娶老婆。", "茅山道士可以吃葷，但不能娶老婆。", "negation"),
        ("The cache is safe to delete.", "The cache is small, but it is not safe to delete.", "negation"),
        ("合約六月到期。", "合約八月到期。", "number"),
        ("The lease ends in June.", "The lease ends in August.", "number"),
        ("電池可用八小時。", "電池可用五小時。", "number"),
        ("這條路長三公里。", "這條路長五公里。", "number"),
        ("新方案的成本更高。", "新方案的成本更低。", "antonym"),
        ("The job starts at 03:15.", "The job does not start at 03:15 any more.", "negation"),
        ("Uploads are allowed.", "Uploads are forbidden.", "antonym"),
        ("The index exists.", "The index is missing.", "antonym"),
        ("快取已啟用。", "快取已禁用。", "antonym"),
        ("可以上傳檔案。", "禁止上传文件；禁止上傳檔案。", "antonym"),
        ("Redis is faster than MySQL.", "MySQL is faster than Redis.", "antonym"),
        ("今年比去年熱。", "去年比今年热。", "antonym"),
        ("The timeout is 90 seconds.", "The timeout is 2 minutes.", "number"),
        ("逾時是 90 秒。", "逾時是 2 分鐘。", "number"),
        ("The meeting is on Monday.", "The meeting is on Tuesday.", "number"),
        ("The meeting is in March.", "The meeting is in April.", "number"),
        ("截止日是星期五。", "截止日是周四。", "number"),
        ("費用是三百元。", "费用是三百五十元。", "number"),
        ("他生於1980年。", "他生于1981年。", "number"),
        ("It happened in 2019.", "It happened in 2020.", "number"),
        ("The invoice is for USD 20.", "The invoice is for USD 25.", "number"),
        ("The deploy key expires on Monday.", "On reflection: the deploy key does not expire on Monday.", "negation"),
        ("這個資料表沒有主鍵。", "再看一次：這個資料表有主鍵。", "negation"),
        ("The export runs at 02:15 UTC.", "The export runs at 04:30 UTC.", "number"),
        ("The deadline is Friday.", "The deadline is Monday.", "number"),
        ("The root cause is clearly the cache.", "The root cause is the database, not the cache.", "negation"),
        ("The root cause is clearly the cache.", "The root cause is not the cache but the database.", "negation"),
        ("根本原因一定是快取。", "根本原因是資料庫，不是快取。", "negation"),
        ("根本原因一定是快取。", "根本原因不是快取，而是資料庫。", "negation"),
        ("The heater is on.", "The heater is off.", "antonym"),
        ("The parcel weighs 10 kg.", "The parcel weighs 30 lb.", "number"),
        ("這個錯誤可以重現。", "这个错误无法重现。", "negation"),
        ("他吃肉。", "他不再吃肉。", "negation"),
        ("The office is in Berlin.", "Our office is now in Hamburg.", "value"),
        ("The owner of billing is Anna.", "Ben owns billing.", "value"),
        ("Anna is the manager.", "Ben is the manager.", "value"),
        ("The default branch is main.", "The default branch is develop.", "value"),
        ("The worker needs Python 3.11.", "The worker needs Python 3.12.", "value"),
        ("The version is 2.4.1.", "The version is 2.5.0.", "value"),
        ("Anna lives in Berlin.", "Anna now lives in Hamburg.", "value"),
        ("Backups are stored in Frankfurt.", "Backups are kept in Dublin.", "value"),
        ("The bug is in the parser.", "The bug is in the lexer.", "value"),
        ("The root cause is the cache.", "The root cause is the database.", "value"),
        ("Anna reports to Carol.", "Anna reports to Dave.", "value"),
        ("The release is due on Monday.", "The release is scheduled for Friday.", "value"),
        ("Dark mode is the default theme.", "Light mode is the default theme.", "antonym"),
        ("Node 18 is required to build it.", "Node 22 is required to build it.", "value"),
        ("The project is licensed under MIT.", "The project is licensed under GPL-3.0.", "value"),
        ("The lease ends on 2025-12-31.", "The lease ends on 2026-06-30.", "number"),
        ("The user prefers tabs over spaces.", "The user prefers spaces over tabs.", "antonym"),
        ("Uploads are limited to at most 5 files.", "Uploads are limited to at most 3 files.", "number"),
        ("最多允許 5 次重試。", "最多允许 3 次重试。", "number"),
        ("通知是同步發送的。", "通知是异步发送的。", "antonym"),
        ("負責人是王小明。", "负责人是李大华。", "value"),
        ("辦公室在台北。", "辦公室現在在高雄。", "value"),
        ("小明在台積電上班。", "小明任職於聯發科。", "value"),
        ("這個專案由小美負責。", "這個專案的負責人是阿強。", "value"),
        ("王小明是店長。", "李大华是店长。", "value"),
        ("伺服器部署在東京。", "伺服器托管於首爾。", "value"),
        ("服務需要 Python 3.11。", "服務需要 Python 3.12。", "value"),
        ("這句話出自《紅樓夢》。", "這句話出自《莊子》。", "value"),
        ("預設語言是繁體中文。", "預設語言是英文。", "value"),
        ("退款明天一定會到帳。", "退款明天不會到帳，需要五天。", "negation"),
        ("退款明天到账。", "我又查了一遍，退款明天不会到账，需要五天。", "negation"),
        ("It is safe to delete the folder.", "It is unsafe to delete the folder because the job reads it.", "antonym"),
        ("The invoice was paid.", "I double-checked: the invoice was not paid.", "negation"),
        ("这个开关默认是开启的。", "這個開關預設是關閉的；这个开关默认是关闭的。", "antonym"),
        ("博物館週一開放。", "博物馆周一闭馆。", "antonym"),
        ("The bug is in the parser.", "On a second look the bug isn't in the parser but in the lexer.", "negation"),
        ("The lead developer is Maria.", "The lead developer is Tom.", "value"),
        ("主要開發者是小美。", "主要开发者是阿明。", "value"),
        ("Coffee raises blood pressure.", "Coffee lowers blood pressure.", "antonym"),
        ("The meeting is on 4 May.", "The meeting is on 6 May.", "number"),
        ("Customers may return it within 30 days.", "Customers may return it within 14 days.", "number"),
        ("The bridge was completed in 1932.", "The bridge was completed in 1937.", "number"),
        ("大橋在1932年竣工。", "大桥在1937年竣工。", "number"),
        ("The review happens on Tuesdays.", "The review happens on Thursdays.", "number"),
        ("The current upload limit per file is 5 MB.", "The upload limit per file is 8 MB.", "number"),
        ("`ready(app)` is True.", "So `ready(app)` is False.", "antonym"),
        ("The parcel was delivered on Tuesday.", "The parcel was delivered on Friday.", "number"),
        ("包裹週二送達。", "包裹周五送达。", "number"),
        ("The API allows 100 requests per minute.", "The API allows 1000 requests a minute.", "number"),
        ("The API allows 100 requests a minute.", "The API allows 200-300 requests per minute.", "number"),
        ("退款需要三个工作日。", "退款需要七到十個工作日。", "number"),
        ("Refunds take 3 days.", "Refunds take 7 to 10 days.", "number"),
        ("Refunds take 3–5 days.", "Refunds take 3–7 days.", "number"),
        ("這個端點不需要驗證。", "呼叫這個端點需要帶 token。", "negation"),
    ],
)
def test_it_finds_a_contradiction(first: str, second: str, kind: str) -> None:
    found = contradicts(first, second)
    assert found is not None
    assert found.kind == kind
    assert found.confidence >= 0.5
    assert second[found.second.start : found.second.end] == found.second.text
    assert (found.first is None) is (kind == "retraction")
    assert found.first is None or first[found.first.start : found.first.end] == found.first.text
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()


@table(
    ("first", "second"),
    [
        ("", ""),
        ("The flag is enabled by default.", "The other flag is disabled by default."),
        ("這個開關預設是開啟的。", "另一個開關預設是關閉的。"),
        ("The fare is refundable.", "If the fare is cheap, it is not refundable, because it is a promotion."),
        ("The fare is refundable.", "The fare is not refundable when it is a promotion, but else it is."),
        ("As a silver member you get 2 free bags a flight.", "As a gold member you get 3 free bags a flight."),
        ("銀卡會員可以免費托運兩件行李。", "金卡会员可以免费托运三件行李。"),
        ("The service listens on port 8080.", "The admin service listens on port 9090."),
        ("The team met on 4 June.", "The team met on 6 June."),
        ("The small box may fit.", "Let's assume the small box does not fit, because it is round."),
        ("`f(6) = 0`.", "So `f(3)` is also 0."),
        ("The value is `a`.", "`Fold(size=5, random=None)` is the value, `a`."),
        ("`2.0 < 0` is False.", "`2.5 < 0` is False."),
        ("水沒有情緒，因此無法感知。", "水不能感知情绪，因为水没有情绪。"),
        ("The cache is safe.", ""),
        ("The cache is safe.", "The cache is safe."),
        ("The cache is not safe.", "The cache is unsafe."),
        ("```\nlimit = 1\n```", "```\nlimit = 2\n```"),
        ("The cache is safe.", "The cache is not unsafe."),
        ("The root cause is the database.", "The root cause is the database, not the cache."),
        ("根本原因是資料庫。", "根本原因不是快取，而是資料庫。"),
        ("The cache is safe.", "The database is not safe."),
        ("The bug was fixed.", "The bug was not only fixed but tested."),
        ("The cache is warm.", "There is no doubt that the cache is warm."),
        ("The port must be open.", "The port must not be closed."),
        ("The value is put first.", "The value is input first."),
        ("The value is input first.", "The value is put first."),
        ("這個做法不安全。", "這個做法是危險的。"),
        ("快取是安全的。", "資料庫不是安全的。"),
        ("這樣很安全。", "這樣非常安全。"),
        ("漏洞修好了。", "漏洞不但修好了，也測過了。"),
        ("He likes tea.", "She does not like tea."),
        ("It was found by Euler.", "No, it was found by Euler."),
        ("The cost is due to the upgrade.", "The cost is due to the upgrade, not a fee."),
        ("It is stored in Redis.", "It is not stored in memory but in Redis."),
        ("是碳。", "不是，是碳。"),
        ("主校區位於天津市。", "主校區不在河北省，而是在天津市。"),
        ("這句詩出自陸游。", "這句詩出自陸游，而非李白。"),
        ("有一點慢。", "有两点慢。"),
        ("- Departure: 13:00\n- Price: $12", "- Departure: 11:00\n- Price: $15"),
        ("- 出發：13 點\n- 價格：12 元", "- 出發：11 點\n- 價格：15 元"),
        ("缓存是热的。", "毫无疑问，缓存是热的。"),
        ("Version 2 supports plugins.", "Version 1 does not support plugins."),
        ("第二版支援外掛。", "第一版不支援外掛。"),
        ("In 2019 the price was 3 dollars.", "In 2020 the price was 4 dollars."),
        ("The timeout is 1 minute.", "The timeout is 60 seconds."),
        ("The team has four members.", "The team has 4 members."),
        ("The budget is 1,200 euros.", "The budget is 1200 euros."),
        ("The battery lasts at least 4 hours.", "The battery lasts 10 hours."),
        ("電池至少可用 4 小時。", "電池可用 10 小時。"),
        ("2019 年價格是 3 元。", "2020 年價格是 4 元。"),
        ("步骤 1 需要 5 分钟。", "步骤 2 需要 9 分钟。"),
        ("Is the cache safe?", "The cache is not safe."),
        ("快取是安全的嗎？", "快取不是安全的。"),
        ("The price may go up.", "The price may go down."),
        ("價格可能上漲。", "價格可能下跌。"),
        ("The cache used to be safe.", "The cache is not safe."),
        ("如果磁盘满了，写入会失败。", "写入不会失败。"),
        ("The bug is in the parser.", "If I was wrong, tell me."),
        ("The bug is in the parser.", "He was wrong."),
        ("他喜歡登山，不過不常去。", "他喜歡登山。"),
        ("Refunds take 8 days.", "Refunds take 7 to 10 days."),
        ("退款需要八个工作日。", "退款需要七到十個工作日。"),
        ("Refunds take 3-5 days.", "Refunds take 72-120 hours."),
        ("Refunds take 2 weeks.", "Refunds take 7 to 14 days."),
        ("Mail is collected on Tuesday.", "Mail is collected on Friday."),
        ("呼叫這個端點需要帶 token。", "这个端点需要验证。"),
        ("呼叫這個端點需要帶 token。", "呼叫這個端點需要登入。"),
        ("He likes hiking.", "He likes hiking, but seldom, and never in autumn."),
        ("这个接口需要登录。", "那个接口不需要登录。"),
        ("那款電池可用八小時。", "這款電池可用五小時。"),
        ("這樣做很安全。", "這樣做，不過是很安全。"),
        ("店裡六月有特價。", "店裡八月有特價。"),
        ("There is a sale in June.", "There is a sale in August."),
        ("The job starts at 03:15.", "The job does not start at 02:15 any more."),
        ("服務在 03:15 啟動。", "服务不再在 02:15 启动。"),
        ("The plan costs 10 euros.", "The plan does not cost 12 euros."),
        ("店九點開門。", "店八點不開門。"),
        ("Python 3.11 is supported.", "Python 3.12 is supported."),
        ("We support Windows 10.", "We support Windows 11."),
        ("支援 Python 3.11。", "支援 Python 3.12。"),
        ("Redis is faster than MySQL.", "MySQL is slower than Redis."),
        ("甲比乙快。", "乙比甲慢。"),
        ("The timeout is 120 seconds.", "The timeout is 2 minutes."),
        ("The walk is 5 km.", "The walk is 5000 meters."),
        ("逾時是 120 秒。", "逾时是 2 分钟。"),
        ("I have a meeting on Monday.", "I have a meeting on Tuesday."),
        ("我星期一去游泳。", "我星期二去游泳。"),
        ("費用是三百五十元。", "费用是350元。"),
        ("費用是三百五元。", "费用是三百五十元。"),
        ("他約有三公里要走。", "他有五公里要走。"),
        ("She may come in May.", "She may come in June."),
        ("Rust is slower than C in this loop.", "C is slower than Rust in another one."),
        ("這個迴圈 Rust 比 C 慢。", "那個迴圈 C 比 Rust 慢。"),
        ("The valve in line A is open.", "The valve in line B is closed."),
        ("甲班要考試。", "乙班不考試。"),
        ("The trip takes at least 5 days.", "The trip takes at least 3 days."),
        ("The car costs 18,000 euros.", "Insurance for the car costs 600 euros."),
        ("The user prefers tabs over spaces.", "The user prefers tabs to spaces."),
        ("The heater is on the wall.", "The heater is off."),
        ("The parcel weighs 10 kg.", "The parcel weighs 22 lb."),
        ("這個錯誤可以重現。", "那個錯誤無法重現。"),
        ("Order 1001 costs 30 euros.", "Order 1002 costs 40 euros."),
        ("訂單 1001 要 30 元。", "訂單 1002 要 40 元。"),
        ("The office is in Berlin.", "The office is in Germany."),
        ("The office is in Berlin.", "The office is in Berlin Mitte."),
        ("The office is in Berlin.", "The office was in Hamburg."),
        ("The office was in Berlin until May.", "The office is in Hamburg."),
        ("The office is in Berlin.", "Next year the office is in Hamburg."),
        ("The office is in Berlin.", "The office may be in Hamburg."),
        ("The office is in Berlin.", "The office is in Hamburg and Berlin."),
        ("The office is in Berlin.", "If the office is in Hamburg, call Ben."),
        ("The office is in Berlin.", "The warehouse is in Hamburg."),
        ("The owner is Anna.", "The owner is happy."),
        ("Anna lives in Berlin.", "Ben lives in Hamburg."),
        ("Anna is a manager.", "Ben is a manager."),
        ("Alice likes tea.", "Alice likes coffee."),
        ("It is in Berlin.", "It is in Hamburg."),
        ("Order 1001 is in Berlin.", "Order 1002 is in Hamburg."),
        ("The default branch is main.", "The default branch is protected."),
        ("The worker needs Python 3.11.", "The worker needs Django 5.2."),
        ("The version is 2.4.1.", "The version is v2.4.1."),
        ("負責人是王小明。", "測試的負責人是李大華。"),
        ("負責人是王小明。", "負責人是新來的。"),
        ("負責人是王小明。", "負責人是王小明和李大華。"),
        ("負責人原本是王小明。", "負責人是李大華。"),
        ("辦公室在台灣。", "辦公室在台北。"),
        ("辦公室在台北。", "去年辦公室在高雄。"),
        ("辦公室在台北。", "倉庫在高雄。"),
        ("他在學習。", "他在吃飯。"),
        ("小明喜歡茶。", "小明喜歡咖啡。"),
        ("訂單 1001 已出貨到台北。", "訂單 1002 已出貨到高雄。"),
        ("服務需要 Python 3.11。", "服務需要 Node 20。"),
        ("首都可能是成都。", "首都是重慶。"),
        ("The build succeeded.", "The build needed ten minutes."),
        ("The build will succeed.", "The build succeeded."),
        ("沒有人能進入保險庫。", "小王不能進入保險庫。"),
        ("有人能進入保險庫。", "小王能進入保險庫。"),
        ("Only admins can delete projects.", "Every admin can delete projects."),
        ("Only admins can delete projects.", "Everyone can read projects."),
        ("Only admins can delete projects.", "Not everyone can delete projects."),
        ("Only admins can delete projects.", "If everyone can delete projects, restore them."),
        ("Only admins can delete projects.", "Everyone cannot delete projects."),
        ("Only admins can see 3 projects.", "Everyone can see 5 projects."),
        ("只有管理員可以刪除專案。", "所有管理員都可以刪除專案。"),
        ("只有管理員可以刪除專案。", "任何人都可以查看專案。"),
        ("Every test passed.", "Two tests were skipped."),
        ("Every test passed.", "Two tests passed."),
        ("Three tests passed.", "Two tests failed."),
        ("Every unit test passed.", "Two integration tests failed."),
        ("所有測試都通過了。", "有兩個測試被跳過。"),
        ("三個測試通過了。", "兩個測試失敗了。"),
        ("The package is free.", "The package is free of charge."),
        ("The package is free.", "The delivery costs $20."),
        ("The room is free on Monday.", "The room costs $20."),
        ("這項服務是免費的。", "那項服務要收 200 元。"),
        ("這項服務是免費的。", "這項服務收 0 元。"),
        ("The database runs on PostgreSQL.", "The cache runs on Redis."),
        ("The database runs on PostgreSQL.", "The database runs on Postgresql."),
        ("The code is MIT licensed.", "The code is licensed under MIT."),
        ("The code is MIT licensed.", "The fonts are OFL licensed."),
        ("火車從四號月台發車。", "公車從七號站牌發車。"),
        ("專案採用微服務。", "專案採用敏捷開發。"),
        ("Sales rose in the third quarter.", "Sales fell in the second quarter."),
        ("店裡週一公休。", "店裡週二照常營業。"),
        ("我們三日去爬山。", "我們五日去爬山。"),
    ],
)
def test_it_finds_no_contradiction(first: str, second: str) -> None:
    assert contradicts(first, second) is None


@table(
    ("first", "second", "differ"),
    [
        ("會議在週二。", "會議在星期二。", False),
        ("會議在禮拜二。", "会议在周二。", False),
        ("會議在週二下午。", "會議在星期二下午。", False),
        ("会议在周日。", "会议在星期天。", False),
        ("截止日是週五。", "截止日是禮拜五。", False),
        ("The meeting is on Tuesday.", "The meeting is on Tue.", False),
        ("會議在週二。", "會議在星期三。", True),
        ("会议在礼拜二。", "会议在周四。", True),
        ("會議在週二下午。", "會議在星期三下午。", True),
        ("The meeting is on Tuesday.", "The meeting is on Wednesday.", True),
    ],
)
def test_a_day_of_the_week_is_the_same_by_any_name(first: str, second: str, differ: bool) -> None:
    assert (contradicts(first, second) is not None) is differ
    assert (contradicts(second, first) is not None) is differ


@table(
    ("first", "second", "differ"),
    [
        ("The standup starts at 3 pm.", "The standup starts at 15:00.", False),
        ("The standup starts at 3pm.", "The standup starts at 3:00 p.m.", False),
        ("The shop closes at 5 pm.", "The shop closes at 17:00.", False),
        ("The deadline is 5 pm.", "The deadline is 17:00.", False),
        ("The job runs at 12 am.", "The job runs at midnight.", False),
        ("The lunch is at noon.", "The lunch is at 12 pm.", False),
        ("會議在下午3點開始。", "會議在15點開始。", False),
        ("會議在下午3點。", "會議在15點。", False),
        ("會議在下午3點。", "會議在15:00。", False),
        ("会议时间是下午3点。", "会议时间是15:00。", False),
        ("会议下午三点半开始。", "会议15:30开始。", False),
        ("會議在三點開始。", "會議在下午三點開始。", False),
        ("會議在三點半開始。", "會議在15:30開始。", False),
        ("會議在十點二十分開始。", "會議在10:20開始。", False),
        ("末班車二十三點三十五分開。", "末班车23:35开。", False),
        ("門市晚上九點關門。", "門市21:00關門。", False),
        ("我每晚十二點睡。", "我每晚0:00睡。", False),
        ("The standup starts at 3 pm.", "The standup starts at 16:00.", True),
        ("The standup starts at 3 pm.", "The standup starts at 3 am.", True),
        ("The standup starts at 3 pm.", "The standup starts at 3:10 pm.", True),
        ("The shop closes at 5 pm.", "The shop closes at 18:00.", True),
        ("會議在下午3點開始。", "會議在16點開始。", True),
        ("會議在下午3點開始。", "會議在上午3點開始。", True),
        ("会议下午三点半开始。", "会议15:00开始。", True),
        ("會議在15點開始。", "會議在15:20開始。", True),
        ("門市晚上九點關門。", "門市20:00關門。", True),
        ("我每晚十一點睡。", "我每晚十二點睡。", True),
    ],
)
def test_a_time_of_day_is_the_same_in_12_and_24_hours(first: str, second: str, differ: bool) -> None:
    assert (contradicts(first, second) is not None) is differ
    assert (contradicts(second, first) is not None) is differ


def test_it_shows_times_of_day_as_times() -> None:
    found = contradicts("The standup starts at 3 pm.", "The standup starts at 16:05.")
    assert found is not None
    assert found.detail == "15:00 / 16:05"


@table(
    ("first", "second", "differ"),
    [
        ("The limit is 100 requests per minute.", "The limit is 6000 requests per hour.", False),
        ("The limit is 100 requests per minute.", "The limit is 100 requests a minute.", False),
        ("The limit is 60 per minute.", "The limit is 1 per second.", False),
        ("The limit is 60/min.", "The limit is 1/s.", False),
        ("The job writes 2 GB per hour.", "The job writes 48 GB per day.", False),
        ("The link carries 100 MB/s.", "The link carries 6 GB/min.", False),
        ("We ship 1 release per week.", "We ship 52 releases per year.", False),
        ("At most 100 requests per minute are let in.", "At most 6000 requests per hour are let in.", False),
        ("上限是每分鐘100次。", "上限是每小時6000次。", False),
        ("上限是 100 次/分钟。", "上限是每小时 6000 次。", False),
        ("备份每小时写入 2 GB。", "备份每天写入 48 GB。", False),
        ("每分鐘最多 100 次請求。", "每小時最多 6000 次請求。", False),
        ("他每天跑 5 公里。", "他每週跑 35 公里。", False),
        ("每週一有 3 場會議。", "每週二有 4 場會議。", False),
        ("The limit is 100 requests per minute.", "The limit is 5000 requests per hour.", True),
        ("The limit is 100 requests per minute.", "The limit is 100 requests per hour.", True),
        ("The limit is 60 per minute.", "The limit is 2 per second.", True),
        ("The job writes 2 GB per hour.", "The job writes 50 GB per day.", True),
        ("The plan costs 100 euros per month.", "The plan costs 1500 euros per year.", True),
        ("上限是每分鐘100次。", "上限是每小時5000次。", True),
        ("上限是每分钟100次。", "上限是每小时100次。", True),
        ("备份每小时写入 2 GB。", "备份每天写入 60 GB。", True),
        ("每分鐘最多 100 次請求。", "每小時最多 100 次請求。", True),
    ],
)
def test_a_rate_is_the_same_in_another_unit(first: str, second: str, differ: bool) -> None:
    assert (contradicts(first, second) is not None) is differ
    assert (contradicts(second, first) is not None) is differ


@table(
    ("first", "second", "differ"),
    [
        ("The build succeeded.", "The build failed.", True),
        ("The deployment succeeded.", "The deployment failed.", True),
        ("The job succeeded.", "The job failed.", True),
        ("There are three bugs.", "There are no bugs.", True),
        ("There are 3 bugs in the parser.", "There are no bugs in the parser.", True),
        ("There are two open tickets.", "There is no open ticket.", True),
        ("有三個錯誤。", "沒有錯誤。", True),
        ("這個方法有效。", "這個方法無效。", True),
        ("这个方法有效。", "这个方法无效。", True),
        ("需要登入。", "無需登入。", True),
        ("需要权限。", "无需权限。", True),
        ("報名需要付費。", "報名無需付費。", True),
        ("所有測試都通過。", "有些測試沒有通過。", True),
        ("全部测试都通过了。", "部分测试没通过。", True),
        ("All tests passed.", "Some tests failed.", True),
        ("All tests passed.", "Some tests did not pass.", True),
        ("All users can log in.", "Most users cannot log in.", True),
        ("Most users can log in.", "Most users cannot log in.", True),
        ("所有使用者都可以登入。", "多數使用者無法登入。", True),
        ("许多用户可以登录。", "许多用户无法登录。", True),
        ("The build succeeded.", "The build did not fail.", False),
        ("The build succeeded.", "The deployment failed.", False),
        ("There are three bugs.", "There are no tickets.", False),
        ("There are three bugs.", "There are no other bugs.", False),
        ("There are three bugs in the parser.", "There are no bugs in the lexer.", False),
        ("There are no bugs.", "There are 0 bugs.", False),
        ("There is no doubt.", "There are three doubts.", False),
        ("Three bugs are not fixed.", "No bugs are fixed.", False),
        ("有三個錯誤。", "沒有警告。", False),
        ("這個方法有效。", "那個方法無效。", False),
        ("这个方法无效。", "这个方法没有效。", False),
        ("無需登入。", "不需要登入。", False),
        ("需要登入。", "無需付款。", False),
        ("所有測試都通過。", "有些測試通過。", False),
        ("有些测试通过。", "有些测试没有通过。", False),
        ("不是所有測試都通過。", "有些測試通過。", False),
        ("所有測試都通過。", "有些文件沒有更新。", False),
        ("Some tests passed.", "Some tests failed.", False),
        ("Not all tests passed.", "Some tests passed.", False),
        ("All tests passed.", "Some files failed.", False),
        ("Most users can log in.", "Some users cannot log in.", False),
        ("A few users can log in.", "Most users cannot log in.", False),
        ("Many of the users can log in.", "Not all users can log in.", False),
        ("All users can log in.", "Most users can log in.", False),
        ("多數使用者可以登入。", "部分使用者無法登入。", False),
        ("许多用户可以登录。", "有些用户无法登录。", False),
    ],
)
def test_it_tells_none_some_and_all_apart(first: str, second: str, differ: bool) -> None:
    assert (contradicts(first, second) is not None) is differ
    assert (contradicts(second, first) is not None) is differ


def test_it_shows_the_two_sentences() -> None:
    found = contradicts("Hello 🧭. The cache is safe to delete. Bye.", "Well. The cache is not safe to delete.")
    assert found is not None
    assert found.as_dict() == {
        "kind": "negation",
        "confidence": 0.95,
        "first": {"start": 9, "end": 37, "text": "The cache is safe to delete."},
        "second": {"start": 6, "end": 38, "text": "The cache is not safe to delete."},
        "detail": "one denies what the other says",
        "rule": "the opposite",
    }


DECIDED = {
    "parts of a whole": ("Some tests passed.", "Some tests failed."),
    "another label": ("第二版支援外掛。", "第一版不支援外掛。"),
    "a condition": ("如果磁盘满了，写入会失败。", "写入不会失败。"),
    "compared the other way round": ("Redis is faster than MySQL.", "MySQL is faster than Redis."),
    "compared otherwise": ("Redis is faster than MySQL.", "MySQL is slower than Redis."),
    "this one and that one": ("這個方法有效。", "那個方法無效。"),
    "another time": ("The cache used to be safe.", "The cache is not safe."),
    "another one": ("There are three bugs.", "There are no other bugs."),
    "only a clause": ("退款不會到帳，需要五天。", "退款不會到帳。"),
    "each of something else": ("The build succeeded.", "The deployment failed."),
    "another subject": ("Three tests passed.", "Two tests failed."),
    "hedged": ("The price may go up.", "The price may go down."),
    "none, denied": ("Three bugs are not fixed.", "No bugs are fixed."),
    "something else denied": ("He likes hiking.", "He likes hiking, but seldom, and never in autumn."),
    "the opposite": ("需要登入。", "無需登入。"),
    "another case": ("店九點開門。", "店八點不開門。"),
    "a number of something else": ("銀卡會員可以免費托運兩件行李。", "金卡会员可以免费托运三件行李。"),
    "another kind": ("The service listens on port 8080.", "The admin service listens on port 9090."),
    "not alike enough to count": ("The office is in Berlin.", "The office is in Berlin Mitte."),
    "another bound": ("The trip takes at least 5 days.", "The trip takes at least 3 days."),
    "no number or several": ("無需登入。", "不需要登入。"),
    "the same hour": ("會議在三點開始。", "會議在下午三點開始。"),
    "as much": ("逾時是 120 秒。", "逾时是 2 分钟。"),
    "another date": ("我星期一去游泳。", "我星期二去游泳。"),
    "another number": ("退款要七天。", "退款要十四天。"),
}


def test_it_names_the_rule_that_decides() -> None:
    decided = {rule: {by for _, _, by in compared(*pair)} for rule, pair in DECIDED.items()}
    assert {rule: by for rule, by in decided.items() if rule not in by} == {}


def test_it_is_less_sure_the_less_the_sentences_share() -> None:
    near = contradicts("The old cache is safe to delete.", "The old cache is not safe to delete.")
    far = contradicts("The cache is safe to delete.", "The old cache is not safe to delete.")
    assert near is not None
    assert far is not None
    assert far.confidence < near.confidence


def test_it_names_the_memories_that_knowledge_contradicts_the_surest_first() -> None:
    memories = ["The sky is blue.", "The warm cache is safe to delete.", "The cache is safe to delete."]
    found = contradicted("The cache is not safe to delete.", memories)
    assert [number for number, _ in found] == [2, 1]


@table(
    ("language", "part", "precision", "recall"),
    [
        ("en", None, 0.93, 0.93),
        ("zh", None, 0.95, 0.90),
        ("en", "fresh", 0.95, 0.85),
        ("zh", "fresh", 0.95, 0.95),
        ("en", "held-out", 0.90, 0.90),
        ("zh", "held-out", 0.90, 0.80),
    ],
)
def test_it_is_as_good_as_the_docs_say(language: str, part: str | None, precision: float, recall: float) -> None:
    measured = measuring.contradictions(language, part)
    assert measured.n == (120 if part is None else 40)
    assert measured.precision >= precision
    assert measured.recall >= recall


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_text_never_contradicts_itself(text: str, other: str) -> None:
    found = contradicts(text, text)
    assert found is None or found.kind == "retraction"
    found = contradicts(f"{text}\nThe cache is safe.", f"{other}\nThe cache is not safe.")
    assert found is not None
