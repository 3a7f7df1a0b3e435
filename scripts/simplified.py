"""Print the table of simplified characters, as OpenCC has them.

python scripts/simplified.py > metacog/heuristics/lexicon/simplified.py
"""

import sys
from importlib.metadata import version

from opencc import OpenCC

HAN = [chr(code) for first, end in ((0x3400, 0xA000), (0xF900, 0xFB00)) for code in range(first, end)]
IN_A_LINE = 28


def main() -> None:
    # Line by line, since a phrase may read otherwise than its characters one by one.
    converted = OpenCC("t2s").convert("\n".join(HAN)).split("\n")
    pairs = [
        character + simplified
        for character, simplified in zip(HAN, converted, strict=True)
        if simplified != character and len(simplified) == 1
    ]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]  # nothing else is put in its place here
    print(f'''"""Simplified characters for traditional ones, one for one.

Written by scripts/simplified.py from the dictionaries of OpenCC {version("opencc")}, under the Apache License 2.0
(simplified.LICENSE).
"""

PAIRS = (  # each traditional character, then its simplified one''')
    for at in range(0, len(pairs), IN_A_LINE):
        print(f'    "{"".join(pairs[at : at + IN_A_LINE])}"')
    print(")")


if __name__ == "__main__":
    main()
