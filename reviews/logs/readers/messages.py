"""Chat messages as OpenAI, Anthropic, LangChain and Vercel write them: who speaks, the text, the tool calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reviews.logs.readers.turns import Call, context

_ROLES = {
    "human": "user", "user": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "ai": "assistant", "assistant": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "model": "assistant",
    "tool": "tool", "toolmessage": "tool", "function": "tool", "functionmessage": "tool",
    "function_call_output": "tool",
    "system": "system", "systemmessage": "system", "developer": "system",
}  # fmt: skip
_TEXTS = ("text", "output_text", "input_text")
_CALLS = ("tool_use", "tool-call", "function_call", "server_tool_use", "mcp_tool_use")
_MAX_DEPTH = 6


def opened(message: Any) -> dict[str, Any]:
    """Return a message without LangChain's wrapping: {"kwargs": …} of a constructor, {"type", "data"} of a dump."""
    for _ in range(_MAX_DEPTH):
        if not isinstance(message, dict):
            return {}
        if isinstance(inner := message.get("kwargs"), dict):
            name = message.get("id")
            kind = str(name[-1]) if isinstance(name, list) and name else ""
            message = {"type": kind} | inner
        elif isinstance(inner := message.get("data"), dict) and "type" in message and "content" not in message:
            message = {"type": message["type"]} | inner
        elif isinstance(inner := message.get("message"), dict) and "content" not in message:
            message = inner
        else:
            return message
    return {}


def role(message: Mapping[str, Any]) -> str:
    """Return who speaks: user, assistant, tool or system; "" where it does not say."""
    for name in ("role", "type"):
        if found := _ROLES.get(str(message.get(name, "")).lower()):
            return found
    return "assistant" if message.get("type") == "function_call" else ""


def text(content: Any) -> str:
    """Return the words of a message's content: a text, or its parts of text, one below the other."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = content.get("parts", [content])
    if not isinstance(content, Sequence):
        return ""
    found = []
    for part in content:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in _TEXTS and isinstance(part.get("text"), str):
            found.append(part["text"])
        elif isinstance(part, Mapping) and part.get("type") == "refusal":
            found.append(str(part.get("refusal") or ""))
    return "\n\n".join(filter(None, found))


def left_out(content: Any) -> Counter[str]:
    """Count the parts of a message's content that are neither text, tool call nor result, by their own names."""
    if isinstance(content, Mapping):
        content = content.get("parts", [content])
    found = Counter[str]()
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        kind = str(part.get("type") or ("text" if isinstance(part.get("text"), str) else "without a type"))[:40]
        if kind == "tool_result":
            found += left_out(part.get("content"))
        elif kind not in (*_TEXTS, *_CALLS, "refusal"):
            found[kind] += 1
    return found


def left_around(asked: Sequence[Mapping[str, Any]], answered: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Count the same in what is new of a conversation: an answer, and what came since the agent spoke before."""
    spoken = [place for place, message in enumerate(asked) if role(message) == "assistant"]
    new = [*asked[spoken[-1] + 1 if spoken else 0 :], *answered]
    found = sum((left_out(message.get("content")) for message in new), Counter[str]())
    for message in new:
        found += Counter(name for name in ("reasoning_content", "audio") if message.get(name))
        if not role(message) and "content" not in message and (kind := message.get("type")):
            found[str(kind)[:40]] += 1
    return found


def given(content: Any) -> str:
    """Return what a tool gave back, as a text."""
    if isinstance(content, str):
        return context(content)
    found = text(content)
    return context(found or ("" if content in (None, [], {}) else json.dumps(content, ensure_ascii=False)))


def calls(message: Mapping[str, Any]) -> list[Call]:
    """Return the tool calls of a message."""
    found = [*_listed(message.get("tool_calls") or message.get("toolCalls") or ())]
    if not found and isinstance(more := message.get("additional_kwargs"), Mapping):
        found += _listed(more.get("tool_calls") or ())
        found += _one(more.get("function_call"))
    if not found:
        found += _one(message.get("function_call"))
    content = message.get("content")
    if not found and isinstance(content, list):
        found += _listed(part for part in content if isinstance(part, dict) and part.get("type") in _CALLS)
    found += _listed(message.get("invalid_tool_calls") or ())
    return found


def _listed(rows: Any) -> Iterator[Call]:
    for row in rows if not isinstance(rows, str | Mapping) else ():
        yield from _one(row)


def _one(row: Any) -> Iterator[Call]:
    if not isinstance(row, Mapping):
        return
    inner = next((row[name] for name in ("function", "custom") if isinstance(row.get(name), Mapping)), row)
    name = inner.get("name") or inner.get("toolName") or row.get("name")
    if not isinstance(name, str) or not name.strip():
        return
    given = ("arguments", "args", "input", "parameters")
    arguments: Any = next((inner[field] for field in given if inner.get(field) is not None), {})
    id_ = next((row[field] for field in ("call_id", "id", "toolCallId", "tool_call_id") if row.get(field)), "")
    yield Call(name, parsed(arguments), str(id_)[:255])


def parsed(arguments: Any) -> Any:
    """Return arguments as JSON where they were written as a text of it, else as they are."""
    if isinstance(arguments, str):
        try:
            return json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return arguments
    return arguments


def conversation(value: Any) -> list[dict[str, Any]]:
    """Return the messages of an input or output: a list of them, in whatever it is wrapped."""
    for _ in range(_MAX_DEPTH):
        if isinstance(value, str):
            if value.lstrip()[:1] not in ("[", "{"):
                return []
            value = parsed(value)
            if isinstance(value, str):
                return []
        elif isinstance(value, Mapping):
            if role(opened(value)) or ("content" in value and "messages" not in value):
                return [opened(value)]
            names = ("messages", "generations", "choices", "output", "input", "message", "chat_history")
            inner = next((value[name] for name in names if isinstance(value.get(name), list | Mapping)), None)
            if inner is None:
                return []
            value = inner
        elif isinstance(value, list):
            if value and isinstance(value[0], list):
                value = value[0]
                continue
            return [message for each in value if (message := opened(each))]
        else:
            return []
    return []


def before(messages: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the last message of a user, and what tools gave back since the agent last spoke."""
    user, tools = "", list[str]()
    for message in messages:
        speaker = role(message)
        if speaker == "user":
            results, said = tool_results(message.get("content")), text(message.get("content"))
            tools += results
            if said:
                user, tools = context(said), list(results)
        elif speaker == "tool":
            tools.append(given(message.get("content", message.get("output"))))
        elif speaker == "assistant":
            tools = []
    return user, context("\n".join(filter(None, tools)))


def tool_results(content: Any) -> list[str]:
    """Return what tools gave back in a message of Anthropic's shape."""
    if not isinstance(content, list):
        return []
    return [
        given(part.get("content")) for part in content if isinstance(part, dict) and part.get("type") == "tool_result"
    ]
