"""Where bash takes a text in another way than the grammar does: found by looking at the text itself."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

STRANGE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ud800-\udfff]"
)
NON_ASCII = re.compile(r"[^\x00-\x7f]")
ENDED_BEYOND_ASCII = re.compile(r"<<-?[ \t]*[^\s;&|<>()]*[^\x00-\x7f]")
JOINED = re.compile(r"[^\s;&|()]\\\n[^\s;&|()\\]")
LIVE = re.compile(r"(?:\\.|(`|\$\(|[<>]\())", re.DOTALL)
IN_QUOTES = frozenset({"raw_string", "string_content", "heredoc_content", "heredoc_body", "ansi_c_string"})
NO_CODE = frozenset({"raw_string", "ansi_c_string", "comment", "heredoc_body", "heredoc_start", "heredoc_end"})
IN_STRINGS = frozenset({"string_content", "heredoc_content", "string", "heredoc_body"})
SIGNS = frozenset({"`", "$(", "$((", "<(", ">(", "<", ">", "((", "$`"})
COMMENT = re.compile(r"(^|[\s\S])#")
BEFORE_COMMENT = frozenset({"", " ", "\t", "\n", ";", "&", "|", "#"})
MOST_SIGNS = 300
GAP = re.compile(rb"(?:[ \t]|\\\n)*")
TIMED = re.compile(r"\btime[ \t]+(?:-p[ \t]+)?(?=(?:\{|for|while|until|if|case|select|!|\[\[)[ \t]|\()")
START = re.compile(r"[\w.-]+|'[^'\n]*'|\"[^\"\n$`\\]*\"|\\[\w.-]+")


def for_grammar(text: str) -> bytes:
    """`text` with a sign of two bytes, which is neither letter, digit nor blank, for each beyond ASCII.

    The grammar's scanner looks code points up in a table of 256, and reads beyond its end with larger ones. bash, too,
    takes them for parts of words and never of names.
    """
    return text.encode() if text.isascii() else NON_ASCII.sub("×", text).encode()


def untimed(text: str, root: "Node") -> str:
    """`text` with blanks for the shell's own `time` before a group or a loop, which the grammar takes for a program."""
    for found in TIMED.finditer(text):
        node = _at(root, text, found.start())
        while node is not None and node.type in {"word", "variable_name"} and node.parent is not None:
            node = node.parent
        if node is not None and node.type == "command_name":
            text = text[: found.start()] + " " * len(found[0]) + text[found.end() :]
    return text


def doubts(text: str, root: "Node") -> Iterator[str]:
    """What in `text` the grammar may have taken for something else."""
    if not text.isascii() and ENDED_BEYOND_ASCII.search(text):
        yield "a here-document with an end beyond ASCII"
    is_plain = text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()  # as most are; told in no time
    if not is_plain and _is_somewhere(STRANGE, text, root, outside=IN_QUOTES, never="\0"):
        yield "control characters"
    if "\\\n" in text and _is_somewhere(JOINED, text, root, outside=IN_QUOTES, shift=1):
        yield "a word over two lines"
    if "#" in text and any(
        found[1] not in BEFORE_COMMENT for found in COMMENT.finditer(text) if _is_comment(root, text, found)
    ):
        yield "a comment that may be none"
    if not _are_seen(text, root):
        yield "a substitution in an odd place"


def _is_comment(root: "Node", text: str, found: "re.Match[str]") -> bool:
    node = _at(root, text, found.end() - 1)
    return node is not None and node.type == "comment"


def _at(root: "Node", text: str, place: int) -> "Node | None":
    byte = place if text.isascii() else len(for_grammar(text[:place]))
    return root.descendant_for_byte_range(byte, byte + 1)


def _is_somewhere(
    pattern: "re.Pattern[str]", text: str, root: "Node", *, outside: frozenset[str], never: str = "", shift: int = 0
) -> bool:
    for found in pattern.finditer(text):
        node = _at(root, text, found.start() + shift)
        if found[0] == never or node is None or node.type not in outside:
            return True
    return False


def _are_seen(text: str, root: "Node") -> bool:
    """Whether the grammar knows of every substitution that starts or ends in `text`, or the place takes none."""
    if "(" not in text and "`" not in text:
        return True
    at, looked = 0, 0
    while found := LIVE.search(text, at):
        at = found.end()
        if found[1] is None:
            continue
        looked += 1
        node = _at(root, text, found.start())
        if node is None or looked > MOST_SIGNS:
            return False
        if node.type in NO_CODE:
            at = max(at, _point(text, node.end_byte))
        elif node.type not in SIGNS and not (found[1][0] in "<>" and node.type in IN_STRINGS):
            return False
    return True


def _point(text: str, byte: int) -> int:
    return byte if text.isascii() else len(for_grammar(text)[:byte].decode(errors="ignore"))


def is_torn(text: str, node: "Node") -> bool:
    """Whether a line ends between the parts of `node`, a command or assignment, where bash would end it too."""
    if "\n" not in text:
        return False
    start, at = node.start_byte, node.start_byte
    raw = for_grammar(text)
    for child in node.children:
        if child.start_byte > at and not GAP.fullmatch(raw, at - start, child.start_byte - start):
            return True
        at = child.end_byte
    return False
