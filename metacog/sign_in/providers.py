"""Whether the providers are who the environment says they are; asked over the network, so only where that is meant."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register


@register(Tags.security, deploy=True)
def check(**kwargs: Any) -> list[CheckMessage]:
    """Refuse a provider that calls itself otherwise; one that cannot be reached now is asked again at each sign-in."""
    found: list[CheckMessage] = []
    if not settings.HAS_PROVIDERS:
        return found
    # What asks them takes a tenth of a second to import, at each start of whatever command.
    from requests import RequestException

    from metacog.sign_in import openid

    for app in openid.apps():
        try:
            openid.discovered(app)
        except openid.OtherIssuer as error:
            found.append(Error(str(error), hint="Write it exactly as the provider does.", id="metacog.E007"))
        except (openid.Refused, RequestException) as error:
            said = f"{app.settings['issuer']} cannot be asked who it is: {error}"
            found.append(Warning(said, hint="Nobody signs in by it until it answers.", id="metacog.W008"))
    return found
