"""What the demo's agents are taught: what people correct, what agents know little about, and what is confirmed."""

from __future__ import annotations

from dataclasses import dataclass

from reviews.demo.voices import FORGE, KURO, ROBIN, Voice

DAYS = 14  # at the end of the history, each of which is looked back on


@dataclass(frozen=True)
class Taught:
    """A topic of an agent's: each time how many days ago, and the words by turns, the person's first.

    Of two the agent found little for its answer; of four the person corrects it.
    """

    voice: Voice
    topic: str
    times: tuple[tuple[float, tuple[str, ...]], ...]


TAUGHT = (
    Taught(
        ROBIN,
        "gift cards",
        (
            (9.4, ("Can I return boots that I paid for with a gift card?", "Yes, within 30 days, for a new card.",
             "That's not right. You forgot the expiry date: it runs for two years only.", "Right, I'll add that.")),
            (5.3, ("I lost the gift card I used. What now?", "With the order number we send a new one to your address.",
             "You forgot the expiry date again, the old one counts.", "Right, the old date stays.")),
            (1.4, ("Does a gift card pay for delivery, too?", "Yes, it pays for the whole order.",
             "Wrong: you missed the expiry date, mine had run out.", "I am sorry. I should have asked for the date.")),
        ),
    ),
    Taught(
        FORGE,
        "deploys",
        (
            (8.2, ("Plan the deploy of the checkout.", "Build, migrate, switch the traffic, watch for ten minutes.",
             "You forgot the rollback plan. What do we do when the migration fails?", "Added: restore the snapshot.")),
            (3.1, ("Plan Thursday's deploy.", "Build at nine, migrate at ten, switch the traffic at eleven.",
             "You left out the rollback plan again!", "You are right; it is in the ticket now.")),
        ),
    ),
    Taught(
        KURO,
        "會議",
        (
            (6.3, ("整理今天會議的重點。", "談了預算、進度和下次的時間。",
             "不對，你忘了頁碼。每個數字都要附頁碼。", "已經補上。")),
            (2.2, ("把上次會議的數字列給我。", "預算三十萬，進度六成，下次週五。",
             "我提醒你，數字後面要有頁碼。", "抱歉，現在補上。")),
        ),
    ),
    Taught(
        ROBIN,
        "customs",
        (
            (6.1, ("Do I pay customs on a parcel to Norway?", "I think there may be a fee above a certain value.")),
            (4.6, ("How high is customs for Switzerland?", "I could not find the rate; the carrier may know.")),
            (2.3, ("Who pays customs when I send the boots back?", "Probably you get it back, but I am not sure.")),
            (0.9, ("Is customs part of the delivery price?", "I believe it is not; please check with the carrier.")),
        ),
    ),
    Taught(
        KURO,
        "電動公車",
        (
            (5.2, ("電動公車的電池能用幾年？", "我沒有找到可靠的數字。")),
            (3.4, ("電動公車在山區跑得動嗎？", "只找到一篇報導，沒有數據。")),
            (1.2, ("電動公車比柴油貴多少？", "我還需要查證，目前沒有資料。")),
        ),
    ),
)  # fmt: skip
# Yating's answers: whose lesson, a word of it, the step; and what she writes herself: for whom, the text, the topics.
ANSWERED = (("forge", "rollback plan", "confirm"), ("kuro", "頁碼", "confirm"))
WRITTEN = (
    ("robin", "Say by which day something arrives only when the carrier has confirmed it.", ("delivery", "late")),
    ("", "Name where a number comes from, or say that it is a guess.", ()),
    ("kuro", "推測和讀到的內容分開寫。", ()),
)  # fmt: skip
# What was asked for after a verdict: how many days ago, whose, the verdict, its topic.
RESEARCHED = (
    (2.6, "forge", "The nightly run should use one clock; 14 of 20 failures fell at midnight.", "nightly run"),
    (1.1, "kuro", "裁決：建議先試辦電動公車三個月，再決定預算。根據《城市交通年報》，搭乘人次增加了 12%。", "電動公車"),
)
