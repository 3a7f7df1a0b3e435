"""Languages of which only usual sentences are known: running the project's tests, and printing."""

import re

PRINTED = r"(?:\"[^\"$#`\\]*\"|'[^'\\]*'|[\d\s+*.-]++)"
PRINTS = rf"(?:print|println|puts|cat|message|display|writeln|say|p|disp|io\.write|IO\.puts)\b[\s(]*{PRINTED}[\s)]*"
R_TESTS = (
    r"(?:library\(\w+\)|set\.seed\(\d+\)|sessionInfo\(\)|R\.version(?:\.string|\$\w+)?|packageVersion\(['\"]\w+['\"]\)"
    r"|(?:devtools|testthat|rcmdcheck|lintr|styler|roxygen2|covr|tinytest)::"
    r"(?:test\w*|check\w*|document|load_all|lint\w*|style_\w+|roxygeni[sz]e|package_coverage|rcmdcheck)"
    r"\([\w\s/.,='\"-]*\))"
)
JULIA_TESTS = (
    r"(?:using [A-Z]\w*|import Pkg|include\(\"(?!\.\.)(?:\w[\w.-]*/)*\w[\w-]*\.jl\"\)"
    r"|Pkg\.(?:test|instantiate|status|build|precompile|activate)\([\w\s/.,=\"-]*\))"
)
DEBUGGER = (
    r"(?:run|r|start|bt|backtrace|bt full|thread apply all (?:bt|backtrace)(?: full)?|info [\w ]+|frame \d*|up|down"
    r"|next|n|step|s|continue|c|finish|quit|q|kill|list[\w ,:.]*|(?:break|b|tbreak) [\w.:/-]+"
    r"|(?:p|print|x|ptype|whatis)(?:/\w+)? [\w.>$*&\[\] -]+"
    r"|set (?:pagination|confirm|width|height|breakpoint pending|args|print \w+|debuginfod enabled) ?[\w./ -]*"
    r"|disassemble[\w /,]*|display[\w /$]*|delete(?: \d+)?)"
)
PATTERN = r"(?:[^/\\]|\\.)*+"
CHANGE = rf"s(?:/{PATTERN}/(?!\\=){PATTERN}(?:/[gpiIce\d]*)?|\|(?:[^|\\]|\\.)*+\|(?!\\=)(?:[^|\\]|\\.)*+\|[gpiIce\d]*)"
ED_TEXT = re.compile(  # lines that are put in; where that fails, as behind a pattern that finds nothing, commands
    r"^(?:[.$0]?a\n(?:(?!\.\n).*\n)*+|(?:[\d.$,;+-]|/(?:[^/\\\n]|\\.)*+/)*+[aic]\n"
    r"(?:(?!\.\n)(?!.*(?:!|[rwWeEfq][ \t]+[~/.$])).*\n)*+)\.\n",
    re.MULTILINE,
)
SENTENCES = {
    "R": rf"(?:{R_TESTS}|{PRINTS})[\s;]*",
    "julia": rf"(?:{JULIA_TESTS}|{PRINTS})[\s;]*",
    "debugger": rf"{DEBUGGER}$",
    "perl-module": r"-?\w+(?:::\w+)*(?:=[\w,:+-]*)?$",
    "ed": rf"(?:[\d.$%,;+-]|/{PATTERN}/)*+"
    rf"(?:{CHANGE}|[gv]/{PATTERN}/(?:{CHANGE}|[dpj])|[mt][\d.$]*|wq|[dpnlj=wqxuHP])!?"
    r"(?:$|\s*\n\s*|\s*\|\s*(?=\w))",
    "vim": rf"(?:silent!? )?(?:(?:[\d.$%,;+-]|/{PATTERN}/)*+"
    rf"(?:{CHANGE}|[gv]/{PATTERN}/(?:{CHANGE}|[dpj])|[mt][\d.$]+|sort[!uin ]*|retab!?|noh|[dpjy])"
    r"|(?:w|wq|x|q|qa|wqa|xa|xit|quit|qall|wqall|update)!?|set \w+(?:[=+]\w+)?|syntax (?:on|off)|normal! gg=G)"
    r"(?:$|\s*\n\s*|\s*\|\s*(?=[%\w]))",
}
PATTERNS = {language: re.compile(sentence) for language, sentence in SENTENCES.items()}
ANY = re.compile(rf"{PRINTS}[\s;]*")


def are_harmless(language: str, code: str) -> bool:
    """Whether `code` is made of sentences that are known to do no harm."""
    if language == "ed":
        code = ED_TEXT.sub("", code + "\n")
    code, at = code.strip(), 0
    pattern = PATTERNS.get(language, ANY)
    while at < len(code):
        found = pattern.match(code, at)
        if found is None or found.end() == at:
            return False
        at = found.end()
    return bool(code)
