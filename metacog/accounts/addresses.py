"""What is asked of an address that somebody enters, before it is stored: that of an agent, a team's webhook or chat."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from metacog import egress

LOOK_UP_SECONDS = 2.0  # a form does not wait longer for a name server


def refuse_private(url: str, field: str) -> None:
    """Raise the ValidationError, of this field, of an address that is not public and not allowed by the operator.

    Asks a name server, so call it outside a transaction. A name that is not found is taken: it may be set up later,
    and where it leads is checked whenever something is sent.
    """
    if origin := egress.barred(url.strip(), look_up_seconds=LOOK_UP_SECONDS):
        said = _(
            "%(origin)s is not a public address. Enter one that is, or have the operator allow this one with the "
            "setting METACOG_CALLBACK_ALLOW=%(origin)s."
        )
        raise ValidationError({field: said % {"origin": origin}})
