"""What a gateway asks about, and what it is answered, whatever either looks like on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from metacog.heuristics.text.shadow import is_blank
from metacog.heuristics.wire import wire
from metacog.http.problems import Problem

MOST_KEPT = 255  # characters of a value that is kept as metadata
MOST_DESCRIPTION = 10_000

Shape = TypeVar("Shape", bound=BaseModel)


class Call(NamedTuple):
    """A tool call as a gateway tells it; `schema`, `description` and `hints` are the tool's, where it knows them."""

    name: str
    arguments: Any
    id: str | None = None
    schema: Mapping[str, Any] | None = None
    description: str | None = None
    hints: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Asked:
    """What waits at a gateway: calls that would be made, and words of the agent's that would go out."""

    via: str
    session: str | None = None
    calls: tuple[Call, ...] = ()
    texts: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    takes_arguments: bool = False  # the gateway makes a call with the arguments that it is answered

    @property
    def kept(self) -> dict[str, str]:
        """Return what is kept of the request beside what it asks."""
        kept = {name: str(value)[:MOST_KEPT] for name, value in self.metadata.items() if value not in (None, "")}
        return {"via": self.via} | kept

    def changed(self, calls: tuple[Call, ...], texts: tuple[str, ...]) -> Asked:
        return replace(self, calls=calls, texts=texts)


class HeldAt(BaseModel):
    """An item that is held, and where people decide it."""

    id: str
    url: str


class Edited(BaseModel):
    """A call that a person released with other arguments."""

    name: str
    arguments: Any = Field(description="With secrets masked; `GET /held/{id}` has them whole.")


class Answer(BaseModel):
    """What a gateway is told, in every shape."""

    decision: Literal["allow", "deny", "held"]
    reason: str = Field(default="", description="In a sentence; empty where it is allowed.")
    held: list[HeldAt] = Field(default=[], description="What waits for a person.")
    edited: list[Edited] = Field(default=[], description="Denied: a person released these calls with other arguments.")


def _check_name(name: str) -> str:
    if is_blank(name):
        raise ValueError("a tool has a name")
    return name


ToolName = Annotated[str, AfterValidator(_check_name), Field(max_length=255)]


class Sent(BaseModel):
    """A shape of somebody else's: what it has beside what is read here is theirs."""

    model_config = ConfigDict(strict=True, extra="ignore")


def shaped(value: Any, shape: type[Shape], name: str) -> Shape:
    """Return a value in a shape; raise the 422 that names it and points to each defect."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        errors = wire.explain(error.errors(include_url=False), shape)
        raise Problem(422, f"This is no request of {name} that can be read. {wire.summary(errors)}", errors) from None


def named(value: Any, most: int = MOST_KEPT) -> str | None:
    """Return a text that names something, if it is one that fits."""
    return value if isinstance(value, str) and not is_blank(value) and len(value) <= most else None


def definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a tool's own definition, as MCP writes it, says of its calls."""
    schema = tool.get("inputSchema", tool.get("input_schema"))
    description, hints = tool.get("description"), tool.get("annotations")
    return {
        "schema": schema if isinstance(schema, dict) else None,
        "description": description[:MOST_DESCRIPTION] if isinstance(description, str) and description else None,
        "hints": hints if isinstance(hints, dict) and hints else None,
    }
