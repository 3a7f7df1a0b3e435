"""Simplified Chinese: the seed's marks, transcribed."""

MARKS = {
    "chat": "（⚠️ 我对这个回答不太确定，可能需要更多思考）",
    "remember": "⚠️ [犹豫分数={score}]",
    "task": "[需要复核]",
}
