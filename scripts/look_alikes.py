"""Print the tables of scripts and of letters that look like ASCII, as Unicode has them.

python scripts/look_alikes.py > metacog/heuristics/lexicon/unicode_letters.py
"""

import json
import sys
import unicodedata
from importlib.metadata import version
from importlib.resources import files

PACKAGE = "confusable_homoglyphs"
EVERYWHERE = ("COMMON", "INHERITED")  # of no script of their own
WIDTH = 110


def main() -> None:
    data = files(PACKAGE)
    scripts = json.loads((data / "categories.json").read_text(encoding="utf-8"))
    names, ranges = scripts["iso_15924_aliases"], scripts["code_points_ranges"]
    joined: list[list[int]] = []
    for first, last, script, _ in ranges:
        if names[script] in EVERYWHERE:
            continue
        if joined and joined[-1][1:] == [first - 1, script]:
            joined[-1][1] = last
        else:
            joined.append([first, last, script])
    known = list(dict.fromkeys(script for _, _, script in joined))
    confusables = json.loads((data / "confusables.json").read_text(encoding="utf-8"))
    pairs = {
        letter: ascii_letter
        for letter, found in confusables.items()
        if len(letter) == 1 and not letter.isascii()
        for ascii_letter in [next((each["c"] for each in found if len(each["c"]) == 1 and each["c"].isascii()), "")]
        if ascii_letter.isalnum() or ascii_letter in ("-", "_", ".", "/")
        if ascii_letter
    }
    for letter in map(chr, range(128, sys.maxunicode + 1)):
        form, _, code_point = unicodedata.decomposition(letter).partition(" ")
        if form in ("<wide>", "<font>") and chr(int(code_point, 16)).isalnum() and int(code_point, 16) < 128:
            pairs.setdefault(letter, chr(int(code_point, 16)))
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # nothing else is put in its place here
    print(f'''"""Which script a letter is of (Scripts.txt), and which is like ASCII (confusables.txt, UnicodeData.txt).

Written by scripts/look_alikes.py from Unicode's data, changed in form alone, as confusable-homoglyphs
{version(PACKAGE)} and Python have them, under the Unicode License (unicode_letters.LICENSE).
"""

SCRIPTS = (''')
    for script in known:
        print(f'    "{names[script].replace("_", " ").title()}",')
    print(""")
# First and last code point, and which of SCRIPTS.
RANGES = (""")
    _lines([f"{first:X}-{last:X}:{known.index(script)}" for first, last, script in joined], " ")
    print(""")
# A letter, and the one of ASCII that it looks like.
_PAIRS = (""")
    _lines([letter + pairs[letter] for letter in sorted(pairs)], "")
    print(""")
LIKE_ASCII = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))""")


def _lines(parts: list[str], between: str) -> None:
    line = ""
    for part in parts:
        if len(line) + len(part) >= WIDTH:
            print(f'    "{line}"')
            line = ""
        line += part + between
    print(f'    "{line.rstrip()}"')


if __name__ == "__main__":
    main()
