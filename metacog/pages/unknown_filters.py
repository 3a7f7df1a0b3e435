"""Say what a list's address asks for that the list does not know, rather than pass over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from metacog.models import Agent

MAX_SHOWN = 40  # characters of a value
MAX_LISTED = 30  # values that are known
NAMES = {
    "action": _("action"),
    "agent": _("agent"),
    "by": _("decider"),
    "days": _("number of days"),
    "effect": _("effect"),
    "group": _("group"),
    "kind": _("kind"),
    "order": _("order"),
    "range": _("range"),
    "show": _("selection"),
    "signal": _("signal"),
    "state": _("state"),
    "to": _("page"),
}


def unknown_filters(
    asked: Mapping[str, str],
    *,
    agents: Iterable[Agent] | None = None,
    names: Mapping[str, str | Promise] = {},
    **known: Iterable[object],
) -> list[str]:
    """Return a sentence for each value of an address that is none of those `known` by the filter's name.

    Pages put them into their context as `unknown_filters`; what is unknown counts as not given. `agents` are those of
    which `agent` has to name one by its id; they are asked for one only where an agent is named. A filter that other
    pages have and this one has not is unknown too. `names` says what the page calls filters that it alone has.
    """
    own = {*known, *(() if agents is None else ("agent",))}
    sentences = [
        gettext("Unknown filter “%(name)s”: filter ignored.") % {"name": name}
        for name in NAMES
        if asked.get(name) and name not in own
    ]
    if agents is not None and asked.get("agent") and asked["agent"] not in {agent.public_id for agent in agents}:
        sentences.append(_sentence(NAMES["agent"], asked["agent"], ()))
    for name, values in known.items():
        texts = [str(value) for value in values]
        if asked.get(name) and asked[name] not in texts:
            sentences.append(_sentence(names.get(name) or NAMES[name], asked[name], texts, is_order=name == "order"))
    return sentences


def _sentence(name: str | Promise, value: str, known: Iterable[str], *, is_order: bool = False) -> str:
    said = value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "…"
    if is_order:
        told = gettext("Unknown order “%(value)s”: order ignored.") % {"value": said}
    else:
        told = gettext("Unknown %(name)s “%(value)s”: filter ignored.") % {"name": name, "value": said}
    texts = list(known)
    if listed := pgettext("list", ", ").join(texts) if len(texts) <= MAX_LISTED else "":
        told = gettext("%(told)s Known: %(known)s.") % {"told": told, "known": listed}
    return told
