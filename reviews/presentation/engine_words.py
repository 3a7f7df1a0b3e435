"""Say in the reader's language what the engine says in English.

A verdict is stored as it was answered, in one language; people read its details in theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from metacog.accounts.forms import STUCK
from metacog.heuristics.signals import SPECS

_KINDS = {"TOOL_CALL": _("Tool call"), "QUESTION": _("Question")}
_NAMES = {
    "Latin letters": _("Latin letters"),
    "Chinese": _("Chinese"),
    "Japanese": _("Japanese"),
    "Korean": _("Korean"),
    "another script": _("another script"),
    "English": _("English"),
    "Spanish": _("Spanish"),
    "French": _("French"),
    "German": _("German"),
    "Italian": _("Italian"),
    "Portuguese": _("Portuguese"),
    "Dutch": _("Dutch"),
    "Swedish": _("Swedish"),
    "Polish": _("Polish"),
    "Turkish": _("Turkish"),
    "Indonesian": _("Indonesian"),
    "Vietnamese": _("Vietnamese"),
    "en": _("English"),
    "zh-Hant": _("Traditional Chinese"),
    "zh-Hans": _("Simplified Chinese"),
}
_NUMBER = r"[\d.,]+"

# How the engine puts it, and what is said instead of it.
_SAYINGS: tuple[tuple[str, Any], ...] = (
    # hesitation
    *((expression, _(text)) for spec in SPECS.values() for expression, text in spec.details),
    # rules on tool calls
    (r"(?P<place>.+) is not a number: “(?P<operator>\w+)” cannot be checked\.", _("%(place)s is not a number.")),
    (r"(?P<place>.+) is not a text: “(?P<operator>\w+)” cannot be checked\.", _("%(place)s is not a text.")),
    (
        r"(?P<place>.+) has letters beyond ASCII: “regex” cannot be checked\.",
        _("%(place)s has letters beyond ASCII, and the regular expression is too large for them."),
    ),
    (r"It cannot be read for certain, so its effects .+", _("It cannot be read for certain.")),
    (r"What it would do it to cannot be told, .+", _("What it would be done to cannot be read for certain.")),
    (
        r"The tool's server is not trusted, .+",
        _("The tool's server is not trusted, so its hints are ignored."),
    ),
    # effects of tool calls
    (r"an unknown program", _("unknown program")),
    (r"unknown tool", _("unknown tool")),
    (r"a command made at run time", _("the command is made at run time")),
    (r"(?:a program|a name|a module) (?:named|made) at run time", _("its name is made at run time")),
    (r"flags made at run time", _("its options are made at run time")),
    (r"code made at run time", _("the code is made at run time")),
    (r"code from its input", _("the code is its input")),
    (r"a (?:value|name) that is run", _("a value is run as code")),
    (r"grammar", _("its syntax is not understood")),
    (r"cannot be read|\w+ that cannot be read", _("not understood")),
    (r"too long or too deep|too long|too many arguments", _("too long")),
    (
        r"(?:a line|quotes|backquotes) that (?:ends|may end|may belong) elsewhere",
        _("its quotes or lines may end elsewhere"),
    ),
    (r"a session of its own|opens a session to type into", _("opens a session whose input is not seen")),
    (r"no WHERE", _("no WHERE")),
    (r"a test's own", _("a test's own")),
    (r"no WHERE, a test's own", _("no WHERE, a test's own")),
    (r"made by the same command", _("made by the same command")),
    (r"a build's output", _("a build's output")),
    (r"something else was put there", _("something else was put there")),
    (r"as long as the command runs", _("as long as the command runs")),
    (r"by force", _("by force")),
    (r"device", _("a device")),
    (r"(?P<code>\w+) (?:code|script)", _("%(code)s code")),
    (r"flag (?P<flag>.+)", _("option %(flag)s")),
    (r"sets (?P<variable>\w+)", _("sets %(variable)s")),
    # what fails meanwhile
    (r"(?P<failed>\d+) tests? fails?", ngettext_lazy("%(failed)s test fails", "%(failed)s tests fail", "failed")),
    (r"the command failed", _("the command failed")),
    (r"the command failed: (?P<command>.+)", _("the command failed: %(command)s")),
    # the next cycle
    (r"hesitation review: held (?P<kinds>.+)", _("to look again at what is held: %(kinds)s")),
    # quality
    (r"nothing is said", _("it says nothing")),
    (r"shares hardly a word with the message", _("shares hardly a word with the message")),
    (r"shares no word with the message", _("shares no word with the message")),
    (
        rf"(?P<count>{_NUMBER}) of (?P<asked>\d+) question\(s\) not accounted for",
        ngettext_lazy(
            "%(count)s of %(asked)s question not addressed",
            "%(count)s of %(asked)s questions not addressed",
            "asked",
        ),
    ),
    (rf"(?P<count>{_NUMBER}) forbidden phrase\(s\)", _("forbidden phrases: %(count)s")),
    (r"written in (?P<name>[\w-]+), not in (?P<other_name>[\w-]+)", _("written in %(name)s, not in %(other_name)s")),
    (r"in (?P<name>[\w ]+), the message in (?P<other_name>[\w ]+)", _("in %(name)s, the message in %(other_name)s")),
    (
        r"in (?P<name>[\w ]+), the agent's language in (?P<other_name>[\w ]+)",
        _("in %(name)s, the agent's language is %(other_name)s"),
    ),
    (
        rf"(?P<length>\d+) character\(s\), (?P<least>{_NUMBER}) expected",
        ngettext_lazy(
            "%(length)s character, %(least)s expected", "%(length)s characters, %(least)s expected", "length"
        ),
    ),
    (rf"(?P<length>{_NUMBER}) characters, (?P<most>{_NUMBER}) at most", _("%(length)s characters, %(most)s at most")),
    (rf"(?P<alike>{_NUMBER})% like the last response", _("%(alike)s%% similar to the last response")),
    (
        rf"(?P<alike>{_NUMBER})% like the response (?P<back>{_NUMBER}) before",
        _("%(alike)s%% similar to the response %(back)s before"),
    ),
    # confidence
    (r"cold start", _("cold start")),
    (r"covered by the identity", _("covered by the identity")),
    (r"not covered by the identity", _("not covered by the identity")),
    (
        rf"session (?P<score>{_NUMBER}) \((?P<turns>{_NUMBER}) turn\(s\) before\)",
        _("session: %(score)s of 1 (turns before: %(turns)s)"),
    ),
    (
        rf"familiarity (?P<score>{_NUMBER}) \((?P<count>{_NUMBER}) mention\(s\)\)",
        _("familiarity with the topic: %(score)s of 1 (mentions: %(count)s)"),
    ),
    (
        rf"familiarity (?P<score>{_NUMBER}) \(mentions: (?P<count>.+)\)",
        _("familiarity with the topic: %(score)s of 1 (mentions: %(count)s)"),
    ),
    (
        rf"retrieval (?P<score>{_NUMBER}) \((?P<scores>{_NUMBER}) score\(s\), best (?P<best>{_NUMBER})\)",
        _("retrieval: %(score)s of 1 (scores: %(scores)s, best %(best)s)"),
    ),
    (
        rf"retrieval (?P<score>{_NUMBER}) \((?P<facts>{_NUMBER}) fact\(s\)\)",
        _("retrieval: %(score)s of 1 (facts: %(facts)s)"),
    ),
    (
        rf"retrieval (?P<score>{_NUMBER}) \((?P<scores>{_NUMBER}) score\(s\), best (?P<best>{_NUMBER}),"
        rf" (?P<facts>{_NUMBER}) fact\(s\)\)",
        _("retrieval: %(score)s of 1 (scores: %(scores)s, best %(best)s; facts: %(facts)s)"),
    ),
    # requests for more tool calls
    (
        rf"only the first (?P<count>{_NUMBER}) requests pass by rule",
        _("only the first %(count)s requests pass by rule"),
    ),
    (r"the reason is too short to say what is missing", _("the reason is too short to say what is missing")),
    (r"the reason only says that there is more to do", _("the reason only says that there is more to do")),
    (
        r"the reason names no entity and no data that is needed",
        _("the reason names no entity and no data that is needed"),
    ),
    (rf"request (?P<number>{_NUMBER}) gave the same reason", _("request %(number)s gave the same reason")),
    (
        r"the chairman has refused a request of this investigation",
        _("the chairman has refused a request of this investigation"),
    ),
    (r"the policy grants no steps by rule", _("the policy grants no steps by rule")),
    # stuck
    (rf"same approach (?P<count>{_NUMBER}) times", _("same approach %(count)s times")),
    (rf"same command (?P<count>{_NUMBER}) times", _("same command %(count)s times")),
    (rf"repeats a passage of failed step (?P<step>{_NUMBER})", _("repeats a passage of failed step %(step)s")),
    (rf"same error (?P<count>{_NUMBER}) times", _("same error %(count)s times")),
    (r'says "(?P<words>.*)"', _("says “%(words)s”")),
    (rf"(?P<percent>{_NUMBER})% of the context window in use", _("%(percent)s%% of the context window in use")),
    (
        r"no commit in (?P<minutes>\d+) minutes of work",
        ngettext_lazy("no commit in %(minutes)s minute of work", "no commit in %(minutes)s minutes of work", "minutes"),
    ),
    (
        rf"(?P<passed>\d+) tests pass, (?P<best>{_NUMBER}) did",
        ngettext_lazy(
            "%(passed)s test passes, %(best)s did before", "%(passed)s tests pass, %(best)s did before", "passed"
        ),
    ),
)
_COUNTED = ("asked", "length", "minutes", "passed", "failed")  # by which a saying is singular or plural
_COMPILED = [(re.compile(expression, re.DOTALL), saying) for expression, saying in _SAYINGS]


def translated(detail: str) -> str:
    """Return a detail in the active language; what no engine of ours says stays as it is."""
    for expression, saying in _COMPILED:
        if match := expression.fullmatch(detail):
            return str(saying % {group: _value(group, value) for group, value in match.groupdict().items()})
    return detail


def sign(name: str, evidence: Mapping[str, Any]) -> str | Promise:
    """Name a sign of being stuck for what was seen."""
    if name == "repeated-approach":
        return _("The same command again") if "commands" in evidence else _("The same approach again")
    return STUCK[name]


def _value(group: str, value: str) -> str | int | Promise:
    if group in _COUNTED and value.isdecimal():
        return int(value)
    if group == "failing":
        if not value[0].isdigit() or " and " not in value:
            return translated(value)
        tests, _and, command = value.partition(" and ")
        return str(_("%(tests)s and %(command)s")) % {"tests": translated(tests), "command": translated(command)}
    if group == "kinds":
        return ", ".join(str(_KINDS.get(kind, kind)) for kind in value.split(", "))
    return _NAMES.get(value, value) if group.endswith("name") else value


def translated_reason(reason: str) -> str:
    """Return the reason of a confidence in the active language."""
    return str(_("; ")).join(translated(part) for part in reason.split("; "))
