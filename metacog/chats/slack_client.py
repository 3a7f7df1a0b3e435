"""slack-sdk's client, with our way out in place of urllib, and no retries but those of the outbox.

It takes time and memory to import, so it is imported where something is sent.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from slack_sdk.web.client import WebClient
from slack_sdk.web.slack_response import SlackResponse

from metacog.chats import calls


class Client(WebClient):
    """Calls methods of the Web API. Raises Refused where there is no answer, else what slack-sdk raises."""

    def api_call(self, api_method: str, **given: Any) -> SlackResponse:
        url, headers = f"{self.base_url}{api_method}", {"Authorization": f"Bearer {self.token}"}
        values = {**(given.get("json") or given.get("params") or {})}
        trusted = bool(settings.SLACK_URL)  # the operator named it: it may be private
        said = calls.post(url, values, headers, seconds=self.timeout, is_trusted=trusted)
        answer = SlackResponse(
            client=self, http_verb="POST", api_url=url, req_args={}, data=said.data, headers={}, status_code=said.status
        )
        answer.validate()  # type: ignore[no-untyped-call]
        return answer
