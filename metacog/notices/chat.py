"""The way out to a chat: an incoming webhook as Slack has them (Mattermost, Rocket.Chat and Discord take the same)."""

from __future__ import annotations

import json
import logging
import re

from metacog import egress
from metacog.accounts import keys
from metacog.models import Channel, Notice

Trouble = Notice.Trouble

# What makes links, mentions or looks in one or the other becomes its full-width twin, which means nothing to any. Not
# Slack's &amp; and &lt;: others show those as they stand, and a text could swell beyond what a chat takes. An
# underscore within a word is no mark-up anywhere.
_INERT = str.maketrans("&<>@*~`|[]\\", "＆＜＞＠＊～｀｜［］＼")
_EDGE = re.compile(r"(?<!\w)_|_(?!\w)")

log = logging.getLogger(__name__)


def inert(text: str) -> str:
    """Return a text that a chat shows as it is: no mark-up, no link in it, and nobody called."""
    return _EDGE.sub("＿", text).translate(_INERT)


def post(channel: Channel, text: str) -> str:
    """Post a message once and return the Trouble it met, "" when the chat took it; never raises."""
    url = keys.decrypted(channel.url_encrypted)
    if url is None:
        return Trouble.LOST
    body = json.dumps({"text": text}).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "metacog"}
    try:
        status = egress.request("POST", url, headers=headers, content=body).status
    except egress.Failed as failed:
        return Trouble(failed.why)
    except Exception:  # one message that cannot be posted must not take the others' outcomes with it
        log.exception("A message to a chat could not be posted")
        return Trouble.ERROR
    return "" if 200 <= status <= 299 else Trouble.STATUS
