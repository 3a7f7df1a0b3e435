"""What gateways themselves ask: LiteLLM's guardrail and ContextForge's plugin client, a real metacog."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it looks for a newer one on the web, and waits

from cpex.framework.errors import PluginError
from cpex.framework.external.mcp.client import ExternalPlugin
from cpex.framework.hooks.tools import ToolPreInvokePayload
from cpex.framework.models import GlobalContext, PluginConfig, PluginContext
from litellm.exceptions import GuardrailRaisedException
from litellm.llms.openai.chat.guardrail_translation.handler import OpenAIChatCompletionsHandler
from litellm.proxy.guardrails.guardrail_hooks.generic_guardrail_api.generic_guardrail_api import GenericGuardrailAPI
from litellm.types.utils import ModelResponse

SAID = "Order 4711 is refunded."


def answered(content: str | None = SAID, arguments: str | None = '{"order": 4711}') -> ModelResponse:
    """Return what a model answered."""
    function = {"name": "refund", "arguments": arguments}
    calls = {"tool_calls": [{"id": "call_1", "type": "function", "function": function}]} if arguments else {}
    message = {"role": "assistant", "content": content, **calls}
    return ModelResponse(model="gpt-4", choices=[{"index": 0, "message": message, "finish_reason": "stop"}])


class LiteLLM:
    """The guardrail of LiteLLM's proxy as its configuration makes it, behind its translation of chat completions."""

    def __init__(self, metacog: Any, run: str) -> None:
        self.run = run
        self.guardrail = GenericGuardrailAPI(
            api_base=f"{metacog.url}/api/v1/guard", api_key=metacog.api_key, guardrail_name="metacog"
        )

    def __call__(self, response: ModelResponse) -> Any:
        """Return the message that LiteLLM's client gets, or raise what it is answered in its place."""
        headers = {"x-litellm-session-id": self.run, "authorization": "Bearer sk-1234"}
        request = {"proxy_server_request": {"headers": headers}}
        asked = OpenAIChatCompletionsHandler().process_output_response(response, self.guardrail, request_data=request)
        return asyncio.run(asked).choices[0].message

    def blocked(self, response: ModelResponse) -> str:
        with pytest.raises(GuardrailRaisedException) as error:
            self(response)
        return str(error.value)


def test_litellm_lets_a_call_through_once_it_is_approved(metacog: Any, run: str) -> None:
    ask = LiteLLM(metacog, run)
    assert "Held for review: http" in ask.blocked(answered())
    held = metacog.next_pending(run)
    assert (held["name"], held["arguments"]) == ("refund", {"order": 4711})
    assert held["id"] in ask.blocked(answered())
    metacog.decide(held["id"], "approve")
    assert ask(answered()).content == SAID
    assert "Held for review" in ask.blocked(answered())
    metacog.decide(metacog.next_pending(run)["id"], "reject", reason="Twice is too often.")
    assert "Twice is too often." in ask.blocked(answered())


def test_litellm_is_told_of_an_edit_and_gives_edited_words(metacog: Any, run: str) -> None:
    ask = LiteLLM(metacog, run)
    ask.blocked(answered(None))
    metacog.decide(metacog.next_pending(run)["id"], "edit", arguments={"order": 4712})
    assert '{"order": 4712}' in ask.blocked(answered(None))
    assert ask(answered(None, '{"order": 4712}')).tool_calls
    risky = "The cause is clearly, obviously, always the cache, and it never fails."
    metacog.policy(hold_at=20, threshold=10)
    ask.blocked(answered(risky, None))
    metacog.decide(metacog.next_pending(run)["id"], "edit", text="It may be the cache.")
    metacog.policy(hold_at=50, threshold=30)
    assert ask(answered(risky, None)).content == "It may be the cache."


def test_litellm_gives_nothing_out_while_metacog_is_down(metacog: Any, run: str) -> None:
    ask = LiteLLM(metacog, run)
    with metacog.down(), pytest.raises(Exception, match="Generic Guardrail API failed"):
        ask(answered())


class ContextForge:
    """The plugin client that is within ContextForge, with the plugin as a process of its own."""

    def __init__(self, metacog: Any, run: str) -> None:
        self.loop = asyncio.new_event_loop()
        command = [sys.executable, "-m", "metacog_client", "mcp-plugin"]
        sources = os.pathsep.join(sys.path)
        around = {"METACOG_URL": metacog.url, "METACOG_API_KEY": metacog.api_key, "PYTHONPATH": sources}
        mcp = {"proto": "STDIO", "cmd": command, "env": around}
        hooks = ["tool_pre_invoke"]
        config = PluginConfig(name="Approval", kind="external", version="1", hooks=hooks, mcp=mcp)
        self.plugin = self.loop.run_until_complete(self.started(config))
        self.context = PluginContext(global_context=GlobalContext(request_id="r1", server_id=run))

    async def started(self, config: PluginConfig) -> ExternalPlugin:
        plugin = ExternalPlugin(config)
        await plugin.initialize()
        return plugin

    def __call__(self, **arguments: Any) -> Any:
        payload = ToolPreInvokePayload(name="refund", args=arguments)
        return self.loop.run_until_complete(self.plugin.invoke_hook("tool_pre_invoke", payload, self.context))


@contextmanager
def contextforge(metacog: Any, run: str) -> Iterator[ContextForge]:
    forge = ContextForge(metacog, run)
    try:
        yield forge
    finally:
        forge.loop.run_until_complete(forge.plugin.shutdown())
        forge.loop.close()


def test_contextforge_calls_what_is_approved_or_edited_once(metacog: Any, run: str) -> None:
    session = f"contextforge:{run}"
    with contextforge(metacog, run) as ask:
        told = ask(order=4711)
        assert not told.continue_processing
        held = metacog.next_pending(session)
        assert (told.violation.code, told.violation.details["held"][0]["id"]) == ("METACOG_HELD", held["id"])
        metacog.decide(held["id"], "approve")
        assert ask(order=4711).continue_processing
        assert ask(order=4711).violation.code == "METACOG_HELD"
        metacog.decide(metacog.next_pending(session)["id"], "edit", arguments={"order": 4712})
        told = ask(order=4711)
        assert told.continue_processing
        assert told.modified_payload.args == {"order": 4712}
        assert not ask(order=4711).continue_processing
        metacog.decide(metacog.next_pending(session)["id"], "reject", reason="Enough.")
        assert ask(order=4711).violation.description == "Rejected in review: Enough."


def test_contextforge_is_told_of_an_error_while_metacog_is_down(metacog: Any, run: str) -> None:
    with contextforge(metacog, run) as ask, metacog.down(), pytest.raises(PluginError):
        ask(order=4711)
