"""Forms whose answer shows a secret: sent again, as by a reload, they make nothing a second time.

Such a form carries a value of its own (`metacog/_once.html`), and the session keeps the last ones that were used: no
page that is only read is written down, and no secret is kept to be shown again.
"""

from __future__ import annotations

import secrets

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

FIELD = "once"
KEPT = 20  # of a person's last forms
LONGEST = 40  # characters


def value() -> str:
    return secrets.token_urlsafe(12)


def is_repeated(request: HttpRequest) -> bool:
    """Tell whether this form was taken before, and say so; called as the last thing before something is made."""
    sent = request.POST.get(FIELD, "")[:LONGEST]
    used: list[str] = request.session.get(FIELD, [])
    if sent and sent in used:
        told = _("This form was sent twice; the second time had no effect. A secret is shown only once.")
        messages.warning(request, told)
        return True
    if sent:
        request.session[FIELD] = [*used, sent][-KEPT:]
    return False
