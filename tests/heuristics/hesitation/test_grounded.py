"""What says where it has it from, follows from what was given, or is only intended: nothing to look up, no claim."""

from metacog.heuristics import Scorer
from tests.tables import table

AWARE = Scorer(profile="aware")


def spoken(text: str, given: str = "") -> list[str]:
    return [signal.type for signal in AWARE.hesitate(text, [], (given,) if given else ()).signals]


@table(
    "text, given",
    [
        # The source stands in the sentence.
        ("Based on the given table, the song was released in 2014.", ""),
        ("According to the provided context, the tower was finished in 1889.", ""),
        ("As per the passage, it weighs 330 kg.", ""),
        ("The table lists a price of $4,500.", ""),
        ("In the given document the deadline is March 15.", ""),
        ("The album came out in 1994 [Document 2].", ""),
        ("From the retrieved passage: he was born in 1971.", ""),
        ("Passage 2 says that it was founded in 1985.", ""),
        ("The fee is $25 (Source 1).", ""),
        ("The provided text clearly mentions it was definitely finished in 1889.", ""),
        ("根據所給表格，這首歌在2014年發行。", ""),
        ("上下文指出，費用是 4,500 元。", ""),
        ("這座塔建於1889年（段落3）。", ""),
        ("文中提到它於1985年成立。", ""),
        # A number of a list on one line is no day.
        ("1. Hey June 3. Daydream", ""),
        ("1. Alpha 2. Beta May 3. Gamma", ""),
        # Given, and rounded.
        ("You get $6.28 back.", '{"refund": 6.280000000000001}'),
        ("Your total is $103.46.", "total: 103.45999999999999"),
        ("That is 97% of it.", "hit rate 96.6%"),
        ("You get back $1,193.35.", "amount=1193.345"),
        # So many days from one that was given.
        ("The next day, 2024-05-21, is free.", "flight on 2024-05-20"),
        ("Two days later, on 2024-05-22, it leaves.", "leaves 2024-05-20"),
        ("The day before, May 19, is free.", "flight on 2024-05-20"),
        ("A week later, 2024-05-27, it returns.", "2024-05-20"),
        ("The previous day (2024-02-29) is free.", "2024-03-01"),
        ("The day before, 2023-12-31, is free.", "2023, and 2024-01-01"),
        ("隔天（5月21日）有空位。", "航班 2024-05-20"),
        ("三天後，2024-05-23 出發。", "2024-05-20"),
        # Intended.
        ("I definitely should not submit this yet.", ""),
        ("I definitely need to rerun the tests before I push.", ""),
        ("We definitely must not deploy on Friday.", ""),
        ("I must definitely ask first.", ""),
        ("我一定不能現在提交。", ""),
        ("我們一定要先跑測試。", ""),
    ],
)
def test_it_says_nothing(text: str, given: str) -> None:
    assert spoken(text, given) == []


@table(
    "text, given",
    [
        ("The song was released in 2014.", ""),
        ("It is not in the given table, but it was built in 1889.", ""),
        ("The restaurant has a table for $4,500.", ""),
        ("It was released on June 3. Daydream came later.", ""),
        ("1. It was on June 3.", ""),
        ("You get $6.38 back.", '{"refund": 6.280000000000001}'),
        ("That is 97% of it.", "hit rate 96.4%"),
        ("The next day, 2024-05-25, is free.", "flight on 2024-05-20"),
        ("On May 21 it is free.", "flight on 2024-05-20"),
        ("It definitely works.", ""),
        ("I definitely fixed it.", ""),
        ("I definitely should have the right answer: it is impossible.", ""),
    ],
)
def test_a_near_miss_is_told(text: str, given: str) -> None:
    assert spoken(text, given) != []


REASONED = (
    "Therefore the index is used: the plan shows an index scan on orders_pkey. Therefore the scan is cheap: the table "
    "has few rows at all. Therefore we keep it: nothing else is any faster here."
)


@table(
    "text, is_told",
    [
        (REASONED, False),
        (
            "因此使用了索引：計劃顯示走的是主鍵。因此掃描很快：表裡只有幾百行資料。因此保留它：其他方法都沒有更快。",
            False,
        ),
        (REASONED.replace(":", "."), True),
        ("Therefore it is slow. Therefore it must go. Therefore we rewrite it.", True),
        ("Therefore the steps are: first open the file, then close it. " * 3, True),
        ("Therefore do the following: open the file and close it. " * 3, True),
        ("因此步驟如下：先打開這個檔案，再把它關上。" * 3, True),
    ],
)
def test_a_conclusion_whose_reason_follows_lacks_none(text: str, is_told: bool) -> None:
    assert ("overconfidence" in spoken(text)) is is_told
