"""Write the Python client without `await` from the asynchronous one; with --check, say whether it is up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "clients/python/src/metacog_client"
SOURCE, FILE = PACKAGE / "async_client.py", PACKAGE / "client.py"
SAYS = {
    "The asynchronous client, from which scripts/sync_client.py makes the other one.": (
        "The client: made by scripts/sync_client.py from async_client.py."
    ),
    "As `Client`, with `await`, on asyncio or trio; may be used from one event loop after the other.": (
        "Asks metacog, one call after the other; may be used from several threads."
    ),
}
WITHOUT = (
    (r"\basync def\b", "def"),
    (r"\bawait ", ""),
    (r"\bAsync(Client|Transport)\b", r"\1"),
    (r"\b__a(enter|exit)__", r"__\1__"),
)


def made() -> str:
    text = SOURCE.read_text()
    for words, others in SAYS.items():
        assert words in text, words
        text = text.replace(words, others)
    for pattern, other in WITHOUT:
        text = re.sub(pattern, other, text)
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(FILE), "-"]
    return subprocess.run(ruff, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    text = made()
    if "--check" not in sys.argv:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        print(f"{FILE.relative_to(ROOT)} is out of date: make messages")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
