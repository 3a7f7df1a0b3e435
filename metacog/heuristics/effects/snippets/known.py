"""Lua, R, Julia and MongoDB's shell: harmless where each name is known, or given in the code and never called."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

TEXT = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'")
COMMENT = {"lua": re.compile(r"--(?!\[)[^\n]*"), "mongo": re.compile(r"//[^\n]*"), "R": re.compile(r"#[^\n]*")}
COMMENT["julia"] = COMMENT["R"]
NAME = {"R": re.compile(r"(?<![\w.])[A-Za-z.][\w.]*"), "mongo": re.compile(r"(?<![\w$])[A-Za-z_$][\w$]*")}
PLAIN_NAME = re.compile(r"(?<!\w)[A-Za-z_]\w*")
MADE_CALL = re.compile(r"[\])]\s*\(")  # of what is found or made at run time
NAMED = re.compile(  # functions of R that others call by their names in quotes
    r"[\"'](?:system2?|shell|eval\w*|source|unlink|file\.\w+|write\w*|save\w*|sink|download\.file|install\.\w+|setwd|q(?:uit)?"
    r"|Sys\.\w+|dput|dump|cat|do\.call|parse)[\"']"
)
GIVEN = re.compile(  # names that the code itself gives a value
    r"(?:\b(?:local|for|in|var|let|const)\s+)?([\w.]+(?:\s*,\s*\w+)*)\s*(?:=(?![=>~])|<-|=>|\bin\b)"
)
GIVEN_TOGETHER = re.compile(r"\(((?:\w+\s*,\s*)*\w+)\)\s*=>|\bfunction\s*\w*\s*\(((?:\w+\s*,\s*)*\w+)\)")


@cache
def _words() -> Mapping[str, frozenset[str]]:
    known = json.loads(Path(__file__).with_name("words.json").read_bytes())["known"]
    return {language: frozenset(words.split()) for language, words in known.items()}


def are_known(language: str, code: str) -> bool:
    """Whether `code` calls nothing but what is known to do no harm."""
    words = _words().get(language)
    if words is None or "`" in code or (language == "lua" and "[[" in code) or "$(" in code:
        return False
    if language == "R" and NAMED.search(code):
        return False
    plain = COMMENT[language].sub("", TEXT.sub('""', code))
    if '"' in plain.replace('""', "") or "'" in plain or MADE_CALL.search(plain):
        return False
    given = {name for found in GIVEN.finditer(plain) for name in re.split(r"\s*,\s*", found[1])}
    given |= {
        name for found in GIVEN_TOGETHER.finditer(plain) for name in re.split(r"\s*,\s*", found[1] or found[2] or "")
    }
    return bool(plain.strip()) and all(
        _is_harmless(language, found[0], plain[: found.start()].rstrip()[-2:], plain[found.end() :].lstrip(), given)
        for found in NAME.get(language, PLAIN_NAME).finditer(plain)
        if found[0] not in words
    )


def _is_harmless(language: str, name: str, before: str, after: str, given: set[str]) -> bool:
    """Whether a name that is on no list is a key, a property, or a value that the code was given."""
    if after.startswith("(") or (language == "lua" and after.startswith(('"', "{"))):
        return False
    if language == "mongo" and (after.startswith(":") or (before == "db" and after.startswith("."))):
        return not name.startswith("$")
    if before.endswith(".") and not before.endswith(".."):
        return True
    is_key = language in {"R", "julia"} and after.startswith("=") and not after.startswith("==")
    return is_key or name in given or (language == "R" and before.endswith("$"))
