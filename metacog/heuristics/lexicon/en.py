"""English marks.

The chat mark avoids every hedge of the seed ("not sure", "maybe", "might", "I think"), so that a marked
text that is scored again is judged by its own words.
"""

MARKS = {
    "chat": "(⚠️ I am not certain of this answer; it needs more thought.)",
    "remember": "⚠️ [hesitation score={score}]",
    "task": "[needs-review]",
}
