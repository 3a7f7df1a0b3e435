"""Compile a translations' source (.po) into what gettext reads (.mo), as `manage.py messages` writes the sources.

With the standard library alone: what runs needs no Babel, a build nothing of ours installed, and no machine gettext.
"""

from __future__ import annotations

import re
import struct
from ast import literal_eval

PART = re.compile(r'^(msgctxt|msgid|msgid_plural|msgstr(?:\[\d+\])?) ((?:"(?:[^"\\]|\\.)*"\n?)+)', re.MULTILINE)
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def compiled(source: str) -> bytes:
    """Return the .mo file with all that is translated; what is marked as fuzzy is not."""
    texts = {}
    for entry in re.split(r"\n\s*\n", source):
        parts = {name: _text(quoted) for name, quoted in PART.findall(entry)}
        translations = [text for name, text in parts.items() if name.startswith("msgstr")]
        if translations and all(translations) and not re.search(r"^#,.*\bfuzzy\b", entry, re.MULTILINE):
            context = f"{parts['msgctxt']}\x04" if "msgctxt" in parts else ""
            originals = [parts[name] for name in ("msgid", "msgid_plural") if name in parts]
            texts[(context + "\0".join(originals)).encode()] = "\0".join(translations).encode()
    originals_at = 7 * 4
    translations_at = originals_at + 8 * len(texts)
    tables, data, data_at = bytearray(), bytearray(), translations_at + 8 * len(texts)
    for text in [*sorted(texts), *(texts[key] for key in sorted(texts))]:
        tables += struct.pack("<2I", len(text), data_at + len(data))
        data += text + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(texts), originals_at, translations_at, 0, data_at)
    return head + tables + data


def _text(quoted: str) -> str:
    """Read a text from the quoted strings, one a line, that make it up."""
    text = "".join(QUOTED.findall(quoted))
    return str(literal_eval(f'"{text}"')) if "\\" in text else text
