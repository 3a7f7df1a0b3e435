"""Traditional Chinese: the seed's own marks, letter for letter (seed 000, 行為調節)."""

MARKS = {
    "chat": "（⚠️ 我對這個回答不太確定，可能需要更多思考）",
    "remember": "⚠️ [hesitation score={score}]",
    "task": "[needs-review]",
}
