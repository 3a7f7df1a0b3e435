"""Being corrected: what says so, what it is about, and what would recognise it again (seed 000)."""

import importlib.util
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from metacog.heuristics.contradiction.corrections import (
    Frequencies,
    find_concern,
    find_correction,
    propose_keywords,
    terms_of,
)
from tests.tables import table

spec = importlib.util.spec_from_file_location("measure_corrections", Path(__file__).with_name("measure_corrections.py"))
assert spec
assert spec.loader
measuring = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measuring)


@table(
    ("message", "type_"),
    [
        ("That's wrong.", "denial"),
        ("That’s not what I asked for.", "denial"),
        ("You forgot the second argument.", "fault"),
        ("You keep adding comments.", "fault"),
        ("As I said before, no mocks.", "reminder"),
        ("I never said that.", "reminder"),
        ("Why are you still using tabs?", "reproach"),
        ("It should be 42, not 24.", "restatement"),
        ("「不錯」的意思你搞錯了", "fault"),
        ("不對，是里昂。", "denial"),
        ("我說的是中位數", "reminder"),
        ("我说的是中位数", "reminder"),
        ("為何還是用舊的？", "reminder"),
        ("你怎么又改格式了", "reproach"),
        ("应该是周一，不是周二", "restatement"),
        ("ＴＨＡＴ ＩＳ ＷＲＯＮＧ", "denial"),
        ("No no no, the other branch!", "denial"),
        ("You gave me Celsius, I wanted Fahrenheit.", "fault"),
        ("Please look again: I said weekly, not monthly.", "reminder"),
        ("That is not what I wanted.", "denial"),
        ("怎麼還是舊版的？", "reproach"),
        ("上面的数字有误，请改成 12.5%", "denial"),
        ("You linked the wrong folder again.", "fault"),
        ("you sent it to the wrong list", "fault"),
        ("I think you mixed these two up.", "fault"),
        ("You miscounted, we are 15.", "fault"),
        ("This quote is misattributed to Twain.", "denial"),
        ("that doc is outdated", "denial"),
        ("金額不對吧，我算出來是一千零五十。", "denial"),
        ("汇率过时了，重新算。", "denial"),
        ("年份錯了，是1991。", "denial"),
        ("你上次也講錯。", "fault"),
        ("你寄錯地址了", "fault"),
        ("原文是将来时，你翻成过去式了。", "fault"),
        ("你又把杜甫當成李白了。", "fault"),
        ("不是早就跟你講過她離職了嗎", "reminder"),
        ("我訂的明明是五樓", "reminder"),
        ("拜託，首都是台北好嗎", "restatement"),
        ("That's the wrong file.", "denial"),
        ("What you said is wrong.", "denial"),
        ("Please read my message again.", "reminder"),
        ("The capital of Australia is Canberra, not Sydney.", "restatement"),
        ("你沒看我的訊息", "fault"),
        ("我早就说了不要用容器", "reminder"),
        ("我沒這麼說過", "reminder"),
        ("请再仔细看一下我的问题", "reminder"),
        ("你給的連結打不開", "denial"),
        ("胡说八道！", "denial"),
        ("Uh, no, Oslo.", "restatement"),
        ("You mean the smaller one.", "restatement"),
        ("It didn't, the page is still blank.", "denial"),
        ("11 pm not am", "restatement"),
        ("Your arithmetic is off.", "denial"),
        ("誒，不正確，是十二月。", "denial"),
        ("数错啰，是九个", "fault"),
        ("應該放在左邊才對", "restatement"),
        ("您是想说最短的吧", "restatement"),
        ("没有啊，灯还是红的", "denial"),
        ("你改錯檔案了。", "fault"),
        ("你少算了運費。", "fault"),
        ("漏了第三点。", "fault"),
        ("预算是五百元，你写成了五千。", "fault"),
        ("你又没看我的要求。", "fault"),
        ("You skipped step 3.", "fault"),
        ("You answered a different question.", "fault"),
        ("為什麼又把日期格式改回去了？", "reproach"),
        ("你刚才不是说可以退吗？", "reproach"),
        ("谁让你动配置文件的？", "reproach"),
        ("Who told you to delete that?", "reproach"),
        ("But you said it was refundable!", "reproach"),
        ("這跟我問的無關。", "denial"),
        ("文不對題。", "denial"),
        ("你前后矛盾。", "denial"),
        ("你說的不準確，保固是三年。", "denial"),
        ("你刚才说可以退，现在又说不行。", "denial"),
        ("First you said it was free, now you say it costs 10 dollars.", "reproach"),
        ("沒有這個參數吧？官方文件裡找不到。", "denial"),
        ("The link you gave me is broken.", "fault"),
        ("This has nothing to do with my question.", "denial"),
        ("Hm, the docs say otherwise.", "denial"),
        ("No, not that file.", "denial"),
        ("You are contradicting yourself.", "denial"),
        ("跟你說了不要加註解。", "reminder"),
        ("提醒你一下，是下午三點。", "reminder"),
        ("I specifically asked for JSON.", "reminder"),
        ("That's my brother's name, not mine.", "restatement"),
        ("There are only two of us, not three.", "restatement"),
    ],
)
def test_it_notices_a_correction(message: str, type_: str) -> None:
    correction = find_correction(message)
    assert correction is not None
    assert type_ in [cue.type for cue in correction.cues]
    assert all(message[cue.start : cue.end] == cue.text != "" for cue in correction.cues)


@table(
    ("message", "is_one"),
    [
        ("為何還是要繳稅？", False),
        ("為何還是覺得很冷？", False),
        ("为何还是会下雨？", False),
        ("为何还是这么贵？", False),
        ("為何還是有人相信？", False),
        ("為何還是用舊的？", True),
        ("为何还是没改？", True),
        ("為何還是一樣？", True),
        ("為何還是要我登入？", True),
        ("为何还是写成英文？", True),
        ("I remind you that you can take a break whenever.", False),
        ("Let me remind you that you may leave at any time.", False),
        ("我提醒你隨時可以休息。", False),
        ("I remind you that the port is 8443.", True),
        ("Let me remind you that you can't use tabs.", True),
        ("我提醒你，不要用容器。", True),
        ("我已經提醒你了。", True),
        ("客戶說你弄錯了，幫我回覆他", False),
        ("客户说我们算错了，帮我回信", False),
        ("主管說你寫錯了，怎麼回？", False),
        ("The customer says that's wrong, help me reply.", False),
        ("A client told me you forgot the invoice, please draft a reply.", False),
        ("客戶說的是週二，你弄錯了。", True),
        ("用户名你弄错了。", True),
        ("你弄錯了，幫我回覆客戶。", True),
        ("The customer says Tuesday, you got that wrong.", True),
    ],
)
def test_it_tells_a_complaint_about_the_agent_from_one_about_the_world(message: str, is_one: bool) -> None:
    assert (find_correction(message) is not None) is is_one


@table(
    ("message", "is_one"),
    [
        ("數字算錯了", True),
        ("数字算错了", True),
        ("金額又算錯了。", True),
        ("This is not the answer to my question.", True),
        ("That isn't an answer to what I asked.", True),
        ("這不是我問題的答案。", True),
        ("这不是我的问题的答案", True),
        ("wrong file — I meant config.yaml", True),
        ("Wrong branch, I meant develop.", True),
        ("It's spelled Katharina with a K.", True),
        ("It is spelt with two Ls.", True),
        ("數字算錯了怎麼辦？", False),
        ("数字算错了吗？", False),
        ("我的數字算錯了", False),
        ("Is this not the answer to my question?", False),
        ("This is not the answer to life.", False),
        ("這不是我問題的答案嗎？", False),
        ("Wrong number — I meant to call my wife.", False),
        ("Wrong turn, I wanted to go home.", False),
        ("Is it spelled Katharina with a K?", False),
        ("It's spelled out in the contract.", False),
        ("It's spelled with a typo in my passport.", False),
        ("My name is spelled with a K.", False),
    ],
)
def test_it_notices_what_is_put_right_in_a_word(message: str, is_one: bool) -> None:
    assert (find_correction(message) is not None) is is_one


@table("previous", ["How is it spelled?", "How do you spell your name?", "Could you spell that?"])
def test_a_spelling_that_was_asked_for_corrects_nothing(previous: str) -> None:
    assert find_correction("It's spelled Katharina with a K.", previous=previous) is None


@table(
    ("message", "is_one"),
    [
        ("<returncode>1</returncode>\n<output>\nThis should be the case for groupby.\n</output>", False),
        ('<tool_result id="7">你搞錯了，不是這個檔案。</tool_result>', False),
        ("<STDERR>\nfatal: that is wrong\n", False),  # cut before its end
        ("<output>ok</output>\nThat's wrong, I asked for the other file.", True),
        ("不對，你看：\n<stdout>0 rows</stdout>", True),
        ("<p>That's wrong.</p>", True),  # a person's mail
        ("The <output> element is missing. That's wrong.", True),
    ],
)
def test_a_tools_output_corrects_nobody(message: str, is_one: bool) -> None:
    for reply in ("", "I made a mistake in the last step."):
        assert (find_correction(message, reply=reply) is not None) == is_one


@table(
    "message",
    [
        "",
        'How do I say "that\'s wrong" in French?',
        "> That's wrong.\n\nWho wrote this?",
        "`you forgot` is the commit message",
        "```\nThat's wrong.\n```\nWhat does this print?",
        "Correct me if I'm wrong, you forgot nothing?",
        "Is that wrong?",
        "No, thanks.",
        "Not bad!",
        "It must be the most expensive one.",
        "It should be linked to my account.",
        "Or does it happen the other way around?",
        "My boss told me to use tabs.",
        "「你搞錯了」怎麼翻譯？",
        "> 你搞錯了\n\n這是誰寫的？",
        "如果不對請告訴我",
        "沒錯，很好",
        "没错，不错",
        "程式報錯了",
        "是不是有說明文件？",
        "这样对不对？",
        "no no, all good",
        "You gave me hope. I wanted to thank you.",
        "I wanted tea, not that it matters.",
        "It is not what I expected to pay, is there a discount?",
        "他怎麼還是不來？",
        "上面的檔案收到了",
        "上面的答案不對嗎？",
        "Could you check if they sent me the wrong size?",
        "Did you pick the wrong one?",
        "You never bet on the wrong horse?",
        "They sent the wrong list, reply to them.",
        "Tell them that we shipped the wrong model.",
        "I mixed these two up myself.",
        "I found what is out of fashion.",
        "My own address is out of sight.",
        "你明明那邊也寄一份",
        "說明明確多了",
        "小明明天來",
        "他明明知道",
        "请把它翻成英文",
        "你翻譯成英文了嗎？",
        "你改成功了",
        "別怕你看錯",
        "我的地址錯了，請改",
        "這個價格不對外公開",
        "哪個版本不對不重要",
        "這樣是可以的好嗎",
        "不用，早就告訴她了。",
        "It's wrong to assume the worst.",
        "It is not right to lie.",
        "Could you explain why it's incorrect to use goto?",
        "I don't think you're wrong.",
        "You didn't do anything wrong.",
        "I told you it would work!",
        "Sorry, this is the wrong place for that.",
        "The weather is nice, not too hot.",
        "我說過我喜歡貓嗎？",
        "我没说明白",
        "我一直说不清楚这个问题",
        "再看看我的信息够不够",
        "你說的方法不錯",
        "他给的答案是错误的",
        "Error: order not found",
        "Could it be that the date is off?",
        "You mean the blue one?",
        "Probably not today",
        "不是吧，太厲害了",
        "請改正下面這篇作文。",
        "Wrong number, sorry. I meant to text my wife.",
        "You broke the record, congratulations!",
        "The code you wrote does work.",
        "Who asked you to join the meeting?",
        "I said yes to the offer. When does it start?",
        "It has nothing to do with you.",
        'The label says "fragile". Can I still ship it?',
        "There are two adults, not including me.",
        "There's one bag, not checked yet.",
        "不是，我沒有收據。",
        "你記錯了會怎樣？",
        "你没有按钮可以点吗？",
        "你多给了我一个惊喜。",
        "你加反應爐的圖",
        "你又沒看過那部電影。",
        "漏水了怎麼辦？",
        "少了一個包裹，請幫我查。",
        "誰讓你難過了？",
        "我的帳號裡沒有這個功能，怎麼開？",
        "这个指令不存在吗？",
        "這件事跟我沒有關係。",
        "商品跟描述不符，我要退貨。",
        "你做成了这件事！",
        "跟你說了你也不懂。",
        "提醒您，今天是繳費日。",
        "你不是说笑吧？",
    ],
)
def test_it_notices_none(message: str) -> None:
    assert find_correction(message) is None


@table(
    ("previous", "message", "corrects"),
    [
        ("It was made on Monday.", "No, it was made on Tuesday.", True),
        ("Was it made on Monday? Please confirm.", "No, it was made on Tuesday.", False),
        ("Shall I refund it to PayPal?", "No, refund it to my card.", False),
        ("Is it Lyon?", "No, that's wrong, I told you it is Nice.", True),
        ("是星期一做的。", "不，是星期二。", True),
        ("是星期一做的嗎？請確認。", "不，是星期二。", False),
        ("是里昂嗎？", "不對，你記錯了。", True),
        ("Which colour would you like?", "Not the red one, the green one.", False),
        ("Please choose a day.", "Actually the 9th works best.", False),
        ("Please confirm that it goes to PayPal.", "Actually, the money goes to my card.", True),
        ("要哪一種？", "是甜的，不是鹹的", False),
    ],
)
def test_no_is_the_answer_to_a_question(previous: str, message: str, corrects: bool) -> None:
    assert (find_correction(message, previous=previous) is not None) is corrects


@table(
    ("previous", "message", "corrects"),
    [
        ("The capital of Australia is Sydney.", "Sydney isn't the capital, Canberra is.", True),
        ("I booked you for Tuesday.", "I said Thursday.", True),
        ("I booked you for Tuesday.", "Thursday, not Tuesday!", True),
        ("The total is 120.", "You forgot the shipping, so it's 132.", True),
        ("The function is in utils.py.", "It's in helpers.py though.", True),
        ("I deleted the old logs.", "I never asked you to delete anything.", True),
        ("I deleted the old logs.", "That's not what I asked for.", True),
        ("Your order ships Monday.", "Nope, it already arrived.", True),
        ("Python 4 is out.", "There is no Python 4.", True),
        ("Python 4 is out.", "Where did you get that? Python 4 doesn't exist.", True),
        ("The API key is optional.", "The docs say it's required.", True),
        ("I renamed the file.", "You renamed the wrong file.", True),
        ("He wrote 12 novels.", "Actually 14.", True),
        ("The tests pass.", "They don't. I just ran them.", True),
        ("I used the Euro rate.", "Wrong currency.", True),
        ("Here's the summary in French.", "I wanted it in Spanish.", True),
        ("The meeting is in room 4.", "You mixed up the rooms: it's 6.", True),
        ("The log shows no errors.", "Look again, line 40 is an error.", True),
        ("The capital of Australia is Canberra.", "Great, thanks. And New Zealand?", False),
        ("I booked you for Tuesday.", "Could you make it Thursday instead?", False),
        ("The total is 120.", "Can you add shipping?", False),
        ("I deleted the old logs.", "Perfect.", False),
        ("The tests pass.", "Did you run all of them?", False),
        ("Your order ships Monday.", "No problem, thanks.", False),
        ("The API key is optional.", "What happens if it's missing?", False),
        ("He wrote 12 novels.", "Which one is the best?", False),
        ("Which one do you want?", "Not the red one, the blue one.", False),
        ("Is it working?", "No, still broken.", False),
        ("The function is in utils.py.", "ok now move it to helpers.py", False),
        ("I renamed the file.", "Now rename the wrong file I mentioned back.", False),
        ("Shall I deploy?", "No, wait until Monday.", False),
        ("The meeting is in room 4.", "I'm in room 6 until then.", False),
        ("澳洲的首都是雪梨。", "首都是坎培拉，不是雪梨。", True),
        ("我幫您訂了週二。", "我說的是週四。", True),
        ("我幫您訂了週二。", "怎麼是週二？我要的是週四。", True),
        ("總共120元。", "你忘了算運費，應該是132。", True),
        ("這個函式在 utils.py。", "其實在 helpers.py。", True),
        ("我已經刪除舊的日誌。", "我沒叫你刪除啊。", True),
        ("Python 4 已经发布。", "哪来的 Python 4？根本没有。", True),
        ("API 金鑰是選填的。", "文件上寫是必填的。", True),
        ("我改了檔名。", "你改錯檔案了。", True),
        ("他写了12部小说。", "是14部。", True),
        ("测试都通过了。", "没有通过，我刚跑过。", True),
        ("我用了欧元汇率。", "币种不对。", True),
        ("會議在四號會議室。", "你搞混了，是六號。", True),
        ("日志里没有错误。", "再看看，第40行就是错误。", True),
        ("這是法文摘要。", "我要的是西班牙文。", True),
        ("澳洲的首都是坎培拉。", "好的，那紐西蘭呢？", False),
        ("我幫您訂了週二。", "可以改成週四嗎？", False),
        ("總共120元。", "運費也算進去吧。", False),
        ("我已經刪除舊的日誌。", "太好了。", False),
        ("测试都通过了。", "全部都跑了吗？", False),
        ("您的订单周一发货。", "没关系，谢谢。", False),
        ("API 金鑰是選填的。", "沒填會怎樣？", False),
        ("你要哪一個？", "不是紅的，是藍的。", False),
        ("可以用了吗？", "还是不行。", False),
        ("要部署嗎？", "不要，等週一。", False),
        ("會議在四號會議室。", "我現在在六號。", False),
        ("他写了12部小说。", "哪部最好看？", False),
        ("我改了檔名。", "接下來改另一個檔案。", False),
        ("I found 12 items.", "Actually 3 more came in today.", False),
        ("The meeting is on Monday.", "It's Monday today, right?", False),
        ("I booked room 12.", "It's 5 pm, can we talk later?", False),
        ("I wrote the notes to notes.md.", "It's fine, put the rest in todo.md.", False),
        ("I wrote the notes to notes.md.", "It should be notes.txt.", True),
        ("The invoice is due in March.", "It's April.", True),
        ("帳單三月到期。", "其實是四月。", True),
        ("帳單三月到期。", "是三月嗎？", False),
        ("我訂了12張票。", "是的，謝謝。", False),
        ("我訂了12張票。", "是3點的場次嗎？", False),
        ("There are 3 servers.", "There are no more questions from me.", False),
        ("The file config.yaml is in the root.", "There is no config.yaml.", True),
        ("No tests failed.", "There were no failures, good.", False),
        ("I can't find the file.", "There is no file, I deleted it.", False),
        ("Berlin is cold.", "I prefer Rome, not Berlin.", False),
        ("The talk is in Berlin.", "Rome, not Berlin.", True),
        ("The cache is warm.", "Ready, not started.", False),
        ("測試沒有通過。", "沒有通過，那再試一次。", False),
        ("部署已經完成。", "沒有完成。", True),
        ("部署還沒完成。", "沒有完成的話先別關。", False),
        ("檔案已經上傳。", "沒有問題。", False),
        ("請看第三章。", "再看看，有沒有別的章節。", False),
        ("我整理好了。", "格式有什麼不對嗎", False),
        ("這個怎麼樣？", "顏色不對。", False),
        ("我把背景改成藍色了。", "顏色不對。", True),
        ("The price is $20.", "The site says shipping is free, is that so?", False),
        ("The price is $20.", "The site says it's $15.", True),
        ("I'll send it by mail.", "I wanted to ask about the price.", False),
        ("I sent it by mail.", "I wanted it on paper.", True),
        ("Here is the plan.", "Look again tomorrow, it's late.", False),
        ("說明書附在盒子裡。", "說明書寫的是中文嗎", False),
        ("保固一年。", "合約寫的是兩年。", True),
        ("Is it in utils.py?", "Actually helpers.py.", False),
        ("He wrote 12 novels.", "Actually 14?", False),
        ("He wrote 12 novels and 3 plays.", "Actually 14.", False),
        ("I booked room 12.", "It's 5 pm.", False),
        ("您訂了12張票。", "是5點。", False),
    ],
)
def test_it_hears_a_message_against_what_the_agent_said(previous: str, message: str, corrects: bool) -> None:
    assert (find_correction(message, previous=previous) is not None) is corrects


@table("phrase", ["不是有說", "為何還是", "我提醒你"])
def test_mode_seed_knows_the_seeds_phrases_anywhere(phrase: str) -> None:
    correction = find_correction(f"「{phrase}」嗎", mode="seed")
    assert correction is not None
    assert correction.as_dict() == {
        "confidence": 1.0,
        "cues": [
            {
                "type": "seed-phrase",
                "strength": 1.0,
                "start": 1,
                "end": 1 + len(phrase),
                "text": phrase,
                "where": "message",
            }
        ],
        "concern": None,
    }


@table("message", ["That's wrong.", "不是有说", "为何还是", "我提醒您", "提醒你"])
def test_mode_seed_knows_nothing_else(message: str) -> None:
    assert find_correction(message, mode="seed") is None


@table(
    ("reply", "conceded"),
    [
        ("You're right, I mixed up the units.", True),
        ("I apologize for the confusion.", True),
        ("你說得對，我改一下。", True),
        ("抱歉，我看错了。", True),
        ("My previous answer was wrong.", True),
        ("Sorry, I used last year's price.", True),
        ("確實，我之前的說法不正確。", True),
        ("不好意思，我用了舊的地址。", True),
        ("我的疏忽，已经补上。", True),
        ("You're right: the cache is cold.", True),
        ("你说得对！", True),
        ("You're right-handed, then.", False),
        ("你說得對方很生氣", False),
        ("你说得对象都不高兴了。", False),
        ("You're right on time!", False),
        ("In case you are right, the log shows it.", False),
        ("Sorry, I missed your call.", False),
        ("如果你说得对，日志里会看得到。", False),
        ("抱歉，我給不了您這項資訊。", False),
        ("Sorry, I cannot do that.", False),
        ("I'm sorry to hear that.", False),
        ('The docs say "you\'re right".', False),
        ("抱歉，我無法退款。", False),
        ("Sure, here it is. " * 30 + "You're right.", False),
    ],
)
def test_a_concession_in_the_reply_is_a_sign_of_its_own(reply: str, conceded: bool) -> None:
    correction = find_correction("The list has three pages.", reply=reply)
    assert (correction is not None) is conceded
    if correction:
        assert {cue.where for cue in correction.cues} == {"reply"}
        assert all(reply[cue.start : cue.end] == cue.text for cue in correction.cues)


def test_both_signs_together_are_surer_than_either() -> None:
    alone = find_correction("That's wrong.")
    both = find_correction("That's wrong.", reply="You're right, sorry.")
    assert alone is not None
    assert both is not None
    assert (alone.confidence, both.confidence) == (0.8, 0.94)


# -- what it is about --------------------------------------------------------------------------------------------

PREVIOUS = (
    "🧭 The cache is warm. The capital of Australia is Sydney. The port is 8080.\n"
    "快取是熱的。澳洲的首都是雪梨。連接埠是 8080。"
)


@table(
    ("message", "text", "quoted"),
    [
        ("No, the capital is Canberra.", "The capital of Australia is Sydney.", False),
        ("The port is wrong, I said 8443.", "The port is 8080.", False),
        ("不對，首都是坎培拉。", "澳洲的首都是雪梨。", False),
        ("不对，连接埠是 8443", "連接埠是 8080。", False),
        ('"The cache is warm" is wrong.', "The cache is warm", True),
        ("> the capital of australia\nWrong.", "The capital of Australia", True),
        ("「快取是熱的」錯了", "快取是熱的", True),
    ],
)
def test_it_finds_what_a_correction_concerns(message: str, text: str, quoted: bool) -> None:
    concern = find_concern(message, PREVIOUS)
    assert concern is not None
    assert (concern.text, concern.quoted) == (text, quoted)
    assert PREVIOUS[concern.start : concern.end] == text


def test_it_takes_the_only_sentence_that_can_be_meant() -> None:
    previous = "The train leaves on Monday. Platform 3 is at the back."
    for said, before, meant in (
        ("I told you Friday!", previous, "The train leaves on Monday."),
        ("wrong", "It is blue.", "It is blue."),
    ):
        found = find_concern(said, before)
        assert found is not None
        assert found.text == meant
    assert find_concern("I told you tomorrow!", previous) is None


@table("message", ["", "Wrong.", "不對。", "You forgot the moon.", '"Melbourne" is wrong.'])
def test_it_does_not_guess_what_a_correction_concerns(message: str) -> None:
    assert find_concern(message, PREVIOUS) is None


# -- what would recognise it again -------------------------------------------------------------------------------

HISTORY = ["The capital of France is Paris.", "The cache is warm.", "法國的首都是巴黎。", "快取是熱的。"] * 10


@table(
    ("said", "message", "part"),
    [
        ("The capital of Australia is Sydney.", "No, Australia's capital is Canberra.", "Australia"),
        ("Celery retries lost tasks forever.", "That's not how Celery works.", "Celery"),
        ("澳洲的首都是雪梨。", "不對，澳洲的首都是坎培拉。", "澳洲"),
        ("快取會自動清除過期項目。", "快取不會自動清除。", "自動清除"),
        ("缓存会自动清除过期项目。", "缓存不会自动清除。", "自动清除"),
    ],
)
def test_it_proposes_a_rare_phrase_of_what_was_said(said: str, message: str, part: str) -> None:
    proposal = propose_keywords(said, message, HISTORY)
    assert proposal is not None
    (phrase,) = proposal.keywords
    assert proposal.is_phrase
    assert phrase in said
    assert part in phrase
    assert (proposal.hits, proposal.texts, proposal.is_common) == (0, 40, False)


@table(
    ("said", "message", "phrase"),
    [
        ("行李費是三十元。", "不對，行李費是四十元。", "行李費是三十元"),
        ("雪梨是澳洲的首都。", "錯了，澳洲的首都是坎培拉。", "雪梨是澳洲的首都"),
        ("我在每个函数里加了注释。", "跟你说过不要加注释。", "函数里加了注释"),
        ("這款手機支援無線充電和快充。", "你說錯了，它沒有無線充電", "手機支援無線充電"),
    ],
)
def test_it_cuts_no_chinese_word_where_it_need_not(said: str, message: str, phrase: str) -> None:
    proposal = propose_keywords(said, message, HISTORY)
    assert proposal is not None
    assert proposal.keywords == (phrase,)


@table(
    ("said", "message", "phrase"),
    [
        ("退款需要三個工作天才會入帳。", "錯了", "三個工作天才"),
        ("退款需要 3 個工作天。", "錯了", "退款需要"),
        ("退款需要三天才會入帳。", "錯了，五天", "退款需要三天才"),
        ("会议在星期三下午举行。", "错了，是周四", "星期三下午举行"),
        ("版本統一後就能升級。", "錯了", "版本統一後"),
        ("The refund takes 42 days.", "wrong", "refund takes 42 days"),
        ("The refund takes 3 working days.", "wrong", "takes 3 working days"),
        ("The refund takes three working days.", "wrong", "takes three working days"),
    ],
)
def test_it_cuts_no_number_from_what_it_counts(said: str, message: str, phrase: str) -> None:
    proposal = propose_keywords(said, message, HISTORY)
    assert proposal is not None
    assert proposal.keywords == (phrase,)


@table(
    ("said", "hits", "texts", "is_proposed"),
    [
        ("We can pay by card today.", 100, 100, False),
        ("我們可以刷卡付款。", 100, 100, False),
        ("我们可以刷卡付款。", 6, 30, False),
        ("We can pay by card today.", 6, 30, False),
        ("We can pay by card today.", 5, 30, True),
        ("We can pay by card today.", 29, 29, True),  # too few to tell
        ("我們可以刷卡付款。", 5, 30, True),
        ("我們可以刷卡付款。", 29, 29, True),
    ],
)
def test_it_proposes_nothing_that_the_agent_says_all_the_time(
    said: str, hits: int, texts: int, is_proposed: bool
) -> None:
    history = [said] * hits + ["The cache is warm. 快取是熱的。"] * (texts - hits)
    proposal = propose_keywords(said, "wrong", history)
    assert (proposal is not None) is is_proposed
    assert proposal is None or (proposal.hits, proposal.texts) == (hits, texts)


def test_it_proposes_keywords_together_where_every_phrase_is_common() -> None:
    proposal = propose_keywords("capital France", "no", ["The capital France", "capital france"] * 10)
    assert proposal is not None
    assert proposal.as_dict() == {
        "keywords": ["capital", "France"],
        "is_phrase": False,
        "hits": 20,
        "texts": 20,
        "is_common": True,
    }


def test_it_takes_frequencies_for_a_history() -> None:
    counts: dict[str, int] = {}
    for text in HISTORY:
        for term in terms_of(text):
            counts[term] = counts.get(term, 0) + 1
    said = "The capital of Australia is Sydney."
    by_counts = propose_keywords(said, "No, it's Canberra, Australia.", Frequencies(len(HISTORY), counts))
    by_texts = propose_keywords(said, "No, it's Canberra, Australia.", HISTORY)
    assert by_counts == by_texts


@table(
    ("said", "keywords"),
    [
        ("抱歉，你說得對，是在 gunicorn timeout。", ("gunicorn timeout",)),
        ("You're absolutely right, the gunicorn timeout it is.", ("gunicorn timeout",)),
        ("I apologize, my mistake.", None),
        ("您说得对，非常抱歉。", None),
        ("Thanks for pointing that out, sorry!", None),
    ],
)
def test_it_proposes_no_apology(said: str, keywords: tuple[str, ...] | None) -> None:
    proposal = propose_keywords(said, "No, that's wrong.", HISTORY)
    assert (proposal and proposal.keywords) == keywords


@table("said", ["", "It is.", "的了", "42"])
def test_it_proposes_nothing_where_nothing_is_said(said: str) -> None:
    assert propose_keywords(said, "Wrong.", HISTORY) is None


@table(("hits", "is_common"), [(2, False), (3, True)])
def test_it_calls_a_proposal_common_above_five_percent(hits: int, is_common: bool) -> None:
    history = ["alpha beta"] * hits + ["gamma"] * (40 - hits)
    proposal = propose_keywords("alpha beta", "no", history)
    assert proposal is not None
    assert (proposal.hits, proposal.is_common) == (hits, is_common)


# -- how well ----------------------------------------------------------------------------------------------------


@table(
    ("language", "part", "precision", "recall"),
    [
        ("en", None, 0.95, 0.88),
        ("zh", None, 0.95, 0.93),
        ("en", "fresh", 0.95, 0.70),
        ("zh", "fresh", 0.95, 0.90),
        ("en", "held-out", 0.90, 0.85),
        ("zh", "held-out", 0.90, 0.90),
        ("en", "reply", 0.85, 0.85),
        ("zh", "reply", 0.85, 0.85),
    ],
)
def test_it_is_as_good_as_the_docs_say(language: str, part: Any, precision: float, recall: float) -> None:
    measured = measuring.corrections(language, part)
    assert measured.n >= (150 if part is None else 16)
    assert measured.precision >= precision
    assert measured.recall >= recall


@settings(max_examples=40)
@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=200))
def test_its_evidence_stands_where_it_says(message: str, previous: str, reply: str) -> None:
    correction = find_correction(f"{message}\nThat's wrong. 不對。", previous=previous, reply=reply)
    if correction is None:
        return
    texts = {"message": f"{message}\nThat's wrong. 不對。", "reply": reply}
    assert all(texts[cue.where][cue.start : cue.end] == cue.text for cue in correction.cues)
    if correction.concern:
        assert previous[correction.concern.start : correction.concern.end] == correction.concern.text
