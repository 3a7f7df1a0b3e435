"""The rules on tool calls as an owner fills them in: a table of text fields, or their JSON; and how versions differ."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from metacog.heuristics.effects.effect import KINDS
from metacog.heuristics.text import strict_json
from metacog.heuristics.tool_calls.conditions import OPERATORS, PATTERNS
from metacog.heuristics.tool_calls.rules import DO, FIELDS, ROLES, errors_in
from metacog.models import Policy
from metacog.models.pack_words import reason_of
from metacog.refusals import translated

Words = Callable[[Mapping[str, Any]], str]  # which calls a rule is about

MOST_OPEN = 3  # rules of a table; where there are more, each is folded to a line
MOST_FIELDS = 700  # of a table: more is quicker read as JSON
TEXT_OPERATORS = PATTERNS  # whose value is a text, whatever it looks like
NUMERIC = ("gt", "ge", "lt", "le")
NOT_A_NUMBER = gettext_lazy('Enter a number. A text to compare by its order stands in quotes: "b".')
NOT_A_DATE = gettext_lazy('This is no date. Write one such as 2026-12-31; any other text stands in quotes: "b".')
_LIKE_A_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
AS_TABLE, AS_JSON = "table", "json"
LISTS = ("any", "all", "only")  # of effects; a table holds one of them a rule
PLACES = ("inside", "outside", "objects", "except")
WHO = ("people", "role", "group")
MORE = ("effects", *PLACES, "hints", *WHO)  # cells that a rule has once it was asked for them
LIST_NAMES = {
    "any": gettext_lazy("It does any of"),
    "all": gettext_lazy("It does all of"),
    "only": gettext_lazy("It does only"),
}
EFFECT_NAMES = {
    "read": gettext_lazy("Read"),
    "write": gettext_lazy("Write"),
    "delete": gettext_lazy("Delete"),
    "execute": gettext_lazy("Execute"),
    "fetch": gettext_lazy("Fetch"),
    "send": gettext_lazy("Send"),
    "install": gettext_lazy("Install"),
    "publish": gettext_lazy("Publish"),
    "privilege": gettext_lazy("Privilege"),
    "secret": gettext_lazy("Secret"),
    "pay": gettext_lazy("Pay"),
    "irreversible": gettext_lazy("Irreversible"),
    "unknown": gettext_lazy("Unknown"),
}
PLACE_NAMES = {
    "inside": gettext_lazy("Every path in"),
    "outside": gettext_lazy("On a path outside"),
    "objects": gettext_lazy("On anything like"),
    "except": gettext_lazy("Except on"),
}
OPERATOR_NAMES = {
    "eq": gettext_lazy("is"),
    "ne": gettext_lazy("is not"),
    "gt": gettext_lazy("more than"),
    "ge": gettext_lazy("at least"),
    "lt": gettext_lazy("less than"),
    "le": gettext_lazy("at most"),
    "in": gettext_lazy("one of"),
    "glob": gettext_lazy("like (*)"),
    "regex": gettext_lazy("matches (regex)"),
    "exists": gettext_lazy("exists"),
    "secret": gettext_lazy("contains a secret"),
}
DO_NAMES = {
    "ask": gettext_lazy("Ask a person"),
    "allow": gettext_lazy("Allow"),
    "deny": gettext_lazy("Deny"),
    "score": gettext_lazy("Score"),
}
PLACE_EXAMPLES = {"inside": "/srv/app, .", "outside": "/srv/app", "objects": "https://pypi.org/*", "except": "*.log"}
ROLE_NAMES = {
    "reviewer": gettext_lazy("a reviewer"),
    "curator": gettext_lazy("a curator"),
    "owner": gettext_lazy("an owner"),
}
# What is typed into a cell can be wrong in these ways; the engine says it in English, for the API too.
_ERRORS = {
    "tool": gettext_lazy("Enter the name of a tool, 500 characters at most; * stands for any characters."),
    "do": gettext_lazy("Choose what to do."),
    "reason": gettext_lazy("At most 300 characters."),
    "pointer": gettext_lazy("Write a JSON Pointer into the arguments, such as /eur."),
}
_VALUE_ERRORS = {
    **dict.fromkeys(("gt", "ge", "lt", "le"), gettext_lazy("Enter a number, or a text to compare texts with.")),
    "in": gettext_lazy("Enter 1 to 1,000 values, separated by commas."),
    "glob": gettext_lazy("Enter 1 to 500 characters; * stands for any characters."),
    "exists": gettext_lazy("Write true or false."),
    "secret": gettext_lazy("Write true or false."),
}


class NotANumber(ValueError):
    """Something other than a number or a date is to be compared by size; says so."""


@dataclass
class Condition:
    """One line of a rule's conditions, as typed."""

    pointer: str = ""
    operator: str = "eq"
    value: str = ""
    errors: list[str] = field(default_factory=list)
    wrong: str = ""  # what they are of: the pointer or the value
    line: str = ""  # its place in the rule
    drop: str = ""  # what its button does
    missing: str = ""  # what the button does that has calls asked about in which a number's argument is missing

    @property
    def is_blank(self) -> bool:
        return not self.pointer and not self.value

    def refuse(self, wrong: str, told: Any) -> None:
        self.errors.append(str(told))
        self.wrong = wrong

    def parsed(self) -> Any:
        """Read the value: JSON, else the text as it stands.

        ValueError for JSON that was begun and is none; NotANumber for a text to compare by size, such as 1,000, that
        stands in no quotes. A date needs none.
        """
        if self.operator in TEXT_OPERATORS:
            return self.value
        text = self.value.strip()
        if self.operator in NUMERIC and isinstance(_literal(text), str) and not _is_ordered(text):
            raise NotANumber(str(NOT_A_DATE if _LIKE_A_DATE.match(text) else NOT_A_NUMBER))
        if self.operator == "in" and not text.startswith("["):
            return [_literal(part.strip()) for part in text.split(",") if part.strip()]
        return _literal(text)


class Cell(NamedTuple):
    """A text field of a rule."""

    value: str  # its name
    name: Any
    typed: str
    example: str


@dataclass
class More:
    """What a rule says of effects, hints and approvers, as typed."""

    of: str = "any"  # of LISTS
    kinds: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)  # by name of PLACES: texts, with commas
    hints: str = ""
    who: dict[str, str] = field(default_factory=dict)  # by name of WHO

    @property
    def shown_places(self) -> list[Cell]:
        return [Cell(name, PLACE_NAMES[name], self.places.get(name, ""), PLACE_EXAMPLES[name]) for name in PLACES]

    def as_rule(self) -> dict[str, Any]:
        """Give what of a rule this is; what is left empty is not."""
        effects: dict[str, Any] = {self.of: self.kinds} if self.kinds or any(self.places.values()) else {}
        effects |= {name: _parts(text) for name, text in self.places.items() if text}
        typed = [each.partition("=") for each in _parts(self.hints)]
        hints = {name.strip(): _hint(value) for name, _is, value in typed}
        who: dict[str, Any] = {name: value for name, value in self.who.items() if value}
        if who.get("people", "").isdecimal():
            who["people"] = int(who["people"])
        return {"effects": effects, "hints": hints, "approvers": who}

    @classmethod
    def of_rule(cls, rule: Mapping[str, Any]) -> More | None:
        """Take it from a rule in which there are no errors; None: it says nothing of these."""
        effects, hints, who = (rule.get(name) or {} for name in ("effects", "hints", "approvers"))
        if not (effects or hints or who):
            return None
        asked = next((name for name in LISTS if effects.get(name)), "any")
        return cls(
            asked,
            list(effects.get(asked, ())),
            {name: ", ".join(effects[name]) for name in PLACES if name in effects},
            ", ".join(f"{name}={as_text(value)}" for name, value in hints.items()),
            {name: str(value) for name, value in who.items()},
        )


@dataclass
class Row:
    """One rule, as typed. `errors` are by field."""

    tool: str = ""
    do: str = "ask"
    reason: str = ""
    shadow: bool = False
    conditions: list[Condition] = field(default_factory=list)
    errors: dict[str, list[str]] = field(default_factory=dict)
    at: str = ""  # its place
    more: More | None = None
    definition: str = ""
    did: str = ""  # in the last days, in a sentence
    came_as: str = ""  # the place by which its cells are named on the page that sent it
    told: str = ""  # in a line
    is_open: bool = True

    @property
    def is_blank(self) -> bool:
        is_plain = self.more is None or not any(self.more.as_rule().values())
        return is_plain and not (self.tool or self.reason) and all(each.is_blank for each in self.conditions)

    @property
    def is_wrong(self) -> bool:
        return bool(self.errors) or any(each.errors for each in self.conditions)

    @property
    def errors_by_cell(self) -> list[tuple[str, list[str], str]]:
        """Return what is wrong by cell, the right ones too; of a condition, with which half of it."""
        names = ("tool", "do", "where", "reason", *(("effects", "hints", "approvers") if self.more else ()))
        own = [(name, self.errors.get(name, []), "") for name in names]
        return own + [(f"where-{line}", each.errors, each.wrong) for line, each in enumerate(self.conditions)]

    def as_rule(self) -> dict[str, Any]:
        """Give the rule as it is stored; what cannot be read is written to `errors`."""
        where: dict[str, dict[str, Any]] = {}
        for each in self.conditions:
            if each.is_blank:
                continue
            try:
                value = each.parsed()
            except NotANumber as error:
                each.refuse("value", error)
                continue
            except ValueError:
                each.refuse("value", _('Not valid JSON. Write a text in quotes: "…".'))
                continue
            asked = where.setdefault(each.pointer, {})
            if each.operator in asked:
                each.refuse("pointer", _("The rule already has this condition."))
            asked[each.operator] = value
        rule: dict[str, Any] = {"tool": self.tool, "where": where, "do": self.do, "reason": self.reason}
        more = self.more.as_rule() if self.more else {}
        definition = self.definition if self.do == "allow" else ""
        return plain(rule | {"shadow": self.shadow, "definition": definition} | more)

    @property
    def allows_by_pattern(self) -> bool:
        return self.do == "allow" and any(each.operator in PATTERNS and not each.is_blank for each in self.conditions)

    def as_typed(self) -> Row:
        """Give the row as it comes back from a form, where lines and blanks at the ends are lost."""
        conditions = [
            Condition(each.pointer.strip(), each.operator, each.value.replace("\r", "").replace("\n", ""))
            for each in self.conditions
        ]
        return replace(self, tool=self.tool.strip(), reason=self.reason.strip(), conditions=conditions)

    @classmethod
    def of(cls, rule: Mapping[str, Any]) -> Row:
        """Take a rule in which there are no errors."""
        conditions = [
            Condition(pointer, operator, as_typed(operator, value))
            for pointer, asked in (rule.get("where") or {}).items()
            for operator, value in asked.items()
        ]
        row = cls(rule["tool"], rule["do"], rule.get("reason") or "", rule.get("shadow") or False, conditions)
        return replace(row, more=More.of_rule(rule), definition=rule.get("definition") or "")


class Choice(NamedTuple):
    """An option of a select."""

    value: str
    name: Any


class RuleTable:
    """The rules of a draft, as rows and as JSON. `rules` is None while what was typed makes no list of rules."""

    dos = [Choice(value, DO_NAMES[value]) for value in DO]
    lists = [Choice(value, LIST_NAMES[value]) for value in LISTS]
    kinds = [Choice(value, EFFECT_NAMES[value]) for value in KINDS]
    places = [Choice(value, PLACE_NAMES[value]) for value in PLACES]
    roles = [Choice(value, ROLE_NAMES[value]) for value in ROLES]
    operators = [Choice(value, OPERATOR_NAMES[value]) for value in OPERATORS]

    def __init__(self, rows: Sequence[Row], *, text: str | None = None, mode: str = AS_TABLE) -> None:
        self.rows, self.mode, self.errors, self.focus = list(rows), mode, list[str](), ""
        self.rules: list[Any] | None = None
        self.is_read = True  # each cell was, right or wrong
        self.text = text
        if text is not None:
            self._read(text)
        else:
            self._compile()

    @classmethod
    def posted(cls, data: QueryDict, *, do: str) -> RuleTable:
        """Take what a form holds: the text while the rules are shown as JSON, else the rows in their order.

        `do` is the button of the table that was pressed, if one was.
        """
        if data.get("rules_in") == AS_JSON:
            mode = AS_TABLE if do == "rules-as-table" else AS_JSON
            return cls([], text=data.get("rules", ""), mode=mode)
        places = [place for place in data.getlist("rule-order") if place.isascii() and place.isdigit()]
        rows, named = [], {}
        for number, place in enumerate(dict.fromkeys(places)):
            named[place] = number
            rows.append(replace(_row(data, f"rule-{place}"), came_as=place))
        table = cls(rows)
        table.act(do, named)
        if do == "rules-as-json" and table.is_read:
            return cls([], text=table.text, mode=AS_JSON)
        return table

    def _read(self, text: str) -> None:
        try:
            given = strict_json.load(text.encode() or b"[]")
        except strict_json.Refused as refusal:
            self.mode = AS_JSON
            self.errors.append(translated(refusal.detail))
            return
        except UnicodeEncodeError:
            self.mode = AS_JSON
            self.errors.append(_("The text contains half of a surrogate pair."))
            return
        found = errors_in(given)
        if found:
            self.mode = AS_JSON
            self.errors += [_told(loc, detail) for loc, detail in found]
            return
        self.rules = [plain(rule) for rule in given]
        self.text = pretty(self.rules)
        self.rows = [Row.of(rule) for rule in self.rules]
        self._number()
        if not self.fits:
            self.mode = AS_JSON

    def _compile(self) -> None:
        self._number()
        filled = [row for row in self.rows if not row.is_blank]
        rules = [row.as_rule() for row in filled]
        is_wrong = any(each.errors for row in filled for each in row.conditions)
        self.is_read = not is_wrong
        for loc, detail in errors_in(rules):
            is_wrong = True
            if not loc:
                self.errors.append(translated(detail))
                continue
            row, name = filled[int(loc[0])], loc[1] if len(loc) > 1 else "tool"
            if name == "where" and len(loc) > 2:
                for each in row.conditions:
                    if each.is_blank or each.pointer != loc[2] or (len(loc) > 3 and each.operator != loc[3]):
                        continue
                    if len(loc) == 3:
                        each.refuse("pointer", _ERRORS["pointer"])
                    else:
                        each.refuse("value", _VALUE_ERRORS.get(each.operator, translated(detail)))
            else:
                row.errors.setdefault(name, []).append(str(_ERRORS.get(name, translated(detail))))
        self.rules = None if is_wrong else rules
        self.text = pretty(rules)

    def _number(self) -> None:
        for place, row in enumerate(self.rows):
            row.at = str(place)
            for line, each in enumerate(row.conditions):
                each.line, each.drop = str(line), f"rule-drop-{place}-{line}"
                each.missing = f"rule-missing-{place}-{line}" if self._may_be_missing(row, each) else ""

    def _may_be_missing(self, row: Row, condition: Condition) -> bool:
        """Tell whether a number is compared that may not be there, which no rule for this tool asks about."""
        try:
            is_number = type(condition.parsed()) in (int, float)
        except ValueError:
            return False
        if not is_number or condition.operator not in NUMERIC or not condition.pointer or not row.tool:
            return False
        asked = condition.pointer, "exists", "false"
        same_tool = (each for other in self.rows if other.tool == row.tool for each in other.conditions)
        return not any((each.pointer, each.operator, each.value) == asked for each in same_tool)

    @property
    def fits(self) -> bool:
        """Tell whether a table holds the rules: in no more fields than a form may have, and each as it is."""
        cells = [5 + 3 * len(row.conditions) + (9 + len(row.more.kinds) if row.more else 0) for row in self.rows]
        if sum(cells) > MOST_FIELDS:
            return False
        return all(row.as_typed().as_rule() == rule for row, rule in zip(self.rows, self.rules or (), strict=False))

    def tell(self, words: Words, did: Iterable[str] = ()) -> None:
        """Say each rule in a line, and fold those that need no care where there are many.

        `did` says what each did in the last days, in order.
        """
        done = iter(did)
        for row in self.rows:
            row.told = ""
            has_focus = self.focus == f"rule-if-{row.at}" or self.focus.startswith(f"rule-{row.at}-")
            row.is_open = row.is_blank or row.is_wrong or has_focus
        if self.rules is None:
            return
        filled = [row for row in self.rows if not row.is_blank]
        for row, rule in zip(filled, self.rules, strict=True):
            row.told = what_it_does(rule, words)
            row.did = next(done, "")
            row.is_open |= len(self.rows) <= MOST_OPEN

    @property
    def compact(self) -> str:
        return as_text(self.rules or [])

    def act(self, do: str, named: Mapping[str, int]) -> None:
        """Do what a button of the table says: "rule-up-2" and so on, by the number the row came with."""
        name, _dash, rest = do.removeprefix("rule-").partition("-")
        if not do.startswith("rule-") or self.mode != AS_TABLE:
            return
        place, _dash, line = rest.partition("-")
        at = named.get(place)
        if name == "add":
            self.rows.append(Row())
            self.focus = f"rule-{len(self.rows) - 1}-tool"
        elif at is not None:
            self._act(name, at, int(line) if line.isascii() and line.isdigit() else 0)
        for row in self.rows:  # each is checked again where it stands now
            row.errors = {}
            for each in row.conditions:
                each.errors = []
        self.errors = []
        self._compile()

    def _act(self, name: str, at: int, line: int) -> None:
        row = self.rows[at]
        if name in ("up", "down"):
            to = min(max(at + (1 if name == "down" else -1), 0), len(self.rows) - 1)
            self.rows.insert(to, self.rows.pop(at))
            is_end = to in (0, len(self.rows) - 1) and to == (0 if name == "up" else len(self.rows) - 1)
            other = {"up": "down", "down": "up"}[name]
            self.focus = f"rule-{other if is_end else name}-{to}"
        elif name == "remove":
            self.rows.pop(at)
            self.focus = f"rule-remove-{min(at, len(self.rows) - 1)}" if self.rows else "rule-add"
        elif name == "more":
            row.more = row.more or More()
            self.focus = f"rule-{at}-effects-of"
        elif name == "missing" and line < len(row.conditions):
            asked = Condition(row.conditions[line].pointer, "exists", "false")
            self.rows.insert(at, Row(row.tool, "ask", conditions=[asked]))
            self.focus = f"rule-{at}-tool"
        elif name == "if":
            row.conditions.append(Condition())
            self.focus = f"rule-{at}-where-{len(row.conditions) - 1}-pointer"
        elif name == "drop" and line < len(row.conditions):
            row.conditions.pop(line)
            self.focus = f"rule-if-{at}"


def _row(data: QueryDict, name: str) -> Row:
    conditions = []
    for number in range(MOST_FIELDS):
        cell = f"{name}-where-{number}"
        if f"{cell}-pointer" not in data:
            break
        asked = data.get(f"{cell}-operator", "eq"), data.get(f"{cell}-value", "")
        conditions.append(Condition(str(data[f"{cell}-pointer"]), *asked))
    tool, do, reason, definition = (data.get(f"{name}-{part}", "") for part in ("tool", "do", "reason", "definition"))
    more = None
    if f"{name}-effects-of" in data:
        cells = {part: data.get(f"{name}-{part}", "").strip() for part in (*PLACES, "hints", *WHO)}
        more = More(str(data[f"{name}-effects-of"]), data.getlist(f"{name}-effects"), hints=cells["hints"])
        more.places = {part: cells[part] for part in PLACES if cells[part]}
        more.who = {part: cells[part] for part in WHO if cells[part]}
    return Row(tool, do, reason, f"{name}-shadow" in data, conditions, more=more, definition=definition).as_typed()


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _hint(typed: str) -> Any:
    try:
        return _literal(typed.strip()) if typed.strip() else True
    except ValueError:
        return typed


def _literal(text: str) -> Any:
    """Read JSON, else take the text; ValueError for what begins as a list, an object or a quoted text and is none."""
    try:
        return strict_json.whole(strict_json.load(text.encode()))
    except (strict_json.Refused, UnicodeEncodeError):
        if text[:1] in ("[", "{", '"'):
            raise ValueError from None
        return text


def _is_ordered(typed: str) -> bool:
    """Tell whether a text is meant as one where sizes are compared: it stands in quotes, or is a date."""
    return typed[:1] == '"' or (_LIKE_A_DATE.match(typed) is not None and _is_date(typed))


def _is_date(typed: str) -> bool:
    try:
        datetime.fromisoformat(typed)
    except ValueError:
        return False
    return True


def as_typed(operator: str, value: Any) -> str:
    """Give what somebody would type for a value."""
    if operator in NUMERIC and isinstance(value, str) and not _is_ordered(value):
        return as_text(value)
    if operator in TEXT_OPERATORS or (isinstance(value, str) and _is_plain(value)):
        return str(value)
    if operator == "in" and all(not isinstance(each, str) or (_is_plain(each) and "," not in each) for each in value):
        told = ", ".join(each if isinstance(each, str) else as_text(each) for each in value)
        if "[" not in told and "{" not in told:
            return told
    return as_text(value)


def _is_plain(text: str) -> bool:
    try:
        return bool(text) and text == text.strip() and _literal(text) == text and "\n" not in text and "\r" not in text
    except ValueError:
        return False


def plain(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Give a rule without what says nothing, its fields in the order people read them in."""
    given = {name: rule.get(name) for name in FIELDS}
    if isinstance(effects := given["effects"], Mapping):
        given["effects"] = {name: _in_order(each) if name in LISTS else each for name, each in effects.items()}
    return {name: value for name, value in given.items() if name in ("tool", "do") or value}


def _in_order(kinds: Any) -> Any:
    """Put effects into the order in which a form has them: it means nothing."""
    known = isinstance(kinds, list) and all(isinstance(kind, str) and kind in KINDS for kind in kinds)
    return sorted(kinds, key=KINDS.index) if known else kinds


def pretty(rules: Sequence[Any]) -> str:
    """Write rules as JSON, one a line."""
    lines = ",\n ".join(json.dumps(rule, ensure_ascii=False) for rule in rules)
    return f"[{lines}]"


def as_text(value: Any) -> str:
    """Write a value as JSON without spaces, for an address."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_of(policy: Policy) -> str:
    """Give the rules of a version as the form's value."""
    return as_text([plain(rule) for rule in policy.rules])


def _told(loc: Sequence[str], detail: str) -> str:
    detail = translated(detail)
    if not loc:
        return detail
    where = strict_json.pointer(loc[1:])
    return _("Rule %(number)d%(where)s: %(detail)s") % {
        "number": int(loc[0]) + 1,
        "where": f" {where}" if where else "",
        "detail": detail,
    }


class RulesField(forms.CharField):
    """The rules as JSON. Its value is their compact JSON."""

    widget = forms.Textarea(attrs={"rows": 8, "spellcheck": "false", "class": "mono"})
    table: RuleTable

    def __init__(self) -> None:
        super().__init__(label=gettext_lazy("Rules on tool calls"), required=False)

    def clean(self, value: Any) -> str:
        if not hasattr(self, "table"):
            self.table = RuleTable([], text=str(value or "[]"))
        table = self.table
        told = list(table.errors)
        for number, row in enumerate([row for row in table.rows if not row.is_blank], 1):
            found = [detail for details in row.errors.values() for detail in details]
            found += [each.pointer + _(": ") + detail for each in row.conditions for detail in each.errors]
            told += [_("Rule %(number)d: %(detail)s") % {"number": number, "detail": detail} for detail in found]
        if told or table.rules is None:
            raise ValidationError(told or [_("These are not rules.")])
        return table.compact


def approvers_in_words(rule: Mapping[str, Any]) -> str:
    """Say who must approve what a rule asks about, as in "2 people, each an owner"; "" where anybody may."""
    who = rule.get("approvers") or {}
    each = [str(ROLE_NAMES[who["role"]])] if "role" in who else []
    each += [_("a member of “%(group)s”") % {"group": who["group"]}] if "group" in who else []
    one = _(", ").join(each)
    if "people" not in who:
        return one
    people = ngettext("%(n)s person", "%(n)s people", who["people"]) % {"n": who["people"]}
    return pgettext("in a rule", "%(people)s, each %(one)s") % {"people": people, "one": one} if one else people


def what_it_does(rule: Mapping[str, Any], words: Words) -> str:
    """Say a whole rule in a line: what is done, with which calls, who approves, and why."""
    told = str(DO_NAMES[rule["do"]])
    if approvers := approvers_in_words(rule):
        told = _("%(do)s (%(approvers)s)") % {"do": told, "approvers": approvers}
    told += _(": ") + words(rule)
    if reason := reason_of(rule):
        told += _(" – “%(reason)s”") % {"reason": reason}
    return told + (_(" (shadow)") if rule.get("shadow") else "")


def rule_changes(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], words: Words
) -> list[tuple[str, str, str]]:
    """Return how two lists of rules differ: what happened to which, then it as it was and as it is, in words."""
    was, now = ([as_text(plain(rule)) for rule in rules] for rules in (old, new))
    gone: list[int] = []  # places in `old`
    come: list[int] = []  # in `new`
    for tag, first, last, start, end in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += range(first, last)
            come += range(start, end)
    moved: dict[int, int] = {}
    for place in gone:
        to = next((each for each in come if now[each] == was[place] and each not in moved.values()), None)
        if to is not None:
            moved[place] = to
    removed = [place for place in gone if place not in moved]
    added = [place for place in come if place not in moved.values()]
    lines: list[tuple[int, str, str, str]] = []
    # A rule for the same tool is the one that was changed.
    for place in list(removed):
        to = next((each for each in added if new[each]["tool"] == old[place]["tool"]), None)
        if to is not None:
            removed.remove(place)
            added.remove(to)
            lines.append((to, _("Rule %(number)d changed"), *_pair(old[place], new[to], words)))
    for place, other in zip_longest(removed, added):
        if place is not None and other is not None and place == other:
            lines.append((other, _("Rule %(number)d changed"), *_pair(old[place], new[other], words)))
            continue
        if other is not None:
            lines.append((other, _("Rule %(number)d added"), "–", what_it_does(new[other], words)))
        if place is not None:
            lines.append((place, _("Rule %(number)d removed"), what_it_does(old[place], words), "–"))
    for place, to in moved.items():
        told = what_it_does(new[to], words)
        lines.append(
            (to, _("Rule %(number)d moved"), _("place %(number)d: %(rule)s") % {"number": place + 1, "rule": told},
             _("place %(number)d") % {"number": to + 1})
        )  # fmt: skip
    return [(title % {"number": place + 1}, before, after) for place, title, before, after in sorted(lines)]


def _pair(old: Mapping[str, Any], new: Mapping[str, Any], words: Words) -> tuple[str, str]:
    return what_it_does(old, words), what_it_does(new, words)
