"""What LangSmith's runs and Langfuse's observations have in common: a tree of steps of which few say something new.

The model's step (an LLM run, a generation) has the agent's words, and the tool calls that it wants. Steps of tools are
the same calls once more, made by the framework: they count where no step of a model has wanted them. Which of the two
comes first differs by export. All around them, from chains to the trace itself, repeats what they say: it counts where
the export has no such steps at all.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from reviews.logs.readers import messages
from reviews.logs.readers.turns import Call, Read, Seen, Turn, context, moment

MAX_TRACES = 500  # of which it is known which calls came, those that went on last


class Steps:
    """Reads steps into turns, each call of a trace once."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.seen = Seen(state.get("seen", ()))
        # By trace: the tools of which more calls were wanted than made so far, and (below 0) the other way round.
        self.open = OrderedDict[str, dict[str, int]](state.get("open", ()))
        self.is_by_root = bool(state.get("by_root"))  # no step of a model or a tool in it: the roots speak

    def as_json(self) -> dict[str, Any]:
        return {"seen": self.seen.as_json(), "open": list(self.open.items()), "by_root": self.is_by_root}

    def of_model(self, step: Step) -> Read:
        said = messages.conversation(step.output)
        asked = messages.conversation(step.input)
        if step.is_root:  # the whole conversation, as agents give it back
            users = [place for place, message in enumerate(said) if messages.role(message) == "user"]
            said = said[users[-1] + 1 :] if users else said
        answers = [message for message in said if messages.role(message) in ("assistant", "")]
        text = "\n\n".join(filter(None, (messages.text(message.get("content")) for message in answers)))
        calls = [call for message in answers for call in messages.calls(message)]
        calls += [call for call in messages.calls({"tool_calls": step.calls}) if not calls]
        if not said and not calls:
            text = messages.text(step.output) if isinstance(step.output, str | list) else _answer(step.output)
        if not step.is_root:
            calls = [call for call in calls if not self._was_made(step.trace, call)]
        left = messages.left_around(asked, answers)
        if not text.strip() and not calls:
            return Read(skipped=f"{step.kind}, without text or tool call", parts=left)
        user, given = messages.before(asked)
        read = self._turn(step, text, calls, user or _question(step.input), given)
        read.parts = left if read.turns else Counter()
        return read

    def of_tool(self, step: Step) -> Read:
        arguments = messages.parsed(step.input)
        if isinstance(arguments, Mapping) and arguments.keys() == {"input"}:
            arguments = _literal(arguments["input"])
        call = Call(step.name, {} if arguments is None else arguments, step.call_id)
        if self._was_wanted(step.trace, call):
            return Read(skipped=f"{step.kind}, of a call that was counted")
        return self._turn(step, "", [call], "", "")

    def _turn(self, step: Step, text: str, calls: Sequence[Call], user: str, given: str) -> Read:
        key = step.id or f"{step.trace}:{step.line}"
        if not self.seen.is_new(key):
            return Read(skipped="copy of an earlier record")
        at = moment(step.at)
        return Read([Turn(step.line, key, step.session or step.trace, text, list(calls), user, given, at)])

    def _counted(self, trace: str, call: Call, step: int) -> int:
        counts = self.open.setdefault(trace, {})
        self.open.move_to_end(trace)
        while len(self.open) > MAX_TRACES:
            self.open.popitem(last=False)
        name = context(call.name)
        counts[name] = counts.get(name, 0) + step
        return counts[name]

    def _was_made(self, trace: str, call: Call) -> bool:
        return self._counted(trace, call, 1) <= 0

    def _was_wanted(self, trace: str, call: Call) -> bool:
        return self._counted(trace, call, -1) >= 0


class Step:
    """One run or observation, by the same names."""

    def __init__(self, line: int, kind: str, **of: Any) -> None:
        self.line, self.kind = line, kind
        self.id: str = of["id"]
        self.trace: str = of["trace"]
        self.session: str = of["session"]
        self.name: str = of["name"] or "tool"
        self.input, self.output = messages.parsed(of["input"]), messages.parsed(of["output"])
        self.at = of["at"]
        self.is_root: bool = of.get("is_root", False)
        self.call_id: str = of.get("call_id", "")
        self.calls: Any = messages.parsed(of.get("calls") or [])


def _answer(output: Any) -> str:
    """Return the text of an output that is no message."""
    if not isinstance(output, Mapping):
        return ""
    names = ("output", "answer", "text", "completion", "content", "response", "result", "output_text")
    return next((output[name] for name in names if isinstance(output.get(name), str)), "")


def _question(asked: Any) -> str:
    if isinstance(asked, str):
        return context(asked)
    if not isinstance(asked, Mapping):
        return ""
    names = ("input", "question", "query", "prompt", "text", "user_message")
    return context(next((asked[name] for name in names if isinstance(asked.get(name), str)), ""))


def _literal(text: Any) -> Any:
    """Return what a tool's input says: JSON, or Python's writing of it, as LangChain has it."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return text
    as_json = messages.parsed(text)
    if as_json is not text:
        return as_json
    import ast

    try:
        value = ast.literal_eval(text) if len(text) < 100_000 else text
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text
