"""Say in a sentence what a rule would have done, and what people did with those calls."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reviews.scoring.calls_preview import FATES, OUTCOMES, RuleTally

_OUTCOMES = {
    "approved": gettext_lazy("people approved %(n)s"),
    "edited": gettext_lazy("approved %(n)s with edits"),
    "rejected": gettext_lazy("rejected %(n)s"),
    "withdrawn": gettext_lazy("the agent withdrew %(n)s"),
    "expired": gettext_lazy("%(n)s expired"),
    "pending": gettext_lazy("%(n)s still held"),
    "passed": gettext_lazy("%(n)s passed at the time"),
    "denied": gettext_lazy("%(n)s denied at the time"),
}


def of_rule(tally: RuleTally) -> str:
    """Give "would have asked 41 times: people approved 38, rejected 2, 1 expired"; plain text."""
    if not tally.calls:
        return _("would have decided no call")
    told = []
    for fate in FATES:
        if count := tally.fates[fate]:
            told.append(_did(fate, count) % {"n": f"{count:,}"})
    became = [
        str(_OUTCOMES[outcome]) % {"n": f"{count:,}"} for outcome in OUTCOMES if (count := tally.outcomes[outcome])
    ]
    said = _("would have %(did)s: %(became)s") % {"did": _(" and ").join(told), "became": _(", ").join(became)}
    if tally.unsure:
        said += ngettext(
            " (%(n)s could not be checked, so a person is asked)",
            " (%(n)s could not be checked, so a person is asked)",
            tally.unsure,
        ) % {"n": f"{tally.unsure:,}"}
    return said


def _did(fate: str, count: int) -> str:
    if fate == "asked":
        return ngettext("asked %(n)s time", "asked %(n)s times", count)
    if fate == "denied":
        return ngettext("denied %(n)s time", "denied %(n)s times", count)
    return ngettext("allowed %(n)s time", "allowed %(n)s times", count)
