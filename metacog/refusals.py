"""Say in the reader's language what the engine refuses in English: the API keeps its words, the console tells these."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext_lazy as _

# How the engine puts it, and what is said instead of it.
_SAYINGS: tuple[tuple[str, Any], ...] = (
    # JSON
    (r"The \w+ starts with a byte order mark; .+", _("Remove the byte order mark at the beginning.")),
    (r"The \w+ is not UTF-8: byte (?P<at>\d+) .+", _("This is not UTF-8: look at byte %(at)s.")),
    (
        r"The \w+ is not JSON: .+ at line (?P<line>\d+), column (?P<column>\d+)\.",
        _("This is not JSON: look at line %(line)s, column %(column)s."),
    ),
    (r"(?P<name>NaN|-?Infinity) is not JSON; .+", _("%(name)s is not JSON: leave it out or write null.")),
    (r"A number has \d+ digits; (?P<most>\d+) at most .+", _("A number has at most %(most)s digits.")),
    (r"The number (?P<number>.+) is too large for a double\.", _("The number %(number)s is too large.")),
    (r"Nested deeper than (?P<most>\d+) levels; .+", _("Nested deeper than %(most)s levels.")),
    (r"The name stands twice in this object; .+", _("A name occurs twice in one object.")),
    (r"The (?:text|name) holds a NUL character .+", _("Remove the NUL character.")),
    (r"The (?:text|name) holds half of a surrogate pair .+", _("The text contains half of a surrogate pair.")),
    # rules on tool calls
    (r"must be a list", _("Write a list.")),
    (r"must be at most (?P<most>\d+) rules", _("Write at most %(most)s rules.")),
    (r"must be at most (?P<most>\d+) \D+", _("Write at most %(most)s entries.")),
    (r"must be an object(?:, not .+)?", _("Write an object.")),
    (r"is not part of a rule", _("A rule has no such field.")),
    (
        r"must be the name of a tool, .+",
        _("Enter the name of a tool, 500 characters at most; * stands for any characters."),
    ),
    (r"must be a text of at most (?P<most>\d+) characters", _("Write a text of at most %(most)s characters.")),
    (r"must be true or false", _("Write true or false.")),
    (r"must be an object: JSON Pointers .+", _("Write an object: JSON Pointers, each with its conditions.")),
    (r"must be an object with a `program`.*", _("Name the program.")),
    (r'must be an object with a "name"', _("Name the pack.")),
    (
        r"must be (?:an object: tools, .+|an object with 1 to \d+ JSON Pointers)",
        _("Write an object: tools, each with JSON Pointers into its arguments."),
    ),
    (r"must be the name of a server, .+", _("Enter the name of a server; * stands for any characters.")),
    (r"must be a row of the table of programs: no effect is called (?P<name>.+)", _("No effect is called %(name)s.")),
    (r"must be a row of the table of programs: .+", _("This is not a row of the table: see docs/programs.md.")),
    (r"is not part of a row", _("A row has no such part.")),
    (r"must be a JSON Pointer .+", _("Write a JSON Pointer into the arguments, such as /eur.")),
    (r"must be an object with (?P<names>.+)", _("Write an object with one or more of: %(names)s.")),
    (r"must have at most (?P<most>\d+) conditions", _("Write at most %(most)s conditions.")),
    (r"must be a list of 1 to (?P<most>\d+) values", _("Write a list of 1 to %(most)s values.")),
    (r"must be a number, or a text to compare .+", _("Enter a number, or a text to compare texts with.")),
    (
        r"is no regular expression that can be searched in linear time: (?P<why>.+)",
        _("Not a regular expression that can be searched in linear time (%(why)s)."),
    ),
    (r"must have no letters beyond ASCII beside \\b: .+", _("Next to \\b there must be no letters beyond ASCII.")),
    (r"must be a list of effects: (?P<names>.+)", _("Write a list of effects: %(names)s.")),
    (r"must not hold unknown: .+", _("What cannot be read may be anything: leave “unknown” out.")),
    (r"must be a list of 1 to \d+ texts .+", _("Write a list of texts.")),
    (r"must have any, all or only", _("Choose at least one effect.")),
    (r"must stand in a rule that asks: .+", _("Only a rule that asks has approvers.")),
    (r"must stand in a rule that allows", _("Only a rule that allows has a definition.")),
    (r"is not part of a pack", _("A pack has no such field.")),
    # the rest of a policy
    (r"must not be below threshold: .+", _("Holding cannot start below the marking threshold.")),
    (r"must not be above pass_at: .+", _("“Low below” must be lower than “Passes from”.")),
    (r"must hold no NUL .+", _("Remove the NUL character.")),
    (r"is missing", _("This is missing.")),
    (r"is not part of (?:these settings|a policy)", _("A policy has no such field.")),
    (r"must be a (?:whole |finite )?number", _("Enter a number.")),
    (r"must be (?P<low>[\d.]+) or more", _("Write %(low)s or more.")),
    (r"must be (?P<high>[\d.]+) or less", _("Write %(high)s or less.")),
    (r"must be a whole number from (?P<low>\d+) to (?P<high>\d+)", _("Write a whole number from %(low)s to %(high)s.")),
    (r"must be a number from (?P<low>\d+) to (?P<high>\d+)", _("Write a number from %(low)s to %(high)s.")),
    (
        r"must be (?:.+ of )?1 to (?P<most>\d+) characters",
        _("Write a text of 1 to %(most)s characters."),
    ),
    (r"must be one of (?P<names>.+?)(?:, or as .+)?", _("Choose one of: %(names)s.")),
    (r'must be (?P<names>".+")', _("Choose one of: %(names)s.")),
)
_COMPILED = [(re.compile(expression, re.DOTALL), saying) for expression, saying in _SAYINGS]


def translated(detail: str) -> str:
    """Return a refusal in the active language; what is not listed stays as it is."""
    for expression, saying in _COMPILED:
        if match := expression.fullmatch(detail):
            told = {name: value.replace('" or "', '", "') for name, value in match.groupdict().items()}
            return str(saying % told) if told else str(saying)
    return detail
