"""The API of agents and of people's programs: who may call, how bodies are read, how errors are told.

Calls live beside their models.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, TypeVar, cast

from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, ValidationError
from ninja.openapi.docs import Swagger
from ninja.security import HttpBearer
from pydantic import BaseModel, Field
from pydantic import ValidationError as PydanticError

from metacog import __version__
from metacog.accounts import tokens
from metacog.accounts.keys import agent_with_key, is_signed
from metacog.heuristics.wire import wire
from metacog.http.problems import Problem, answer, at
from metacog.models import Agent, PersonalToken
from metacog.sign_in import vouching
from metacog.unreadable import UnreadablePolicy

Shape = TypeVar("Shape", bound=BaseModel)
Row = TypeVar("Row", bound=Model)

REFERENCE = "#/components/schemas/{model}"


class AgentRequest(HttpRequest):
    """A request whose key was checked: `auth` is the agent, read with its team."""

    auth: Agent


class TokenRequest(HttpRequest):
    """A request of a person's program, whose token was checked: `auth` is the token, read with its person."""

    auth: PersonalToken


UNKNOWN = Problem(
    401,
    "This call needs the agent's key, as `Authorization: Bearer <key>`.",
    headers={"WWW-Authenticate": 'Bearer realm="metacog"'},
)
NOT_THE_AGENTS = Problem(
    401,
    "This is a person's token, and this call needs an agent's key (mck_…). People's tokens are for /api/v1/review/….",
    headers=UNKNOWN.headers,
)
NO_TOKEN = Problem(
    401,
    "This call needs a person's live token, as `Authorization: Bearer mcp_…`. People make one on their Preferences.",
    headers=UNKNOWN.headers,
)
NOT_A_PERSONS = Problem(
    401,
    "This is an agent's key, and this call needs a person's token (mcp_…), made on their Preferences. "
    "An agent decides its own items by /api/v1/held/….",
    headers=UNKNOWN.headers,
)
NOT_VOUCHED = Problem(
    403, "The provider by which this token's person signs in refuses them. They sign in there again, and it works on."
)
NO_SECOND_FACTOR = Problem(
    403, "A team of this token's person requires a second factor, and they have none. They set one up, and it works on."
)
UNSIGNED = Problem(
    401,
    "This call needs a Standard Webhooks signature over the raw body by this agent's secret: "
    "webhook-id, webhook-timestamp (within 5 minutes) and webhook-signature.",
    headers={"WWW-Authenticate": 'Webhook realm="metacog"'},
)


class ApiKey(HttpBearer):
    """The agent's key."""

    def authenticate(self, request: HttpRequest, token: str) -> Agent:
        agent = agent_with_key(token)
        if agent is None:
            raise NOT_THE_AGENTS if token.startswith(tokens.PREFIX) else UNKNOWN
        request.body  # noqa: B018 - by now it may be waited for: calls run on whole requests only (metacog/asgi.py)
        return enabled(agent)


class PersonToken(HttpBearer):
    """A person's token, made on their Preferences."""

    def __call__(self, request: HttpRequest) -> PersonalToken:
        found: PersonalToken | None = super().__call__(request)
        if found is None:
            raise NO_TOKEN
        return found

    def authenticate(self, request: HttpRequest, token: str) -> PersonalToken:
        found = tokens.live_token(token)
        if found is None:
            raise NOT_A_PERSONS if token.startswith("mck_") else NO_TOKEN
        request.body  # noqa: B018 - as above
        if not vouching.may_use_tokens(found.person):
            raise NOT_VOUCHED
        if vouching.lacks_second_factor(found.person):
            raise NO_SECOND_FACTOR
        if not tokens.count_call(found):
            raise Problem(
                429,
                f"More than {tokens.CALLS_PER_SECOND} calls a second with this token. "
                "Nothing was written; send it again in 1 s.",
                headers={"Retry-After": "1"},
            )
        return found


def check_scope(request: TokenRequest, scope: PersonalToken.Scope) -> None:
    """Raise the 403 of a token without this scope."""
    if scope not in request.auth.scopes:
        challenge = f'Bearer realm="metacog", error="insufficient_scope", scope="{scope}"'
        raise Problem(
            403,
            f"This token lacks the scope `{scope}`. Make one with it on your Preferences.",
            headers={"WWW-Authenticate": challenge},
        )


METADATA = "metadata."


def check_parameters(request: HttpRequest, *known: str) -> None:
    """Raise the 422 that names what of the query is none of the `known` parameters; METADATA: any that begins so."""

    def is_known(name: str) -> bool:
        return name in known if not name.startswith(METADATA) else METADATA in known and name != METADATA

    if unknown := [name for name in request.GET if not is_known(name)]:
        errors = [{"pointer": f"/query/{name}", "detail": "There is no such parameter."} for name in unknown]
        there = ", ".join([f"{name}NAME" if name == METADATA else name for name in known])
        raise Problem(422, f"Unknown: {', '.join(unknown)}. Parameters here are {there}.", errors)


def metadata_asked(request: HttpRequest) -> dict[str, str]:
    """Return what `?metadata.NAME=value` asks for, by name."""
    return {name.removeprefix(METADATA): str(request.GET[name]) for name in request.GET if name.startswith(METADATA)}


def enabled(agent: Agent) -> Agent:
    if not agent.enabled:
        raise Problem(403, "This agent is disabled. An owner of its team can enable it again.")
    return agent


def signed_agent(request: HttpRequest, agent_id: str) -> Agent:
    """Return the agent that signed this request; every defect is answered alike."""
    if not is_signed(agent_id, request):
        raise UNSIGNED
    return enabled(Agent.objects.select_related("team").get(public_id=agent_id))


def read_json(request: HttpRequest) -> bytes:
    """Return the raw body of a request that says it is JSON."""
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(415, f"Send JSON with `Content-Type: application/json`, not {kind or 'none'!r}.")
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        detail = f"Send the body as it is, not encoded as {encoding!r}."
        raise Problem(415, detail, headers={"Accept-Encoding": "identity"})  # RFC 9110, 15.5.16
    return request.body


def read_shape(request: HttpRequest, shape: type[Shape]) -> Shape:
    """Return the body in its shape; raise heuristics.Refused with a pointer to each defect."""
    try:
        return shape.model_validate(wire.load(read_json(request)))
    except PydanticError as error:
        errors = wire.explain(error.errors(include_url=False), shape)
        raise Problem(422, wire.summary(errors), errors) from None


def takes(shape: type[BaseModel], *examples: dict[str, Any]) -> dict[str, Any]:
    """Return the `openapi_extra` of a call that reads this body itself."""
    content: dict[str, Any] = {"schema": shape.model_json_schema(ref_template=REFERENCE)}
    if examples:
        content["examples"] = {f"example {number}": {"value": value} for number, value in enumerate(examples, 1)}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def cursor(own: QuerySet[Row], after: str) -> Row | None:
    """Return the row whose public id is `after`, behind which a page begins; None for the first page, whose is "".

    Raises a Problem when it is none of the caller's `own`.
    """
    row = own.filter(public_id=after).first() if after else None
    if after and row is None:
        raise at("/query/after", "This is no cursor of ours: give back `next` as it was.")
    return row


def page_of(rows: QuerySet[Row], limit: int) -> tuple[list[Row], str | None]:
    """Return the first rows, and the `after` of the page that follows; None on the last."""
    found = list(rows[: limit + 1])
    last: Any = found[limit - 1] if len(found) > limit else None
    return found[:limit], last and last.public_id


def as_json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    body = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return HttpResponse(body, status=status, content_type="application/json", headers=headers)


ERRORS = {
    400: "The body is not JSON.",
    401: "No live key, or no signature of this agent's.",
    403: "The agent is disabled, or its policy leaves this to a person.",
    404: "There is no such thing among yours.",
    408: "The body did not arrive in time; send it again.",
    409: "Decided before, not yet, or not possible as things stand now.",
    413: "The body is larger than 1,048,576 bytes.",
    415: "The body does not say it is JSON, or is encoded.",
    422: "Out of shape; `errors` says where.",
    429: "Too many posts; `Retry-After` says when to come back.",
    503: "The database cannot take it now; `Retry-After` says when to come back.",
}
ALWAYS = (401, 403, 422, 503)
WITH_BODY = (400, 408, 413, 415)
CONFLICTS = ("/confidence", "/decision", "/extensions", "/memory", "/threads", "/think-twice")
OF_PEOPLE = ERRORS | {  # what they mean to calls of people's programs
    401: "No live token of a person.",
    403: "The token lacks the scope, or its person the role.",
    429: "More than 20 calls a second; `Retry-After` says when to come back.",
}
STANDING = {  # what a 409 shows, and as
    "review/held/{held_id}/decision": ("decision", "ReviewDecision"),
    "review/held/{held_id}/undo": ("decision", "ReviewDecision"),
    "decision": ("decision", "Decided"),
    "extensions": ("extension", "Extension"),
    "withdraw": ("extension", "Extension"),
}


class ProblemDocument(BaseModel):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[dict[str, str]] = Field(description="Each with a JSON Pointer `pointer` and a `detail`.")


class Api(NinjaAPI):
    """Ninja's API, with what its document cannot know: bodies that calls read themselves, and errors."""

    def create_temporal_response(self, request: HttpRequest) -> Any:
        return None  # a response for calls to put headers into: all of them answer with one of their own

    def get_openapi_schema(self, **kwargs: Any) -> Any:
        # What calls declare is shared between documents: change a copy.
        schema = deepcopy(super().get_openapi_schema(**kwargs))
        components = schema["components"]["schemas"]
        components["ProblemDocument"] = ProblemDocument.model_json_schema()
        for path, calls in schema["paths"].items():
            for call in calls.values():
                body = call.get("requestBody", {}).get("content", {})
                for content in body.values():
                    components.update(content["schema"].pop("$defs", {}))
                statuses = {*ALWAYS, *(WITH_BODY if body else ()), *([404] if "{" in path else ())}
                is_limited = path.endswith(("/responses", "/research", "/guard")) or "/review/" in path
                statuses |= {429} if is_limited else set()
                if (body and any(part in path for part in CONFLICTS)) or path.endswith("/undo"):
                    statuses.add(409)
                for status in sorted(statuses):
                    call["responses"].setdefault(str(status), _problem_of(status, path))
        return schema


def _problem_of(status: int, path: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"$ref": REFERENCE.format(model="ProblemDocument")}
    shown = [each for end, each in STANDING.items() if path.endswith(f"/{end}")] if status == 409 else []
    for name, model in shown[:1]:
        standing = [{"$ref": REFERENCE.format(model=model)}, {"type": "null"}]
        schema = {"allOf": [schema, {"type": "object", "properties": {name: {"anyOf": standing}}}]}
    described = OF_PEOPLE if "/review/" in path else ERRORS
    return {"description": described[status], "content": {"application/problem+json": {"schema": schema}}}


api = Api(
    title="metacog",
    version=__version__,
    description=(
        "Post each response; what is risky is held until a person, or your own second look one cycle later, "
        "has decided. Every error is a problem document (RFC 9457)."
    ),
    auth=ApiKey(),
    docs=Swagger(settings={"persistAuthorization": False, "tryItOutEnabled": False}),
    urls_namespace="api",
)


@api.exception_handler(wire.Refused)
def refused(request: HttpRequest, error: wire.Refused) -> HttpResponse:
    return answer(Problem(error.status, error.detail, error.errors))


@api.exception_handler(UnreadablePolicy)
def unreadable(request: HttpRequest, error: UnreadablePolicy) -> HttpResponse:
    policy, rules = error.policy, error.rules
    what = "rules" if rules else "policy"
    detail = f"{error}. Nothing was written: an owner of the team has to save a new version of the {what}."
    errors = [{"pointer": pointer, "detail": told} for pointer, told in (rules or policy).faults]
    versions: dict[str, Any] = {"policy": policy.version} | ({"team_rules": rules.version} if rules else {})
    return answer(Problem(503, detail, errors, agent=policy.agent.public_id, **versions))


@api.exception_handler(AuthenticationError)
def unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return answer(UNKNOWN)


@api.exception_handler(ValidationError)
def out_of_shape(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = wire.explain(cast("Any", error.errors))
    return answer(Problem(422, wire.summary(errors), errors))


@api.exception_handler(Http404)
def missing(request: HttpRequest, error: Http404) -> HttpResponse:
    return answer(Problem(404, str(error) or "There is no such thing among yours."))


@api.exception_handler(Problem)
def problem(request: HttpRequest, error: Problem) -> HttpResponse:
    return answer(error)
