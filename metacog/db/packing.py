"""Several texts of a row as one compressed value, and small numbers as bytes: how SQLite keeps what is large.

PostgreSQL compresses long values by itself. What a version wrote is read for ever: its dictionary, which stands for
what such texts have in common, is never changed. For another one make another version.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache

VERSION = b"\x01"
_BETWEEN = "\0"  # stands in no JSON
_NO_WINDOW = -15  # the largest there is, without zlib's head and checksum
_WINDOW, _MEMORY = -13, 6  # more takes longer to get ready than such texts take to compress
_LONG = 8_000  # characters, from which the largest window is worth it

_ENGLISH = (
    " the of and to in is that it was for on are as with be at by this have from or not but what all were when we"
    " there can an your which their said if do will each about how up out them then she many some so these would "
    "other into has more her two like him see time could no make than first been its who now people my made over "
    "did down only way find use may water long little very after words called just where most know the quotation "
    "error file function value test return response session agent because should however therefore"
)

_CHINESE = (
    "的一是在不了有和人這中大為上個國我以要他時來用們生到作地於出就分對成會可主發年動同工也能下過子說產種"
    "面而方後多定行學法所民得經十三之進著等部度家電力裡如水化高自二理起小物現實加量都兩體制機當使點從業本"
    "去把性好應開它合還因由其些然前外天政四日那社義事平形相全表間樣與關各重新線內數正心反你明看原又麼利比"
    "或但質氣第向道命此變條只沒結解問意建月公無系軍很情者最立代想已通並提直題黨程展五果料象員革位入常文總"
    "次品式活設及管特件長求老頭基資邊流路級少圖山統接知較將組見計別她手角期根論運農指幾九區強放決西被干做"
    "必戰先回則任取據處隊南給色光門即保治北造百規熱領七海口東導器壓志世金增爭濟階油思術極交受聯什認六共權"
    "收證改清己美再採轉更單風切打白教速花帶安場身車例真務具萬每目至達走積示議聲報鬥完類八離華名確才科張信"
    "馬節話米整空元況今集溫傳土許步群廣石記需段研界拉林律叫且究觀越織裝影算低持音眾書布復容兒須際商非驗連"
    "斷深難近礦千週委素技備半辦青省列習響約支般史感勞便團往酸歷市克何除消構府稱太準精值號率族維劃選標寫存"
    "候毛親快效斯院查江型眼王按格養易置派層片始卻專狀育廠京識適屬圓包火住調滿縣局照參紅細引聽該鐵價嚴，。"
    "、：；「」"
)

_BODY = (
    '{"id": "", "session": "", "user_message": "", "topics": [], "response": "", "items": [{"kind": "chat", '
    '"text": ""}, {"kind": "tool_call", "name": "", "arguments": {}}, {"kind": "action", "text": ""}]}'
)

_VERDICT = (
    '{"id": "resp_01k", "policy": 1, "profile": "seed", "engine": "1.20.0", "hesitation": {"score": 0, '
    '"confident": true, "threshold": 30, "hold_at": 50, "signals": [{"type": "absolute-claim", "detail": "2 '
    'absolute claim(s) without source", "weight": 20, "spans": [{"start": 8, "end": 15, "text": "clearly"}]}, '
    '{"type": "no-hedge", "detail": "long CHAT response with no hedging language", "weight": 15, "spans": '
    '[{"start": 0, "end": 283, "text": "", "item": 0}]}], "suggestion": null, "matched_pattern_ids": []}, '
    '"quality": {"score": 0.72, "passed": true, "flags": ["language-mismatch"], "details": [{"flag": '
    '"language-mismatch", "detail": "in Chinese, the agent\'s language in Latin letters", "spans": []}], '
    '"hedge_prefix": null, "evaluation": {"responsiveness": null, "completeness": null, "consistency": 1.0, '
    '"length_ok": true, "repetition": false}}, "confidence": null, "stuck": {"problem": "", "points": 0, '
    '"threshold": 7, "suggest": false, "invoke": false, "prompt": "", "signals": []}, "items": [{"index": 0, '
    '"kind": "chat", "disposition": "mark", "held": null, "text": "(This answer needs more thought.)", '
    '"review_url": null, "flags": [], "recognised": null}, {"index": 1, "kind": "action", "disposition": "note", '
    '"held": null, "text": "Hesitation: error-pattern, no-hedge (score=45)", "review_url": null, "flags": [], '
    '"recognised": null}], "flags": [], "schedule": null, "events": [], "threads": null}'
)

_DICTIONARY = (_ENGLISH + _CHINESE + _VERDICT + _BODY).encode()


def packed(texts: Sequence[str]) -> bytes | None:
    """Return texts as one value; None where they cannot be told apart in it."""
    whole = _BETWEEN.join(texts)
    if whole.count(_BETWEEN) != len(texts) - 1:
        return None
    window, memory = (_NO_WINDOW, 8) if len(whole) > _LONG else (_WINDOW, _MEMORY)
    deflate = zlib.compressobj(1, zlib.DEFLATED, window, memory, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    return VERSION + deflate.compress(whole.encode()) + deflate.flush()


@lru_cache(maxsize=4)  # a row's texts are asked for one by one
def unpacked(value: bytes) -> list[str]:
    """Return the texts of a packed value."""
    if not value.startswith(VERSION):
        raise ValueError("Packed by a later version of metacog.")
    return zlib.decompressobj(_NO_WINDOW, _DICTIONARY).decompress(value[1:]).decode().split(_BETWEEN)


def part(own: bytes | str | None, whole: bytes | str, number: int) -> str | None:
    """Return one text of a row: what its own column holds, or its part of what is packed into another."""
    if isinstance(own, bytes):
        if not isinstance(whole, bytes):
            raise ValueError("The value that this text was packed into is gone.")
        return unpacked(whole)[number]
    return own


def numbers_packed(numbers: Sequence[int]) -> bytes:
    """Return numbers below 2**32 as bytes, 4 each."""
    return struct.pack(f"<{len(numbers)}I", *numbers)


def numbers_unpacked(value: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(value) // 4}I", value))
