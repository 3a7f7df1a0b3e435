"""Scripts of sed and awk: what they write, read and run."""

from metacog.heuristics.effects.shell.texts import scripts
from tests.tables import table

SED = [
    ("1,40p", ""),
    ("s/a/b/g; s|[/|]|x|", ""),
    ("/x/,+3{s/a/b/;p}", ""),
    (":a;N;$!ba;s/\\n/ /g", ""),
    ("a\\\nfoo\\\ne rm x", ""),
    ("y/abc/e w/", ""),
    ("w out", "write:out"),
    ("s/x/y/w out", "write:out"),
    ("/x/r in", "read:in"),
    ("1e rm x", "run:rm x"),
    ("s/x/y/e", "unknown"),
    ("e", "unknown"),
    ("y/[/]/;e rm x;s/]//", "run:rm x;s/]//"),
    ("a foo\ne rm x", "run:rm x"),
    ("s/[/x/;e rm", None),
    ("frob", None),
    ("{p", None),
]
AWK = [
    ("{print $1}", ""),
    ("$1 > 5 && /a|b/ {print $1/2}", ""),
    ("!seen[$0]++", ""),
    ("{print ($1 > 5), /x > y/}", ""),
    ('{print > "out"}', "write:out"),
    ('{printf "a" >> $1}', "write:"),
    ('{print | "sh"}', "run:sh"),
    ("{print | cmd}", "unknown"),
    ('BEGIN{system("rm x")}', "run:rm x"),
    ('BEGIN{system("rm " x)}', "unknown"),
    ('BEGIN{while (("ls" | getline x) > 0) print x}', "run:ls"),
    ('{getline x < "in"}', "read:in"),
    ('BEGIN{f = "system"; @f("rm x")}', None),
    ('{print "unfinished}', None),
]


def said(steps: list[scripts.Step] | None) -> str | None:
    if steps is None:
        return None
    return " ".join(step.does if step.does == "unknown" else f"{step.does}:{step.text}" for step in steps)


@table(("script", "does"), SED)
def test_it_tells_what_a_sed_script_does(script: str, does: str | None) -> None:
    assert said(scripts.sed(script)) == does


@table(("script", "does"), AWK)
def test_it_tells_what_an_awk_script_does(script: str, does: str | None) -> None:
    assert said(scripts.awk(script)) == does
