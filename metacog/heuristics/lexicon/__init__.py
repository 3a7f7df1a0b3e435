"""What is looked for, and how a mark is worded: one file a language, and the seed's own lists."""

from . import en, zh_hans, zh_hant

# By BCP 47 language; each maps a kind to its wording, in which "{score}" stands for the score.
MARKS = {"en": en.MARKS, "zh-Hant": zh_hant.MARKS, "zh-Hans": zh_hans.MARKS}

__all__ = ["MARKS"]
