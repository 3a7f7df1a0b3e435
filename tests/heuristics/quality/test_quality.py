"""The self-monitor: what it flags in either language, and what it leaves alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metacog.heuristics import PolicyError
from metacog.heuristics.policy.quality_settings import LengthLimits, Limits, QualitySettings
from metacog.heuristics.quality.quality import Quality, assess
from metacog.heuristics.text.utterance import fingerprint, similarity
from tests.tables import table

ANSWER = "The cache was stale, so I restarted it; the tests pass again."
CHINESE = "快取過期了，所以我重新啟動了它，測試又通過了。"


def assessed(response: str, message: str | None = None, **known: Any) -> Quality:
    settings = QualitySettings.from_dict(known.pop("settings", {}))
    return assess(response, user_message=message, **{"recent": (), "language": "en", **known}, settings=settings)


def flags(quality: Quality) -> list[str]:
    return [flag.flag for flag in quality.flags]


ACCOUNTED = [
    ("誰？", "小王。", ["answered"]),
    ("Is it safe, and is it legal?", "Yes.", ["decided"]),
    ("What does it cost? When does it arrive?", "It costs $5. I will find out the rest.", ["its own words", "put off"]),
    ("怎麼復原上一次提交？會不會弄丟？", "`git reset --soft HEAD~1`，不會弄丟。", ["shown", "its own words"]),
    ("Is there parking? What does it cost?", "Yes, five euros.", ["decided", "answered beside another"]),
    ("誰寫了《三體》，什麼時候出版的？", "劉慈欣2008年寫的。", ["answered", "answered within another"]),
    (
        "That book is from 1886. Who wrote it?",
        "The book was published in 1886 under a pen name; it sold badly.",
        ["the rest of the message"],
    ),
    ("How many?", "Enough.", ["a short reply"]),
    ("Can you discuss my case?", "I'm sorry, but I cannot discuss it.", ["refused"]),
    ("How many are there? What do they weigh?", "10,100.", ["answered", None]),
    ("如何重置密码？", "如何重置密码", [None]),
]


def test_it_names_what_accounts_for_each_question() -> None:
    found = {(message, response): [*assessed(response, message).accounted] for message, response, _ in ACCOUNTED}
    assert found == {(message, response): by for message, response, by in ACCOUNTED}


@table(
    ("message", "response"),
    [
        ("Why do the tests fail?", "The tests fail because the cache is stale."),
        ("What is the capital of France?", "It is called Paris."),
        ("Is the cache stale?", "Yes, since this morning it has been, and nobody restarted the service all day long."),
        ("How many were there?", "I found 12 of them in the drawer below the desk in the other room this morning."),
        ("Why?", "Because nobody restarted it."),
        ("Reset my password.", "I have reset it; your password is in the mail."),
        ("Thank you for your help!", "You're welcome! Have a great day."),
        ("Can you cancel order 12 and refund me?", "Could you tell me the e-mail address of the account first?"),
        ("為什麼測試失敗？", "測試失敗是因為快取過期了。"),
        ("Is there somebody else I could talk to about that?", "I will transfer you to a human agent; please hold on."),
        ("Who is the most powerful singer of all?", "There is no single answer: it depends on whom you ask and when."),
        ("Where did the last parcel go?", "I'm sorry, but I could not find a trace of it in the list I was given."),
        ("That book is from 1886. Who wrote it?", "The book was published in 1886 under a pen name; it sold badly."),
        ("中国的首都是哪里？", "北京。"),
        ("他是《西遊記》中的哪個人物？", "這位就是後來法號叫悟淨的沙和尚。"),
        ("哪個歌手最有統治力？", "這因人而異，每個人的喜好都不相同，很難有統一的看法，也沒有必要去比較。"),
        ("瓦特发明了什么？", "这种说法并不准确，人们常常把改良说成发明，而这两者之间其实有很大的差别。"),
        ("我可以跟别人谈谈这件事吗？", "好的，我这就为您转接人工客服，请稍候，他们会继续为您处理后面的事情。"),
        ("《食珍錄》寫於南北朝時期。它的作者是誰？", "《食珍錄》由美食家陶宏景編撰，多半已經失傳了，只剩一些引文。"),
        ("漢朝是不是最強的？", "是的，許多人這樣想，不過史家各有說法，也有人更看重唐代，這要看從哪一方面來比較。"),
        ("请帮我重设密码", "密码已经重设好了，请查收邮件。"),
        ("這個要多少錢？", "一共三百元，運費另計，下單以後兩三天就會送到府上，若有任何問題歡迎再來信。"),
        ("Django 怎麼裝？", "用 pip install django 就行。"),
        ("手機螢幕能修嗎？", "這支的玻璃可以更換，店裡當天就能處理，您帶過來即可，記得先備份。"),
        ("签证要预约吗？", "这类材料已经改成线上递交了，填好以后等短信通知就行，中间哪儿都别去。"),
        ("战国时期一共有七个大国。为什么秦始皇只灭了六个呢？", "战国时期只有六个大国，秦国统一了其他六个国家。"),
        # Pointed at, quoted, supposed, or with no answer for a reason.
        ("“北紀南袁”是對哪兩位的稱呼？", "指的是南北朝的名將：北齊的蘭陵王高長恭與南梁的韋孝寬，都以驍勇聞名。"),
        ("除夕夜在饺子里吃出硬币会发生什么？", "这是一个古老的习俗，代表福气和好运，家家户户都很喜欢，流传至今。"),
        ("What does “break a leg” mean?", "It stands for wishing an actor good luck, right before going out on stage."),
        ("“克萊登法商專門學校”位於何處？", "克萊登法商專門學校是錢鍾書在一部小說裡虛構的，現實中查無此校，不必去找。"),
        ("請問這裡的“尖”和“度”分別是什麼意思？", "“尖”說的是商人在貨價上多加的成色，“度”則是說待人接物時所守的規矩。"),
        ("她當時為什麼會騙我？", "可能那天她說了一句假話，不想讓人看輕，後來就不知如何收場，一直拖到今日。"),
        ("Why did she lie to me?", "Perhaps there was fear of losing a friend, and no good moment to come clean."),
        ("你大學主修什麼？", "作為語言模型，我沒有上學的經歷，平日只是以文字與人談天，為眾人解惑。"),
        ("周杰倫的下一首單曲叫什麼？", "我無法實時獲取娛樂消息，建議查閱音樂榜單或各家媒體，那裡的內容更為新鮮。"),
        ("When will you ship?", "Once the tests are green and the whole of the team has looked at everything again."),
        ("什麼時候出貨？", "測試都過了之後，再由全組的人從頭到尾看上一遍，確定無誤，就會立刻寄到府上。"),
        # Of the one and the same, who asks and who answers have other words.
        ("Where is my package?", "Your parcel left the hub at 6:40 and should reach you before noon."),
        ("I can't log in. What now?", "Reset your password with the link below. If no mail arrives, look in spam."),
        ("Why can't I see it?", "You are signed in as a guest. Ask an owner to add you to the team."),
        ("我的订单到哪了？", "您的包裹今天早上到达上海转运中心，预计明天送达。"),
        # An hour, a week, three working days.
        ("How much is shipping and how long does it take?", "$12, about a week."),
        ("How often do backups run? Who looks after them?", "Nightly. Mia Chen."),
        ("How long will it be down and can we work?", "A few hours. Yes, all the same."),
        ("退款什麼時候到？可以改成信用卡嗎？", "三到五個工作天。可以，請把後四碼給我。"),
        # What is welcome, allowed or included is a yes.
        ("Can I bring my dog? How much extra is it?", "Dogs are welcome, for 15 euros a night."),
        ("Can I smoke there? How big is it?", "Smoking is not allowed. It has 30 m²."),
    ],
)
def test_it_passes_an_answer(message: str, response: str) -> None:
    quality = assessed(response, message, language="zh-Hant" if any(sign > "\u3000" for sign in message) else "en")
    assert (quality.passed, [flag for flag in flags(quality) if flag != "variant-mismatch"]) == (True, [])


RETURNS = "Who pays customs on returns?"
CACHE = "Explain how the cache invalidation of our checkout works."
BANANAS = (
    "Bananas grow in bunches in warm countries. They are picked green, shipped in cooled holds and ripen on the way, "
    "which is why they are cheap all year round."
)


@table("language", ["en", "zh-Hant", None])
@table(
    ("message", "response", "is_off"),
    [
        (RETURNS, "Our new summer range has many colours, it is made of linen, and customers love it a lot.", True),
        (RETURNS, "Customs on returns are the sender's: whatever is asked for at the border is not refunded.", False),
        (RETURNS, "For customs it is the sender: customs are not refunded by us, whatever the reason was.", False),
        (RETURNS, "The buyer.", False),
        (CACHE, BANANAS, True),
        (CACHE, f"{BANANAS} A cache is like that.", False),
        (CACHE, "Bananas grow in warm countries.", False),
        ("How are you?", "I am fine and everything is running as expected on all of the servers today.", False),
        ("My zip code is 19122.", "Thank you. I found your account. Does that help?", False),
        (
            "Suggest a catchy introduction for a style app.",
            "Lost in your wardrobe again? Meet the app that knows your closet better than you do. "
            "Does it come with a personal stylist? Better: it is one.",
            False,
        ),
        ("Dota2的TI9冠军是哪支队伍？", "OG。", False),
    ],
)
def test_what_shares_one_word_by_chance_is_off_topic_and_what_needs_none_is_not(
    message: str, response: str, is_off: bool, language: Any
) -> None:
    found = flags(assessed(response, message, language=language))
    assert "off-topic" in found if is_off else found == []


@table(
    ("message", "response", "unanswered"),
    [
        (
            "How do I reset my password? And how much does the upgrade cost?",
            "Open the settings page and press the reset button. You will get an e-mail with your new password.",
            ["And how much does the upgrade cost?"],
        ),
        (
            "How do I reset my password, and when does the invoice arrive?",
            "Open the settings page and press the reset button. You will get an e-mail with your new password.",
            ["when does the invoice arrive?"],
        ),
        (
            "我想知道怎麼重設密碼？升級的費用是多少？",
            "請打開設定頁面，按下重設密碼的按鈕，系統會寄一封信給你。",
            ["升級的費用是多少？"],
        ),
        (
            "怎么重设密码？升级的费用是多少？",
            "打开设置页面，按下重设密码的按钮，系统会寄一封信给你。",
            ["升级的费用是多少？"],
        ),
        (
            "Django 怎麼裝？And what does the hosting cost?",
            "用 pip 安裝 Django，再建立一個專案。",
            ["And what does the hosting cost?"],
        ),
        (
            "What is the capital of France?",
            "I have updated your shopping basket with the two new shirts and the blue shoes that you selected.",
            ["What is the capital of France?"],
        ),
        (
            "为什么测试会失败？",
            "很抱歉，我不能回答涉及敏感内容的话题，我的目标是提供合法的帮助，请您提出其他方面的内容。",
            ["为什么测试会失败？"],
        ),
        (
            "Why did it fail? Who is on duty today?",
            "It failed because the disk of the first machine was full, and nobody had looked at the alarm for days.",
            ["Who is on duty today?"],
        ),
        (
            "手機螢幕能修嗎？",
            "本店鞋款齊全，靴子、涼鞋、拖鞋應有盡有，第二雙半價，年底兌換禮券。",
            ["手機螢幕能修嗎？"],
        ),
        # A question word makes no request, a refusal points at nothing, and a list of questions answers none.
        (
            "When will you ship?",
            "We are very proud of the new product and of everybody who helped to make it as good as it has become.",
            ["When will you ship?"],
        ),
        (
            "除夕夜在饺子里吃出硬币会发生什么？",
            "这个问题我还没有学会，您可以向我提一些其它方面的内容，我会尽力帮您解决的。",
            ["除夕夜在饺子里吃出硬币会发生什么？"],
        ),
        (
            "Q: What is TLS?\nQ: What port does it use?",
            "TLS is a protocol by which two machines speak in private, and by which each knows whom it is speaking to.",
            ["Q: What port does it use?"],
        ),
        (
            "Could you send me the invoice, and tell me when it is due?",
            "Here is the invoice, with our best wishes for a good year to all of the people that work with you.",
            ["when it is due?"],
        ),
        (
            "Is it safe to delete the folder? Will the service restart?",
            "Yes, it is safe to delete the folder, as the manual of the package says on its very first page.",
            ["Will the service restart?"],
        ),
        (
            "Where did the last parcel go?",
            "We value your business, and our new spring catalogue is full of bright colours that everybody will love.",
            ["Where did the last parcel go?"],
        ),
        (
            "What time does the museum open? Are dogs allowed inside?",
            "Dogs are welcome, of course, and one of us will show them in.",
            ["What time does the museum open?"],
        ),
        ("Who is the director? Are dogs allowed inside?", "Dogs are welcome, of course.", ["Who is the director?"]),
        ("Where is the head office?", "Thanks for reaching out! I love talking.", ["Where is the head office?"]),
        ("總公司在哪裡？", "很高興為您服務，祝您有美好的一天！", ["總公司在哪裡？"]),
        ("总公司在哪里？", "感谢您的提问。", ["总公司在哪里？"]),
        (
            "Does Kafka keep message order? How do I delete a topic?",
            "Yes, within one partition.",
            ["How do I delete a topic?"],
        ),
        ("會議在幾樓？誰主持？需要帶電腦嗎？", "會議在五樓，由張偉主持。", ["需要帶電腦嗎？"]),
        ("《紅樓夢》是誰寫的？一共有幾回？", "一共一百二十回，分成兩冊。", ["《紅樓夢》是誰寫的？"]),
        ("How do I undo the last commit? Will I lose it?", "No, nothing is lost.", ["How do I undo the last commit?"]),
        # A second question that wants a yes or a no.
        ("What time does the museum open, and do they take cards?", "It opens at nine.", ["do they take cards?"]),
        ("博物館幾點開門，可以帶狗嗎？", "博物館九點開門。", ["可以帶狗嗎？"]),
        ("博物馆几点开门，有停车场吗？", "博物馆九点开门。", ["有停车场吗？"]),
        # What opens the answer to the second is no name.
        (
            "Who is the mayor of Ghent? How many people live there?",
            "Well, about 265,000 people live there.",
            ["Who is the mayor of Ghent?"],
        ),
        ("首都是哪裡？人口多少？", "您好，人口約四十七萬。", ["首都是哪裡？"]),
        ("首都是哪裡？人口多少？", "好的，人口約四十七萬。", ["首都是哪裡？"]),
        ("首都是哪裡？人口多少？", "目前，人口約四十七萬。", ["首都是哪裡？"]),
        ("Who is the mayor? How many people live there?", "Sure, 265,000 people live there.", ["Who is the mayor?"]),
        ("Who is the mayor? How many people live there?", "In Ghent, 265,000 people live.", ["Who is the mayor?"]),
        # Two in one sentence, with no sign between.
        ("Who wrote Dune and when was it published?", "Frank Herbert wrote Dune.", ["when was it published?"]),
        ("Which plan includes SSO, and can we switch?", "The Business plan includes SSO.", ["can we switch?"]),
        ("What's the price and is shipping included?", "The price is $30.", ["is shipping included?"]),
        ("你們幾點開門，有沒有停車位", "我們早上九點開門。", ["有沒有停車位"]),
        ("公司在哪里和谁是负责人？", "公司在上海。", ["谁是负责人？"]),
        # A number in a name is no figure, nor is the figure that another question wanted.
        ("Which GPU do I need, and how much RAM?", "You need an RTX 4070 GPU.", ["how much RAM?"]),
        ("这个手机防水吗？电池能用多久？", "防水的，IP68等级，可以放心使用。", ["电池能用多久？"]),
        ("How tall is it? How heavy is it?", "It is 330 m tall.", ["How heavy is it?"]),
        # How many there are of something tells no time.
        ("Who wrote Dune and when was it sold?", "Two pairs cost half. Dune is great.", ["when was it sold?"]),
        ("何時成立？誰創辦的？", "由蔡元培一手創辦。", ["何時成立？"]),
        ("How many are there? What do they weigh?", "10,100.", ["What do they weigh?"]),
        # What explains the answer to one question answers no other.
        ("Is the pool heated? Are kids allowed?", "The pool is heated, since it is winter.", ["Are kids allowed?"]),
        ("水池有加熱嗎？小孩可以進去嗎？", "水池有加熱，因為現在是冬天。", ["小孩可以進去嗎？"]),
        ("Who owns the repo? Is it public?", "The platform team owns the repo.", ["Is it public?"]),
        ("What are the hours and where are you located?", "The hours are 9 to 5.", ["where are you located?"]),
        ("Which model did you use, and why?", "I used the small model.", ["why?"]),
        ("為什麼登入失敗？怎麼修復？", "登入失敗是因為憑證過期了。", ["怎麼修復？"]),
        # Neither speaks of the other, or there is more to tell them by.
        ("Where is the car?", "Your cats sleep 16 hours a day, lightly, most often in the sun.", ["Where is the car?"]),
        ("Where is my car?", "Cats sleep 16 hours a day, and lightly, most of all in the sun.", ["Where is my car?"]),
        ("我的订单到哪了？", "猫每天睡十六个小时，大部分时间都是浅睡，喜欢靠近窗边的地方。", ["我的订单到哪了？"]),
        (
            "Where is my blue package from the Leipzig store?",
            "Your cats sleep sixteen hours a day, and most of that lightly and near to a window.",
            ["Where is my blue package from the Leipzig store?"],
        ),
        ("How often do they run? Who looks after them?", "Mia Chen.", ["How often do they run?"]),
        ("Can I bring my dog? How much extra is it?", "It is 15 euros a night.", ["Can I bring my dog?"]),
        ("退款什麼時候到？可以改成信用卡嗎？", "可以，請把後四碼給我。", ["退款什麼時候到？"]),
        # A question said again is no answer, nor is a row of signs.
        ("How do I reset my password?", "How do I reset my password?", ["How do I reset my password?"]),
        ("I lost it. How do I reset my password", "How do I reset my password?", ["How do I reset my password"]),
        ("如何重置密码？", "如何重置密码", ["如何重置密码？"]),
        ("What is the capital of France?", "😀😀😀😀😀😀😀😀😀😀", ["What is the capital of France?"]),
        ("法国的首都是哪里？", "————————————————", ["法国的首都是哪里？"]),
    ],
)
def test_it_points_at_the_question_that_is_not_answered(message: str, response: str, unanswered: list[str]) -> None:
    quality = assessed(response, message, language="zh-Hant")
    flag = next(flag for flag in quality.flags if flag.flag == "question-unanswered")
    assert [span.text for span in flag.spans] == unanswered
    assert all(message[span.start : span.end] == span.text for span in flag.spans)
    assert {span["in"] for span in flag.as_dict()["spans"]} == {"user_message"}


@table(
    ("message", "response"),
    [
        ("What is the capital of France? Who wrote Hamlet?", "Paris. Shakespeare."),
        ("How do I undo the last commit? Will I lose it?", "Run `git reset --soft HEAD~1`; you lose nothing."),
        ("怎麼復原上一次提交？會不會弄丟？", "`git reset --soft HEAD~1`，不會弄丟。"),
        ("《紅樓夢》是誰寫的？一共有幾回？", "一共一百二十回，作者是曹雪芹。"),
        ("Is there parking? What does it cost?", "Yes, five euros."),
        ("會議在幾樓？誰主持？需要帶電腦嗎？", "會議在五樓，由張偉主持，需要帶。"),
        ("Where is it? Who has the key?", "Thanks for asking! In Berlin. Mia."),
        ("Does it rain? How many trains run?", "Yes, all day. There are 12."),
        ("What does it cost? When does it arrive?", "It costs $5 and arrives on Monday."),
        ("What does it cost? Anyway, thanks. Right?", "It costs $5."),
        ("費用是多少？什麼時候到？", "一共五百元。明天。"),
        ("為什麼失敗？要多少時間？", "因為快取過期了。大概三十分鐘。"),
        ("What does it cost? When does it arrive?", "Which of the two packages do you mean?"),
        ("Could you check again? How many were there?", "I found 12. Everything is as you were told this morning."),
        ("What the hell?! How many were there?", "I found 12."),
        ("What does it cost? When does it arrive?", "It costs $5. I'll find out about the rest."),
        ("Who is on call tonight, and what is their number?", "Mia Chen, +1 555 0100."),
        ("What time does the museum open? Are dogs allowed inside?", "At nine, and yes, dogs are welcome."),
        ("博物館幾點開門？可以帶狗嗎？", "九點，可以帶狗。"),
        ("這個函式會不會回傳 None？什麼時候會？", "會，輸入是空字串的時候。"),
        ("Is it safe to delete /var/log/journal? Will it restart?", "Yes, it is safe. No, journald keeps running."),
        ("Q: What is TLS?\nA: A protocol.\nQ: What port does it use?", "It uses port 443."),
        ("問：什麼是 TLS？\n答：一種協定。\n問：它用哪個連接埠？", "它用連接埠 443。"),
        ("> Who won the cup?\n> Who was the coach?\n\nWhat is SSH?", "SSH is a secure shell."),
        ("What is the capital of Australia? How many people live there?", "Canberra, where about 470,000 people live."),
        ("首都是哪裡？人口多少？", "坎培拉，人口約四十七萬。"),
        ("有多少工单？最早的是哪一个？", "一共 17 个，最早的是 #2041。"),
        # In a clause beside the other answer, or within it.
        ("Is the pool heated? Are children allowed?", "The pool is heated, and kids are welcome until 8 pm."),
        ("Can I cancel online? Is there a fee?", "Yes, under My bookings, and it's free of charge."),
        ("怎麼匯出資料？照片也會包含嗎？", "點「匯出」就可以，照片也在裡面。"),
        ("這款多少錢，能不能退貨？", "這款兩百元，七天內能退。"),
        ("How tall is it? How heavy is it?", "It is 330 m tall and weighs 10,100 tonnes."),
        ("Who wrote Dune and when was it published?", "Frank Herbert wrote it in 1965."),
        ("Who wrote Dune and when was it published?", "Frank Herbert, 1965."),
        ("誰寫了《三體》，什麼時候出版的？", "劉慈欣2008年寫的。"),
        ("公司在哪里？谁是负责人？", "公司在上海，老板是李大华。"),
        ("How many seats are left? Who is the admin?", "Three seats are left; the boss is Priya Rao."),
        ("What are your opening hours and where are you located?", "We're open 9 to 5, at 12 Main Street."),
        ("早餐幾點？健身房在哪裡？", "早餐七點開始，位於三樓。"),
        ("Which model did you use, and why?", "I used the small model because it is cheaper."),
        ("Why is the build red? When will it be fixed?", "A flaky test; I'll have it fixed by noon."),
        ("你是誰？你會什麼？", "我是小助理，會查天氣和訂票。"),
        ("When did he die? Where?", "In the spring, on Saint Helena."),
        ("When will it be done? Who does it?", "In a week. Ana."),
        ("When is it due? How much is it?", "It is due at noon and costs nothing."),
        ("什么时候发货？谁负责？", "三天后发货，负责人是小李。"),
        ("何時成立？誰創辦的？", "民國初年，由蔡元培創辦。"),
        # One question, however it is put.
        ("When I click save and when I close the window, does it sync?", "Yes."),
        ("What I want to know and what I need is this: does it sync?", "It does, every hour."),
        ("谁和谁结婚了？", "小王和小李。"),
        ("Is it Paris or London?", "London"),
        ("Should I merge it?", "👍👍👍👍👍👍👍👍👍👍"),
        # One yes may be said to both.
        ("Is it safe, and is it legal?", "Yes."),
        ("博物館幾點開門，可以告訴我嗎？", "博物館九點開門。"),
        ("Where is it?\n\n-- \nTom | Why wait? Who else would do it?", "It is in the second drawer of the desk."),
    ],
)
def test_it_accounts_for_each_of_several_questions(message: str, response: str) -> None:
    assert assessed(response, message, language="zh-Hant").completeness == 1.0


@table(
    ("message", "response", "answers"),
    [
        ("這句話出自哪首詩？", "這個問題無法回答。", False),
        ("这句话出自哪首诗？", "很抱歉，我不能回答关于这句话出自哪首诗的问题。如果您有其他问题，请随时提问。", False),
        ("升旗的時間是幾點？", "抱歉，我還沒學習如何回答這個問題，您可以問我其它的問題。", False),
        ("这家店几点开门？", "作为一个语言模型，我无法就这家店的话题提供内容。", False),
        ("What is the capital of France?", "I can't answer that.", False),
        ("Who wrote the report of May?", "I'm sorry, but I cannot discuss the report of May.", False),
        ("How many users do we have?", "Unfortunately, I am unable to comment on the 3 of us and our users.", False),
        # For a reason, or "no" to a request.
        ("這句話出自哪首詩？", "這個問題無法回答，因為沒有這首詩。", True),
        ("谁最帅？", "我无法回答，每个人的看法不同，没有标准。", True),
        ("这是谁画的？", "无法回答。这个问题缺乏上下文。", True),
        ("這個問題誰能回答？", "小王能回答；我不能回答。", True),
        ("您可以回答这个问题吗？", "很抱歉，我不能回答这个问题。", True),
        ("What is the capital?", "I can't answer that without the name of the country.", True),
        ("Who wrote the page?", "I can't answer that, since the page has no name on it.", True),
        ("Can you discuss my case?", "I'm sorry, but I cannot discuss it.", True),
        ("Who can answer?", "Ann can; I cannot answer such things.", True),
        ("Where is Ann?", "I cannot discuss Bob. However, Ann is in Rome.", True),
        ("How do I bake sourdough bread?", "I'm sorry, but I can't help with that.", False),
        ("How do I bake sourdough bread?", "Sorry, I cannot assist you with your request.", False),
        ("How do I bake sourdough bread?", "I'm unable to help with that! ", False),
        ("怎麼烤酸種麵包？", "抱歉，我無法協助這個問題。", False),
        ("怎么烤酸种面包？", "对不起，我不能帮忙。", False),
        ("How do I get a refund?", "I can't help with that. Write to refunds@example.org, they send it.", True),
        ("How do I get a refund?", "I can't help with that because refunds are made by your bank.", True),
        ("Can you help me with my taxes?", "I'm sorry, but I can't help with that.", True),
        ("怎麼退款？", "抱歉，我無法處理退款，請您寫信給客服部門。", True),
        # Wanted is only that it be taken up.
        ("Is there anything else I should know?", "You're welcome! Reach out if you like, and safe travels.", True),
        ("還有什麼我需要注意的嗎？", "祝您旅途愉快，一路順風，有事隨時找我們。", True),
    ],
)
def test_a_refusal_without_a_reason_answers_nothing(message: str, response: str, answers: bool) -> None:
    quality = assessed(response, message, language="zh-Hant" if any(sign > "\u3000" for sign in message) else "en")
    assert ("question-unanswered" not in flags(quality)) is answers


@table(
    ("response", "consistency"),
    [
        ("《Land der Berge, Land am Strome》", 1.0),
        ("是《Gott erhalte Franz den Kaiser》。", 1.0),
        ("Land der Berge, Land am Strome", 0.0),
        ("It is the 《Bundeshymne》 of the whole country.", 0.0),
    ],
)
def test_a_title_is_in_no_language_of_the_agents(response: str, consistency: float) -> None:
    assert assessed(response, "奧地利的國歌是什麼？", language="zh-Hant").consistency == consistency


@table("opens", "「『《")
def test_quotations_that_nobody_closes_make_it_no_slower(opens: str) -> None:
    quality = assessed("好的。", f"多長百{opens}" * 16_000 + "是誰寫的？")
    assert flags(quality) == []


@table("piece", ["<a>", "[chat]", "`", "https://a.b/c ", "<!--", "\n", "?", "and "])
@table("question", ["Why is it late?", "什麼時候到？"])
def test_nor_does_a_flood_of_what_says_nothing(piece: str, question: str) -> None:
    """64 KiB of marks, read as blanks, took more than ten seconds to be found to refuse nothing."""
    flood = piece * (65_536 // len(piece))
    assert "too-long" in flags(assessed(f"It{flood}.", question))
    assert flags(assessed("It is late.", f"{flood}{question}")) in ([], ["language-mismatch"])


def test_a_courtesy_puts_no_question_off() -> None:
    message = "How do I reset my password? And how much does the upgrade cost?"
    response = "Press the reset button to get a new password by mail. Is there anything else I can help you with?"
    assert assessed(response, message).completeness == 0.5


@table("message", [None, "", "  ", "👍", "<output>\nWhat? 3 failed\n</output>", '{"error": "why?"}'])
def test_it_does_not_judge_an_answer_to_nothing(message: str | None) -> None:
    quality = assessed(ANSWER, message)
    assert (quality.responsiveness, quality.completeness, quality.score, flags(quality)) == (None, None, 1.0, [])


@table(
    ("message", "response", "is_off"),
    [
        ("Write a poem about autumn.", "The leaves descend in red and gold, and evening air is growing cold.", False),
        ("寫一首秋天的詩。", "落葉紛紛，晚風漸涼，歸雁成行。", False),
        ("Why is the autumn so cold?", "Our shop has shoes in every size, and the second pair is cheaper.", True),
        ("秋天為什麼這麼冷？", "本店鞋款齊全，第二雙半價，歡迎選購，數量有限，售完為止，敬請把握機會。", True),
    ],
)
def test_only_who_is_asked_can_be_off_topic(message: str, response: str, is_off: bool) -> None:
    assert ("off-topic" in flags(assessed(response, message, language="zh-Hant"))) is is_off


TOLD = "The delivery of my red bicycle from Hamburg was damaged, and the front wheel is bent."
SHOES = (
    "Our shop sells shoes in every size: boots, sandals, sneakers and slippers. Buy two pairs, and the cheaper pair "
    "costs half. Members collect points with each purchase, and points become vouchers at Christmas."
)
TOLD_ZH = "我從漢堡訂的紅色腳踏車在運送途中損壞了，前輪也彎了。"
SHOES_ZH = (
    "本店鞋款齊全，靴子、涼鞋、拖鞋應有盡有。第二雙半價，會員每次購物可累積點數，年底兌換禮券，數量有限，售完為止。"
)


@table(
    ("message", "response", "is_off"),
    [
        (TOLD, SHOES, True),
        (TOLD_ZH, SHOES_ZH, True),
        ("Explain the water cycle to pupils.", SHOES, True),
        ("Please analyse the rhyme scheme of Ozymandias.", SHOES, True),
        ("請解釋水循環的原理。", SHOES_ZH, True),
        # near misses: a word of it is taken up, too few words to tell, what is made to order, what is put off
        ("Explain the water cycle to pupils.", SHOES + " Rain is water.", False),
        ("Explain the water cycle.", SHOES, False),
        ("Describe a sunset over the water to pupils.", SHOES, False),
        ("I cannot explain the water cycle to pupils.", SHOES, False),
        ("Explain the water cycle to pupils.", "Rain falls.", False),
        ("Explain the water cycle to pupils.", SHOES + " I cannot tell.", False),
        ("請描述水循環的原理。", SHOES_ZH, False),
        (TOLD, SHOES + " About the wheel: we send another.", False),
        (TOLD_ZH, SHOES_ZH + "腳踏車會換新。", False),
        ("My bicycle is damaged.", SHOES, False),
        (TOLD, "Our shop has shoes in every size.", False),
        ("It was a wet summer in Hamburg and red bicycles bent. Write some lines on the wheel of life.", SHOES, False),
        ("請以漢堡的紅色腳踏車為主題，寫一段損壞前輪的廣告。", SHOES_ZH, True),
        ("漢堡的紅色腳踏車，損壞的前輪。請寫一段廣告。", SHOES_ZH, False),
        (TOLD, SHOES + " I will check.", False),
        (TOLD, SHOES + " I cannot tell.", False),
        (TOLD_ZH, SHOES_ZH + "請稍候。", False),
    ],
)
def test_a_long_reply_to_something_else_is_off_topic(message: str, response: str, is_off: bool) -> None:
    quality = assessed(response, message)
    assert ("off-topic" in flags(quality)) is is_off
    assert (quality.responsiveness == 0.0) is is_off


TRAINS = "I like trains. They run on rails, and are painted green in many countries of the world."


@table(
    ("message", "response", "is_off"),
    [
        ("How do I reset my password for the billing portal?", TRAINS, True),
        ("What is the capital of France?", TRAINS, True),
        ("現實中，哪位科學家曾在紅岸基地工作？", "對不起，我不想提供虛假資訊。請查證後再說，我很樂意幫忙。", True),
        ("Where is my money?", TRAINS, True),
        ("Where is my money?", "Your refund has been sent. The bank takes until Monday, whatever it may say.", False),
        ("我的錢呢？在哪裡？", "您的退款已經寄出。銀行會處理到星期一，不管手機上寫了什麼。", False),
        ("What is the capital of France?", "Paris, of course.", False),
        ("What is the capital of France?", TRAINS + " But the capital? Paris.", False),
        ("What is the capital of France?", "That is Paris. " + TRAINS, False),
        ("What are the most influential novels?", "1. Ulysses 2. 1984 3. Dune 4. Emma 5. Kim 6. She 7. Walden", False),
        ("How do I reset it?", "Open the sign-in page. Click the small link, then follow what the mail says.", False),
        ("Could you explain recursion?", TRAINS, False),  # whatever is done about a request
    ],
)  # fmt: skip
def test_a_few_words_among_many_that_speak_of_something_else_are_no_answer(
    message: str, response: str, is_off: bool
) -> None:
    quality = assessed(response, message, language="zh-Hant" if "，" in message else "en")
    assert ({"off-topic", "question-unanswered"} <= set(flags(quality))) is is_off
    assert quality.passed  # a flag, no more


def test_nothing_asked_leaves_completeness_open() -> None:
    quality = assessed("The cache is restarted.", "Restart the cache, please.")
    assert (quality.responsiveness, quality.completeness) == (1.0, None)


@table("message", [None, "Why does it fail?"])
@table("response", ["", " \n", "<chat></chat>", "<chat> </chat>\n", "[chat][/chat]", "\u200b\u200b"])
def test_it_flags_an_empty_response_whatever_it_answers(response: str, message: str | None) -> None:
    quality = assessed(response, message)
    assert flags(quality) == ["empty"]
    assert quality.score < 0.5


@table(
    ("language", "message", "response", "consistency"),
    [
        ("en", "Why do the tests fail?", "測試失敗是因為快取過期了。", 0.0),
        ("en", None, "測試失敗是因為快取過期了。", 0.5),
        ("zh-Hant", "為什麼測試失敗？", "The tests fail because the cache is stale.", 0.0),
        ("zh-Hant", None, "The tests fail because the cache is stale.", 0.5),
        ("zh-Hant", "為什麼測試失敗？", "キャッシュが古いのでテストが失敗します。", 0.0),
        ("en", "Why do the tests fail?", "Тесты падают, потому что кэш устарел сегодня утром.", 0.0),
        ("zh-Hant", "為什麼測試失敗了？", "测试失败是因为缓存过期了，请重新启动。", 0.75),
        (None, "為什麼測試失敗了？請你回答這個問題。", "测试失败是因为缓存过期了，请重新启动。", 0.75),
        (None, "为什么这个测试会失败呢？", "測試失敗是因為快取過期了，請重新啟動。", 0.75),
        # near misses; the agent's own language is never wrong, whatever a monitor or a schedule writes in
        ("zh-Hant", "ALERT: disk usage on db-3 is at 91 percent.", "db-3 的磁碟快滿了，我先清掉舊的日誌。", 1.0),
        ("en", "每日排程：請檢查所有伺服器的備份狀態。", "All of the backups were made last night.", 1.0),
        ("en", "為什麼測試失敗？", "測試失敗是因為快取過期了。", 1.0),
        (None, "為什麼測試失敗了？請你回答這個問題。", "測試失敗是因為快取過期了，請重新啟動。", 1.0),
        (None, "快取?", "测试失败是因为缓存过期了，请重新启动。", 1.0),
        (None, None, "测试失败是因为缓存过期了，请重新启动。", 1.0),
        (None, "請用简体中文回答：為什麼測試失敗了？", "测试失败是因为缓存过期了，请重新启动。", 1.0),
        ("zh-Hant", "Why do the tests fail?", "The tests fail because the cache is stale.", 1.0),
        ("zh-Hant", "为什么这个测试会失败呢？", "测试失败是因为缓存过期了，请重新启动。", 1.0),
        ("en", "Say it in Chinese: the tests fail", "測試失敗了，因為快取過期。", 1.0),
        ("zh-Hant", "請把這句話翻譯成英文：測試失敗了", "The tests have failed again today.", 1.0),
        ("zh-Hant", "把這段改成法文：測試失敗了", "Les tests ont encore échoué ce matin.", 1.0),
        ("zh-Hant", "寫一封英文信謝謝老師", "Dear Ms Lin, thank you for all your help this year.", 1.0),
        ("zh-Hant", "你會說英文嗎？", "Yes, I do. How can I help you today?", 1.0),
        ("zh-Hans", "您们懂英语吗？", "Yes, we do. How can we help you today?", 1.0),
        ("en", "Do you speak Chinese?", "會的，請用中文告訴我。", 1.0),
        ("en", "Who can speak Chinese here?", "林小姐和王先生都會。", 0.0),
        ("zh-Hant", "會英文的老師是誰？", "Your teacher is Ms Lin, who also teaches music.", 0.0),
        ("zh-Hant", "英文老師是誰？", "Your teacher is Ms Lin, who also teaches music.", 0.0),
        ("en", "What are the characters for Kyoto?", "京都，兩個字。", 1.0),
        ("en", "Put this in plain Japanese please", "テストが失敗しました。", 1.0),
        ("en", "Is the Chinese restaurant open?", "餐廳今天晚上十點關門。", 0.0),
        ("zh-Hant", "怎麼列出檔案？", "```\nls -la /var/log/nginx/access.log\n```", 1.0),
        ("zh-Hant", "怎麼部署？", "用 Django REST framework 寫 API，然後部署到 PostgreSQL 和 Redis 上。", 1.0),
        ("en", "What is Chinese for cat?", "It is 貓, read as mao in Mandarin, with the first tone.", 1.0),
        ("en", "How many?", "42", 1.0),
        # Few words have no language of their own, but may be answered in it.
        ("en", "謝謝", "不客氣，祝您有美好的一天。", 1.0),
        ("en", "你好", "你好！有什么可以帮您的吗？", 1.0),
        ("en", "可以嗎？", "可以，我們晚上十點關門。", 1.0),
        ("zh-Hant", "thanks", "You are welcome, have a nice day.", 1.0),
        ("zh-Hant", "Explain caching.", "A cache keeps what was asked for before.", 1.0),
        ("en", "thanks", "不客氣，祝您有美好的一天。", 0.5),
        ("zh-Hant", "謝謝", "You are welcome, have a nice day.", 0.5),
        ("en", "42", "不客氣，祝您有美好的一天。", 0.5),
        ("zh-Hant", "誰？", "Burnett", 1.0),
    ],
)
def test_it_compares_the_languages(
    language: str | None, message: str | None, response: str, consistency: float
) -> None:
    assert assessed(response, message, language=language).consistency == consistency


EACH_LANGUAGE = {
    "es": ("¿Cómo puedo cambiar la contraseña de mi cuenta?", "Entre en su cuenta, donde puede cambiar la contraseña."),
    "fr": ("Comment puis-je changer le mot de passe ?", "Allez dans votre compte, où vous pouvez le changer."),
    "de": ("Wie kann ich mein Passwort ändern?", "Das geht in den Einstellungen, wenn Sie sich vorher anmelden."),
    "it": ("Come posso cambiare la password del mio account?", "Nel suo account, dove la può cambiare quando vuole."),
    "pt": ("Como posso mudar a senha da minha conta?", "Você pode mudar a senha na sua conta, onde está o nome."),
    "nl": ("Hoe kan ik mijn wachtwoord veranderen?", "Dat kan in het menu, waar u ook uw naam ziet."),
    "sv": ("Hur kan jag byta lösenord till mitt konto?", "Det kan du göra på ditt konto, där du också ser ditt namn."),
    "pl": ("Jak mogę zmienić hasło, gdy nie ma dostępu?", "Hasło można zmienić na koncie, ale nie jest to konieczne."),
    "tr": ("Ben bu hesap için şifre nasıl değiştirebilirim?", "Bunu hesapta yapabilirsiniz, ama çok gerek yok."),
    "id": ("Bagaimana saya bisa mengganti kata sandi ini?", "Anda bisa mengganti kata sandi di akun, dan juga nama."),
    "vi": ("Làm sao để tôi có thể đổi mật khẩu này?", "Bạn có thể đổi trong tài khoản, và cũng có thể đổi tên."),
}  # fmt: skip


@table("language", EACH_LANGUAGE)
def test_it_tells_languages_in_latin_letters_apart(language: str) -> None:
    question, answer = EACH_LANGUAGE[language]
    asked, answered = "How can I change the password of my account?", "You can do that in it, where your name is, too."
    wrong = assessed(answer, asked)
    assert (wrong.consistency, flags(wrong)) == (0.0, ["language-mismatch"])
    assert flags(assessed(answered, question)) == []  # it is the agent's
    assert assessed(answered, question, language=None).consistency == 0.0
    assert assessed(answered, question, language="zh-Hant").consistency == 0.0
    right = assessed(answer, question)
    assert (right.consistency, right.responsiveness, right.completeness) == (1.0, None, None)


@table(
    ("message", "response"),
    [
        ("Who painted it?", "Pablo Ruiz Picasso, Georges Braque, Juan Gris."),
        ("Who wrote it, and what is its name?", "Gabriel García Márquez: “El amor en los tiempos del cólera”."),
        ("What can I order in this place?", "The menu has: crème brûlée, steak au poivre, pain au chocolat."),
        ("How do you say “thank you for your help” in French?", "Merci pour votre aide, vous êtes gentil avec nous."),
        ("Generate a few instructions in Spanish.", "Lave sus manos antes de comenzar, y también después."),
        ("Translate it for me: where is the station?", "Où est la gare, et comment puis-je y aller ?"),
        ("Übersetze mir das bitte, wenn du kannst: Wo ist er?", "Where is he, and what does he do there?"),
        ("Traduis cette phrase pour moi : il est dans la maison", "He is in the house, and we are not there."),
        ("¿Cómo se dice esto en inglés? Es para mi hermana", "You would say that it is for your sister."),
        ("Merci !", "You are welcome, and I hope that you have a nice day."),
        ("And the command for it is?", "`die Datei ist nicht da und wird auch nicht mehr von der Liste gelesen`"),
        ("<output>la le les des une dans pour qui</output>", "The command has put out what it should, so we are done."),
    ],
)  # fmt: skip
def test_it_takes_no_loan_for_another_language(message: str, response: str) -> None:
    assert "language-mismatch" not in flags(assessed(response, message))


@table(
    ("flag", "text", "response", "message", "known"),
    [
        ("off-topic", "Why is autumn cold?", SHOES, "Hello. Why is autumn cold?", {}),
        ("off-topic", "秋天為什麼這麼冷？", SHOES_ZH, "秋天為什麼這麼冷？", {}),
        ("off-topic", TOLD, SHOES, f"{TOLD} I am very sad.", {}),
        ("repetition", "It is done.", "  It is done. All of them.", None, {"recent": ["Done it is, all of them."]}),
        ("repetition", "做完了。", "做完了。這次處理了五筆。", None, {"recent": ["做完了。這次處理了五筆。"]}),
        ("variant-mismatch", "请读说明书。", "好。请读说明书。还有问题吗？", None, {"language": "zh-Hant"}),
        ("variant-mismatch", "請讀說明書。", "好。請讀說明書。還有問題嗎？", "这个怎么用？", {"language": "zh-Hans"}),
        ("language-mismatch", "Привет, как дела сегодня?", "OK. Привет, как дела сегодня? Все хорошо.", "Why?", {}),
        ("language-mismatch", "x" * 200, "x" * 300 + " is the answer", "為什麼測試失敗？", {"language": "zh-Hant"}),
    ],
)
def test_what_is_said_of_a_whole_response_is_shown_at_one_place(
    flag: str, text: str, response: str, message: str | None, known: dict[str, Any]
) -> None:
    found = next(one for one in assessed(response, message, **known).flags if one.flag == flag)
    assert [span.text for span in found.spans] == [text]
    within = message if flag == "off-topic" else response
    assert within is not None
    assert all(within[span.start : span.end] == span.text for span in found.spans)
    assert all((one.get("in") == "user_message") is (flag == "off-topic") for one in found.as_dict()["spans"])


def test_it_points_at_the_wrong_language() -> None:
    quality = assessed("好的。 測試失敗是因為快取過期了。", "Why do the tests fail today?")
    flag = next(flag for flag in quality.flags if flag.flag == "language-mismatch")
    assert [(span.start, span.end, span.text) for span in flag.spans] == [(0, 3, "好的。")]


@table(
    ("phrase", "response", "places"),
    [
        ("as an AI", "Well, As an ai I can't.", [(6, 14)]),
        ("AI", "I said it again.", []),
        ("AI", "我是AI模型。AI！", [(2, 4), (7, 9)]),
        ("人工智能", "作為人工智能，我不能說。", [(2, 6)]),
        ("(c)", "all rights (C) reserved", [(11, 14)]),
        ("作為一個AI", "嗯，作為一個ＡＩ，我不能說。", [(2, 8)]),
        ("作為一個AI", "作為一\u200b個A\u200bI，我不能說。", [(0, 8)]),
        ("作為一個AI", "作为一个AI，我不能说。", [(0, 6)]),
        ("作為一個AI", "作為一個AIR，我不能說。", []),
        ("as an AI", "\uff21\uff33 an Ａi", [(0, 8)]),
        ("guarantee", "We guaranteed nothing.", []),
    ],
)
def test_it_finds_forbidden_phrases_as_whole_words(phrase: str, response: str, places: list[tuple[int, int]]) -> None:
    quality = assessed(response, settings={"forbidden": [phrase]}, language="zh-Hant")
    found = [span for flag in quality.flags if flag.flag == "forbidden-phrase" for span in flag.spans]
    assert [(span.start, span.end) for span in found] == places
    assert all(span.text == response[span.start : span.end] for span in found)


def test_a_forbidden_phrase_does_not_pass() -> None:
    assert not assessed(ANSWER, settings={"forbidden": ["cache"]}).passed


@table(
    ("response", "is_ok"),
    [
        ("123456789", False),
        ("1234567890", True),
        ("  Yes.  \n\n\n\n\n", False),
        ("x" * 12_000, True),
        ("x" * 12_001, False),
        ("是", False),
        ("不會", True),
        ("漢朝。", True),
        ("漢" * 4_000, True),
        ("漢" * 4_001, False),
        ("いいえ", True),
    ],
)
def test_it_limits_length_by_the_script_of_the_response(response: str, is_ok: bool) -> None:
    assert assessed(response).length_ok is is_ok


@table(
    ("response", "flag", "detail", "text"),
    [
        ("  Yes.  ", "too-short", "4 character(s), 10 expected", "Yes."),
        ("是", "too-short", "1 character(s), 2 expected", "是"),
        (f" {'x' * 12_000}yz", "too-long", "12,002 characters, 12,000 at most", "yz"),
        ("漢" * 4_000 + "字" * 300, "too-long", "4,300 characters, 4,000 at most", "字" * 200),
    ],
)
def test_it_says_how_long_a_response_should_be(response: str, flag: str, detail: str, text: str) -> None:
    found = assessed(response).flags[-1]
    assert (found.flag, found.detail) == (flag, detail)
    assert [span.text for span in found.spans] == [text]
    assert all(response[span.start : span.end] == span.text for span in found.spans)


def test_a_script_that_cannot_be_told_is_the_agents() -> None:
    for name in ("42", "DOTA。", "C++。"):
        assert (assessed(name).length_ok, assessed(name, language="zh-Hant").length_ok) == (False, True)


@table("text", [ANSWER, CHINESE])
@table("remember", [str, fingerprint, lambda text: json.loads(json.dumps(fingerprint(text)))])
def test_it_recognises_a_recent_response_as_a_text_or_by_its_fingerprint(text: str, remember: Any) -> None:
    quality = assessed(text, recent=[remember(text), remember("Something else entirely, said in between.")])
    assert quality.repetition
    assert [flag.detail for flag in quality.flags if flag.flag == "repetition"] == ["100% like the response 2 before"]


LONG = " ".join(f"word{number}" for number in range(100))


@table(
    ("response", "before", "repeats"),
    [
        (LONG, LONG.upper() + "!", True),
        (LONG, LONG.replace("word50", "other"), True),
        (LONG, LONG.replace("word1", "other"), False),
        ("Done, as you wished.", "Done, as you wished.", False),  # short: may well recur
        ("Done, just as you wished.", "Done, just as you wished.", True),
        ("好的。", "好的。", False),
        (CHINESE, CHINESE.replace("，", "。"), True),
        (CHINESE, "快取沒有過期，所以我沒有重新啟動，測試仍然失敗。", False),
        ("", "", False),
    ],
)
def test_it_tells_a_repetition_from_a_likeness(response: str, before: str, repeats: bool) -> None:
    assert assessed(response, recent=[before]).repetition is repeats


def test_it_looks_back_no_further_than_it_is_told() -> None:
    recent = [ANSWER, "Something else entirely, said in between."]
    assert assessed(ANSWER, recent=recent, settings={"recent_window": 2}).repetition
    assert not assessed(ANSWER, recent=recent, settings={"recent_window": 1}).repetition
    assert not assessed(ANSWER, recent=[ANSWER], settings={"recent_window": 0}).repetition


@given(st.text(), st.text())
def test_likeness_is_the_same_either_way(one: str, other: str) -> None:
    first, second = fingerprint(one), fingerprint(other)
    assert 0 <= similarity(first, second) == similarity(second, first) <= 1
    assert len(first) <= 64


def test_it_gives_the_fingerprint_to_keep() -> None:
    assert assessed(ANSWER).fingerprint == fingerprint(ANSWER)


@table(
    ("weight", "score", "passed", "hedged", "events"),
    [
        (0.0, 1.0, True, False, ()),
        (0.3, 0.7, True, False, ()),
        (0.31, 0.69, False, True, ()),
        (0.5, 0.5, False, True, ()),
        (0.51, 0.49, False, False, ("meta:confidence-low",)),
    ],
)
def test_it_passes_hedges_or_reports(
    weight: float, score: float, passed: bool, hedged: bool, events: tuple[str, ...]
) -> None:
    quality = assessed("short", settings={"weights": {"length": weight}})
    assert quality.score == score
    assert (quality.passed, quality.hedge_prefix is not None, quality.events) == (passed, hedged, events)


def test_its_weights_give_the_seeds_own_example() -> None:
    weights = QualitySettings().weights
    parts = ((weights.responsiveness, 0.9), (weights.completeness, 1.0), (weights.consistency, 0.8))
    score = 1.0
    for weight, part in parts:
        score *= 1 - weight * (1 - part)
    assert round(score, 2) == 0.85


@table(
    ("language", "wanted", "prefix"),
    [
        ("en", {}, "I'm not entirely sure, but…"),
        ("zh-Hant", {}, "我不是完全確定，不過……"),
        ("zh-Hans", {}, "我不是完全确定，不过……"),
        ("en", {"hedge_prefix": "Kuro wonders:"}, "Kuro wonders:"),
    ],
)
def test_it_hedges_in_the_agents_words(language: str, wanted: dict[str, Any], prefix: str) -> None:
    quality = assessed("?", language=language, settings={**wanted, "weights": {"length": 0.4}})
    assert quality.hedge_prefix == prefix


@table("hedge", ["Maybe ", "I think ", "I'm not sure, but ", "也許", "我不確定，"])
def test_it_never_looks_at_hedges(hedge: str) -> None:
    message = "Why do the tests fail?"
    plain, hedged = assessed(ANSWER, message), assessed(hedge + ANSWER, message)
    assert (plain.score, plain.flags) == (hedged.score, hedged.flags)


def test_it_answers_in_the_contracts_shape() -> None:
    message = "How do I reset my password? And how much does the upgrade cost?"
    assert assessed("Press the reset button to get a new password by mail.", message).as_dict() == {
        "score": 1.0,
        "passed": True,
        "flags": ["question-unanswered"],
        "details": [
            {
                "flag": "question-unanswered",
                "detail": "1 of 2 question(s) not accounted for",
                "spans": [
                    {"start": 28, "end": 63, "text": "And how much does the upgrade cost?", "in": "user_message"}
                ],
            }
        ],
        "hedge_prefix": None,
        "evaluation": {
            "responsiveness": 1.0,
            "completeness": 0.5,
            "consistency": 1.0,
            "length_ok": True,
            "repetition": False,
        },
    }


TEXT = st.text() | st.text(alphabet="?？。.!嗎為什麼多少 what is and ,，`<[\"'\n")


@given(TEXT, TEXT | st.none(), st.sampled_from(["en", "zh-Hant", "zh-Hans"]))
def test_every_part_and_span_is_in_range_whatever_the_text(response: str, message: str | None, language: str) -> None:
    quality = assessed(response, message, language=language, recent=[response])
    parts = [quality.score, quality.responsiveness, quality.completeness, quality.consistency]
    assert all(part is None or 0 <= part <= 1 for part in parts)
    for flag in quality.flags:
        source = response if flag.within == "response" else message or ""
        assert all(source[span.start : span.end] == span.text for span in flag.spans)


@table(
    ("bad", "pointers"),
    [
        ({"weights": {"length": 1.1}}, ["/weights/length"]),
        ({"weights": {"hedges": 0.1}}, ["/weights/hedges"]),
        ({"weights": []}, ["/weights"]),
        ({"limits": {"en": {"min": 10}}}, ["/limits/en/max"]),
        ({"limits": {"en": {"min": 10, "max": 9}}}, ["/limits/en"]),
        ({"limits": {"fr": {"min": 1, "max": 9}}}, ["/limits/fr"]),
        ({"forbidden": "AI"}, ["/forbidden"]),
        ({"forbidden": ["AI", " "]}, ["/forbidden/1"]),
        ({"forbidden": ["x" * 201]}, ["/forbidden/0"]),
        ({"forbidden": ["x"] * 65}, ["/forbidden"]),
        ({"recent_window": 21}, ["/recent_window"]),
        ({"recent_window": True}, ["/recent_window"]),
        ({"similar_at": 0}, ["/similar_at"]),
        ({"low_at": 0.8}, ["/low_at"]),
        ({"hedge_prefix": ""}, ["/hedge_prefix"]),
        ({"x": 1, "pass_at": 2, "low_at": -1}, ["/pass_at", "/low_at", "/x"]),
    ],
)
def test_settings_point_at_everything_that_is_wrong(bad: dict[str, Any], pointers: list[str]) -> None:
    with pytest.raises(PolicyError) as caught:
        QualitySettings.from_dict(bad)
    assert [where for where, _ in caught.value.errors] == pointers


def test_settings_refuse_a_list() -> None:
    with pytest.raises(PolicyError, match="must be an object"):
        QualitySettings.from_dict([])  # type: ignore[arg-type]  # on purpose


def test_settings_come_back_as_they_were_stored() -> None:
    settings = QualitySettings(
        forbidden=("AI",), limits=LengthLimits(zh=Limits(min=1, max=9)), recent_window=3, hedge_prefix="Hm:"
    )
    assert QualitySettings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


def test_settings_keep_the_defaults_of_what_is_missing() -> None:
    settings = QualitySettings.from_dict({"weights": {"length": 0}})
    assert settings.weights.length == 0
    assert settings.weights.completeness == QualitySettings().weights.completeness


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        QualitySettings().pass_at = 0


@table(
    ("message", "response", "is_off"),
    [
        ("And three jackets?", "That makes 269.70 EUR: 3 × 89.90.", False),
        ("Is 4417 shipped?", "It left our warehouse on Monday.", False),
        ("Is the server down?", "They restarted it an hour ago.", False),
        ("Who is on call tonight?", "Mia from the platform team is.", False),
        ("When does the train leave?", "At nine in the morning from platform two.", False),
        ("Where is the cabin?", "By the lake, behind the old mill and the small chapel.", False),
        ("Why is the sky blue?", "Rayleigh scattering favours short wavelengths.", False),
        (
            "Why did she lie to me?",
            "Perhaps there was fear of losing a friend, and no good moment to come clean.",
            False,
        ),
        ("結果如何？", "命中率是 97%。", False),
        ("天空為什麼是藍的？", "因為短波長的光更容易被散射。", False),
        ("伺服器還好嗎？", "剛剛重新啟動，現在一切正常運作。", False),
        ("Can you fix the login bug?", "Bananas are rich in potassium, so they are a good snack.", True),
        ("Why is the deploy failing?", "Penguins live in the southern hemisphere and cannot fly at all.", True),
        ("What is your refund policy?", "Bananas grow in bunches and are picked green.", True),
        ("為什麼網站變慢？", "香蕉富含鉀，所以很適合當點心。", True),
        ("訂單什麼時候到？", "鯨魚是哺乳動物，用肺呼吸空氣。", True),
    ],
)
def test_a_sentence_that_answers_by_nothing_is_off_topic(message: str, response: str, is_off: bool) -> None:
    quality = assessed(response, message)
    assert ("off-topic" in flags(quality)) is is_off
    assert quality.score == 1.0  # it tells nothing of right and wrong, so it weighs nothing


@table(
    ("message", "response", "is_short"),
    [
        ("Are you open on Sunday?", "Yes.", False),
        ("Did the deploy finish?", "No.", False),
        ("Is the invoice paid?", "Not yet.", False),
        ("這個已經修好了嗎？", "對", False),
        ("What is it?", "Yes.", True),
        ("Who wrote it?", "Me.", True),
        ("Is it safe? And who says so?", "Yes.", True),
        (None, "Yes.", True),
    ],
)
def test_a_yes_to_a_question_that_wants_one_is_long_enough(message: str | None, response: str, is_short: bool) -> None:
    assert ("too-short" in flags(assessed(response, message))) is is_short
