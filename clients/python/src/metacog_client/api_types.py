"""What metacog's API takes and answers: made by scripts/client_types.py from the OpenAPI document."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class AnswerGiven(TypedDict):
    """One time that thinking twice was suggested, or asked for, and what came of it."""

    points: int
    suggested_at: str | None
    answer: Literal["yes", "no"] | None
    # `agent`: a person, as it reported.
    by: Literal["person", "agent", "user"] | None
    answered_at: str | None
    outcome: Literal["helped", "did-not-help"] | None


class Approvals(TypedDict):
    """How many people have approved an item that named people must approve, and how many must."""

    given: int
    needed: int
    # That they must have, or one above it.
    role: Literal["reviewer", "curator", "owner"] | None
    # Of members, in which they must be.
    group: str | None
    # The user names of who approved; null where the team does not let agents know them.
    by: list[str] | None


class Asked(TypedDict):
    """A request as it was made."""

    session: str
    problem: str
    # Of this investigation, from 1.
    number: int
    step: int | None
    reason: str
    evidence: list[Any]


class Assessment(TypedDict):
    """The answer to a posted response. Null: not built, or switched off for the agent."""

    # Null only where there is no database (the command line).
    id: str | None
    # The version of the policy that was applied.
    policy: int | None
    profile: Literal["seed", "aware"]
    engine: str
    hesitation: HesitationPart | None
    quality: QualityPart | None
    confidence: ConfidencePart | None
    stuck: StuckPart | None
    items: list[ItemPart]
    # `language-unread`: `response`, or the text of an item, is in a language that no rule reads, so that the score says
    # nothing about it; the item has the flag, too. The others say why an opening tag in `response` gave no item of its
    # own: it stands in code, or within another of its kind; or that it was never closed, so that its item runs to the
    # end. Sorted; none of tags where items were sent.
    flags: NotRequired[list[Literal["language-unread", "tag-in-code", "tag-nested", "tag-unclosed"]]]
    schedule: SchedulePart | None
    events: list[str]
    # The model of the items' learned risk.
    risk_model: NotRequired[str]
    # Null: the response has nothing to do with thought threads, or has no database.
    threads: NotRequired[list[ThreadPart] | None]


class Budget(TypedDict):
    """The tool calls of an investigation."""

    allowed: int
    used: int
    left: int


class Clash(TypedDict):
    """Another memory that cannot hold beside this one, as it seems; a person decides which of them stands."""

    id: str
    type: Literal["negation", "antonym", "number", "value", "retraction"]
    # 0 to 1: how alike the rest of the two sentences is.
    confidence: float
    # Null unless it is confirmed.
    text: str | None


class ConfidenceAsked(TypedDict):
    """What is known before an answer is written, as in a posted response; all of it may be missing."""

    session: NotRequired[str | None]
    retrieval: NotRequired[RetrievalBody | None]
    topics: NotRequired[list[str] | None]


class ConfidencePart(TypedDict):
    """How much is known about the subject, as a sentence for the prompt."""

    level: Literal["high", "medium", "low"]
    score: float
    reason: str
    prompt: str


class Context(TypedDict):
    """What the next cycle should read. Null: there is nothing to say."""

    intent: dict[str, str]
    threads: dict[str, Any] | None
    thread_suggestion: dict[str, Any] | None
    articles: list[dict[str, Any]] | None
    # Decisions released since you last heard, oldest first; told until the response you post next.
    decided: list[Told]
    decided_more: LeftOut | None
    # The one due for review first. Words are whole. Of a tool call `text` has the first 2,000 characters of its
    # arguments; `arguments` is null where that is not all, `schema` always. `GET /held/{id}` has it whole.
    held: list[Held]
    # Held items there was no room for.
    held_more: list[str]
    suggestion: str | None
    # What the suggestion is about.
    signals: list[Reason] | None
    confidence: ConfidencePart | None
    lessons: dict[str, Any] | None
    # What your team remembers of your topics, oldest first.
    memory: dict[str, Any] | None
    think_twice: list[dict[str, Any]] | None
    # Answers not told yet, then pending requests.
    extensions: list[dict[str, Any]] | None
    extensions_more: bool
    instructions: str | None


class Decided(TypedDict):
    """A decision."""

    id: str
    # The agent's own count, without gaps.
    seq: int
    held: str
    verdict: Literal["approve", "edit", "answer", "reject", "withdraw", "expire"]
    # What may be used now; null unless something was released.
    text: str | None
    reason: str
    by: Literal["person", "agent", "system"]
    decided_at: str
    # Of a tool call: what it was released with, in place of `text`.
    arguments: Any
    # What a person answered to a question.
    answer: Any
    # Of a released tool call. `given`: make it now; told once of a call without `call_id`, of one with it until its
    # outcome is reported. `post`: it was asked for under several ids; post it again, and the first one passes. `used`:
    # do not make it for this approval again.
    permission: Literal["given", "post", "used"] | None
    # When the approval was used up; not by this answer.
    used_at: str | None
    # Of a tool call: what its agent reported, once.
    outcome: Outcome | None
    # The response's and the item's own.
    metadata: dict[str, Any]
    # The person's user name, where the team lets agents know it.
    decided_by: NotRequired[str | None]
    # Of the changed policy that decided what waited.
    policy_version: NotRequired[int | None]
    # Of the team's changed rules that did.
    team_rules_version: NotRequired[int | None]


class DecidedPage(TypedDict):
    items: list[Decided]
    next: str | None


class EffectPart(TypedDict):
    """One thing that a tool call would do."""

    effect: Literal[
        "read",
        "write",
        "delete",
        "execute",
        "fetch",
        "send",
        "install",
        "publish",
        "privilege",
        "secret",
        "pay",
        "irreversible",
        "unknown",
    ]
    # What it would do it to; a path is normalized.
    object: str | None
    # What kind of thing the object is.
    of: NotRequired[Literal["path", "url", "host", "address", "amount", "table", "package", "program", "ref", "name"]]
    # Of a path: whether it is in the workspace.
    inside: bool | None
    # Where it stands: Unicode code points of the argument.
    start: int | None
    end: int | None
    # JSON Pointer to the argument that it was read from.
    argument: str
    # A fact worth saying, such as `no WHERE`.
    detail: NotRequired[str]


class Entry(TypedDict):
    """One entry of a trail."""

    note: str
    # The day; null where a file did not say.
    on: str | None
    by: Literal["agent", "person", "file"]
    # The response that said it.
    response: str | None
    at: str


class EvaluationPart(TypedDict):
    """The parts of the quality score, each from 0 to 1. Null: there was nothing to judge it by."""

    responsiveness: float | None
    completeness: float | None
    consistency: float
    length_ok: bool
    repetition: bool


class Extension(TypedDict):
    """A request for more tool calls, and what became of it."""

    id: str
    state: Literal["pending", "approved", "rejected", "expired", "withdrawn"]
    by: Literal["memory", "rule", "person", "model", "system", "agent"] | None
    # Tool calls.
    granted: int
    # Why, as the chairman says.
    reason: str
    guidance: str
    # For your prompt, in your language.
    message: str
    # The first gate: what your team remembers, the best first.
    found: list[FoundMemory]
    # The second gate; null where memory answered.
    rule: Rule | None
    request: Asked
    budget: Budget
    created_at: str
    due_at: str
    # Until when it waits for the chairman.
    expires_at: str
    decided_at: str | None


class ExtensionBody(TypedDict):
    """A request for more tool calls."""

    session: NotRequired[str]
    problem: NotRequired[str]
    # What is missing, and why.
    reason: str
    # What you have found so far.
    evidence: NotRequired[list[Any]]
    # Tool calls you have made.
    step: NotRequired[int | None]


class ExtensionPage(TypedDict):
    items: list[Extension]
    next: str | None
    # Of the investigation that was asked for.
    budget: Budget | None
    # For your prompt, when its calls are used up.
    message: str | None


class FindingPart(TypedDict):
    """One thing that was found, as the search told it; nothing of it was fetched."""

    # The number of the question, from 0.
    question: int
    title: str
    address: str
    snippet: str


class FlagPart(TypedDict):
    """One thing about the quality of a text: what, and where."""

    flag: str
    detail: str
    spans: list[FlagSpanPart]


FlagSpanPart = TypedDict(
    "FlagSpanPart", {"start": "int", "end": "int", "text": "str", "in": 'NotRequired[Literal["user_message"] | None]'}
)


class Found(TypedDict):
    """A memory that was found."""

    id: str
    text: str
    topic: str
    source: str
    # 0 to 1, as its author says.
    confidence: float | None
    # `confirmed` answers every agent of the team; `pending` answers nobody until a person confirms it.
    state: Literal["pending", "confirmed", "retired"]
    # Why it waits; empty unless it does.
    why: list[Reason]
    by: Literal["agent", "person"]
    confirmed_by: Literal["person", "rule"] | None
    # The score when it was posted, 0 to 100.
    hesitation: int | None
    # The response in which it was a REMEMBER.
    response: str | None
    # When it was said: of two that contradict each other the older said it first.
    occurred_at: str
    created_at: str
    contradicts: list[Clash]
    # Orders the answers to one query; says nothing beyond it.
    score: float
    # 0 to 1: how much of the weight of what was asked is in it.
    share: float
    # What of the query it holds, as it is written there.
    matched: list[str]


class FoundMemory(TypedDict):
    """What the team remembers about the reason of a request."""

    id: str
    text: str
    topic: str
    source: str
    confidence: float | None
    score: float
    share: float
    matched: list[str]
    # Whether that is answer enough; then the request is refused.
    answers: bool


class Held(TypedDict):
    """A held item."""

    id: str
    response: str
    index: int
    kind: str
    # The item's whole text; of a tool call its name and canonical arguments.
    text: str
    # Of the text as UTF-8.
    sha256: str
    version: int
    state: Literal["pending", "approved", "edited", "answered", "rejected", "withdrawn", "expired"]
    held_at: str
    review_due_at: str
    expires_at: str
    # Null: nothing was scored.
    hesitation: dict[str, Any] | None
    # The response's and the item's own.
    metadata: dict[str, Any]
    # Null until it is released.
    decision: Decided | None
    # Null: any one reviewer may approve it.
    approvals: Approvals | None
    # Held tool calls of the same response. The item goes out once all are approved, and is rejected by the system where
    # one is not.
    waits_for: list[str]
    # Of a question: the answers to choose from.
    choices: NotRequired[list[str] | None]
    # Of a question: what its answer must meet. Of a tool call: what edits must.
    schema: NotRequired[dict[str, Any] | None]
    # This and what follows: of tool calls only, but for `asks`.
    call_id: NotRequired[str | None]
    name: NotRequired[str]
    arguments: NotRequired[Any]
    description: NotRequired[str]
    # That asked; null: the policy's default or the agent.
    rule: NotRequired[dict[str, Any] | None]
    # Its schema has more than 64 KiB, so it was left out: arguments and edits are not checked by it.
    schema_omitted: NotRequired[bool]
    # The tool's MCP annotations, as they were sent.
    annotations: NotRequired[dict[str, Any] | None]
    # What it would do, in order of place.
    effects: NotRequired[list[EffectPart]]
    # Whether all of it could be read: no effect is `unknown`.
    readable: NotRequired[bool]
    # How often the same call or question was posted while it waits.
    asks: NotRequired[int]
    # What became of it, as its agent reported.
    outcome: NotRequired[Outcome | None]


class HeldPage(TypedDict):
    items: list[Held]
    # Put it into `after` for the next page; null on the last.
    next: str | None


class HesitationPart(TypedDict):
    """How much in the text is worth a second look, 0 to 100. Not a probability of error."""

    score: int
    # score < threshold
    confident: bool
    threshold: int
    hold_at: int
    signals: list[SignalPart]
    suggestion: str
    matched_pattern_ids: list[str]


class ItemBody(TypedDict):
    """One thing the response wants said, remembered or done."""

    # chat, remember, task, action, ask, schedule or thread, in any case; another kind passes.
    kind: str
    # What is said, remembered, asked for or done.
    text: str
    # The tag's attributes. A value that is no string is kept as its JSON.
    attributes: NotRequired[dict[str, Any] | None]
    # True: hold it for a person, whatever the rules and the heuristics say.
    require_review: NotRequired[bool | None]
    # Seconds until it expires undecided, at most the policy's `expiry_seconds`.
    expires_in: NotRequired[int | None]
    # What comes back with whatever is told of it: at most 4,096 bytes of JSON.
    metadata: NotRequired[dict[str, Any] | None]


class ItemPart(TypedDict):
    """What to do with one item."""

    index: int
    # Case-folded.
    kind: str
    disposition: Literal["hold", "mark", "note", "pass", "reject"]
    # The held item's id.
    held: str | None
    # What to use instead of the item's text; null while it is held.
    text: str | None
    review_url: str | None
    flags: list[str]
    # The held item whose approved text this is.
    recognised: str | None
    # Of a `remember`: whether it is in the team's memory, or waits there for a curator. Null: neither.
    memory: NotRequired[Literal["stored", "waiting"] | None]
    # Its learned risk: an order, no probability unless it is calibrated.
    risk: NotRequired[float]
    # True: held because the agent is paused.
    paused: NotRequired[bool]
    # True: the review budget alone held it.
    by_budget: NotRequired[bool]
    # Of words that are held with the tool calls of their response: the held items of these. They go out once all are
    # approved, and are rejected where one is not. Null: there is no database.
    waits_for: NotRequired[list[str] | None]
    # True: nothing but these tool calls held it.
    with_calls: NotRequired[bool]
    call_id: NotRequired[str | None]
    name: NotRequired[str]
    arguments: NotRequired[Any]
    # The rule that decided; null: the default did.
    rule: NotRequired[dict[str, Any] | None]
    # Why the rule could not be checked, so that the call is held.
    fault: NotRequired[str]
    # True: its tool's description or schema is another than when it was allowed, so a person is asked.
    definition_changed: NotRequired[bool]
    # Of a call that a rule had scored.
    hesitation: NotRequired[HesitationPart]
    # What it would do, in order of place.
    effects: NotRequired[list[EffectPart]]
    # Whether all of it could be read: no effect is `unknown`.
    readable: NotRequired[bool]
    # The grant that let the call pass.
    grant: NotRequired[str]


class LeftOut(TypedDict):
    """Older decisions that a context had no room for."""

    count: int
    # `GET /decisions?after=` this has all of them.
    after: int


class MemoryBody(TypedDict):
    """Something to remember."""

    text: str
    topic: NotRequired[str]
    # Where you have it from.
    source: NotRequired[str]
    # How sure you are of it.
    confidence: NotRequired[float | None]
    # When it was said; without it, and ahead of the clock, now.
    occurred_at: NotRequired[str | None]


class MemoryPage(TypedDict):
    items: list[Found | Remembered]
    next: str | None


class Objection(TypedDict):
    """Why the rules do not pass a request."""

    type: Literal[
        "too-many",
        "too-short",
        "filler",
        "not-concrete",
        "same-reason",
        "near-duplicate",
        "refused-before",
        "no-extension",
    ]
    detail: str


class Outcome(TypedDict):
    """What became of an approved tool call, as its agent reported it."""

    status: Literal["done", "failed", "skipped"]
    detail: str
    result: Any
    reported_at: str


class Pattern(TypedDict):
    """An error pattern, in the seed's shape (`hesitation-patterns.json`)."""

    id: str
    keywords: list[str]
    description: str
    source: Literal["alex-correction", "self-review", "external"]
    createdAt: str
    triggerCount: int


class PatternPage(TypedDict):
    items: list[Pattern]
    next: str | None


class PolicyFacts(TypedDict):
    """What an agent's own programs go by in its policy."""

    version: int
    # Who answers what an MCP server behind the proxy asks: the agent's program, or people in metacog.
    elicitation: Literal["agent", "people"]


class ProblemPage(TypedDict):
    items: list[ProblemState]
    next: str | None


class ProblemState(TypedDict):
    """What an agent works on, as far as it looks stuck."""

    problem: str
    points: int
    threshold: int
    # Ask whether to think twice; stays true until somebody answers.
    suggest: bool
    # A person has said yes.
    invoke: bool
    prompt: str
    signals: list[StuckSignalPart]
    session: str
    touched_at: str
    resolved_at: str | None
    # The latest first.
    answers: list[AnswerGiven]
    # Markdown for a fresh sub-agent: the problem, what was tried, and what is known, at most five of the team's
    # memories that concern it among that.
    brief: str


class QualityPart(TypedDict):
    """How well the text answers, 0 to 1, more is better. Never touches items."""

    score: float
    passed: bool
    flags: list[str]
    details: list[FlagPart]
    hedge_prefix: str | None
    evaluation: EvaluationPart


class QuestionBody(TypedDict):
    """A question to a person: always held, and answered in the console, by mail or by API."""

    # question, in any case.
    kind: str
    # What is asked.
    text: str
    # The tag's attributes. A value that is no string is kept as its JSON.
    attributes: NotRequired[dict[str, Any] | None]
    # True: hold it for a person, whatever the rules and the heuristics say.
    require_review: NotRequired[bool | None]
    # Seconds until it expires undecided, at most the policy's `expiry_seconds`.
    expires_in: NotRequired[int | None]
    # What comes back with whatever is told of it: at most 4,096 bytes of JSON.
    metadata: NotRequired[dict[str, Any] | None]
    # The JSON Schema that the answer must meet, at most 65,536 bytes. People get a form made of it.
    schema: NotRequired[dict[str, Any] | None]
    # The answers to choose from, each once. Without them and a `schema` the answer is any text.
    choices: NotRequired[list[str] | None]


class Reason(TypedDict):
    """One reason why a memory waits for a curator."""

    type: Literal["score", "error-pattern", "contradiction", "many"]
    detail: str


class Remembered(TypedDict):
    """A memory of the team."""

    id: str
    text: str
    topic: str
    source: str
    # 0 to 1, as its author says.
    confidence: float | None
    # `confirmed` answers every agent of the team; `pending` answers nobody until a person confirms it.
    state: Literal["pending", "confirmed", "retired"]
    # Why it waits; empty unless it does.
    why: list[Reason]
    by: Literal["agent", "person"]
    confirmed_by: Literal["person", "rule"] | None
    # The score when it was posted, 0 to 100.
    hesitation: int | None
    # The response in which it was a REMEMBER.
    response: str | None
    # When it was said: of two that contradict each other the older said it first.
    occurred_at: str
    created_at: str
    contradicts: list[Clash]


class Report(TypedDict):
    """What became of an approved tool call."""

    status: Literal["done", "failed", "skipped"]
    # In words, for people.
    detail: NotRequired[str]
    # Any JSON of at most 16,384 bytes.
    result: NotRequired[Any]


class ResearchBody(TypedDict):
    """A verdict to act upon."""

    verdict: str
    topic: NotRequired[str]


class Researched(TypedDict):
    """What to look up after a verdict, and what was found."""

    id: str
    state: Literal["waiting", "finished", "failed"]
    topic: str
    # Of the assessment.
    language: Literal["en", "zh-Hant", "zh-Hans"]
    # Three: what to do, what to find, what to check.
    questions: list[str]
    # Finished without it: no search is configured, the questions stand alone.
    searched: bool
    findings: list[FindingPart]
    # Markdown, once finished; lines that begin with “>” are quoted.
    advice: str | None
    # What kept the last attempt; of a failed one, for good.
    reason: Literal["reach", "refused", "answer", "interrupted"] | None
    created_at: str
    ended_at: str | None


class ResolveBody(TypedDict):
    """Nothing, or the problem's session."""

    # Where `?session=` is not given.
    session: NotRequired[str | None]


class ResponseBody(TypedDict):
    """A response as an agent posts it; only `response` is required."""

    # The agent's whole text; may be empty.
    response: str
    # The idempotency key where no header gives one: a UUID; it must never recur.
    id: NotRequired[str | None]
    # What the response wants done. [] means nothing; null: tags are parsed from `response`.
    items: NotRequired[list[ItemBody | ToolCallBody | QuestionBody] | None]
    # The user's message that the response answers.
    user_message: NotRequired[str | None]
    # The conversation this belongs to: what was said, given and tried before counts within it. Without one it continues
    # none.
    session: NotRequired[str | None]
    # The agent's own count of its turns.
    cycle: NotRequired[int | None]
    # The behaviour the agent chose for this turn.
    mode: NotRequired[str | None]
    # What was done, in a line.
    action: NotRequired[str | None]
    # What it is about.
    topics: NotRequired[list[str] | None]
    # The slug of the thought thread it pursues.
    thread: NotRequired[str | None]
    # The problem it works on, for the stuck counters.
    problem: NotRequired[str | None]
    # How it tries to solve the problem, in a line.
    approach: NotRequired[str | None]
    # Errors met in this turn.
    errors: NotRequired[list[str] | None]
    # The command that was run.
    command: NotRequired[str | None]
    # What the command printed.
    command_output: NotRequired[str | None]
    # Whether the command failed.
    command_failed: NotRequired[bool | None]
    # How the problem ended; null while it goes on.
    outcome: NotRequired[Literal["resolved", "failed"] | None]
    # The share of the context window in use, 0 to 1.
    context_used: NotRequired[float | None]
    # How the tests stand.
    tests: NotRequired[TestsBody | None]
    # When something was last committed.
    last_commit_at: NotRequired[str | None]
    # What memory was found.
    retrieval: NotRequired[RetrievalBody | None]
    # The held item this response looks at again.
    replies_to_held: NotRequired[str | None]
    # When the response was made.
    occurred_at: NotRequired[str | None]
    # What comes back with whatever is told of it: at most 4,096 bytes of JSON.
    metadata: NotRequired[dict[str, Any] | None]


class RetrievalBody(TypedDict):
    """What the agent's memory gave for this response."""

    # Each from 0 to 1.
    scores: NotRequired[list[float] | None]
    facts: NotRequired[int | None]
    topic_mentions: NotRequired[int | None]
    identity_covered: NotRequired[bool | None]


class Rule(TypedDict):
    """What the rules say; what they do not pass goes to the chairman."""

    approved: bool
    objections: list[Objection]
    entities: list[str]
    needs: list[str]


class SchedulePart(TypedDict):
    """When the agent's next cycle should come, since something was held."""

    next: str
    reason: str


class SecondLook(TypedDict):
    """An agent's decision about its own held item."""

    verdict: Literal["approve", "edit", "answer", "reject", "withdraw"]
    # The edited text; with `edit` only.
    text: NotRequired[str | None]
    # Of a tool call, which only a person approves or edits.
    arguments: NotRequired[Any]
    # To a question, which only a person answers.
    answer: NotRequired[Any]
    # Why; needed to approve or edit.
    reason: NotRequired[str]
    # Of the item as you read it.
    version: NotRequired[int | None]
    # Of the text as you read it.
    sha256: NotRequired[str | None]


class SignalPart(TypedDict):
    """One reason to hesitate."""

    type: Literal[
        "absolute-claim",
        "error-pattern",
        "no-hedge",
        "overconfidence",
        "no-source",
        "wrong-sum",
        "hidden-text",
        "done-while-failing",
    ]
    detail: str
    # 0: a hint, which adds nothing to the score.
    weight: int
    # At most 256.
    spans: list[SpanPart]


class SpanPart(TypedDict):
    """Where the evidence stands: Unicode code points, end exclusive."""

    start: int
    end: int
    text: str
    # The item in whose text it stands; without it, in `response`.
    item: NotRequired[int | None]


class StepBody(TypedDict):
    """What there is to say about a step."""

    # An entry of the trail, in one line.
    note: NotRequired[str]
    # What comes next.
    next: NotRequired[str]


class StuckPart(TypedDict):
    """How stuck the work on a problem looks, in points."""

    problem: str
    points: int
    threshold: int
    # Ask whether to think twice; stays true until somebody answers.
    suggest: bool
    # A person has said yes.
    invoke: bool
    prompt: str
    signals: list[StuckSignalPart]


class StuckSignalPart(TypedDict):
    """One sign of being stuck, counted once until the problem is resolved."""

    type: str
    weight: int
    detail: str
    # What was seen, and in which step of the problem.
    evidence: dict[str, Any]


class TestsBody(TypedDict):
    """How the tests stood after this response."""

    passed: int
    failed: int


class ThinkTwiceBody(TypedDict):
    """A person's answer, or what came of it: one of the two."""

    # Where `?session=` is not given.
    session: NotRequired[str | None]
    answer: NotRequired[Literal["yes", "no"] | None]
    outcome: NotRequired[Literal["helped", "did-not-help"] | None]


class Thread(TypedDict):
    """A thought thread."""

    # Letters and digits of any script.
    slug: str
    title: str
    state: Literal["active", "paused", "resolved"]
    touches: int
    next: str
    created_at: str
    touched_at: str
    resolved_at: str | None
    # Oldest first; in lists, the last three.
    trail: list[Entry]


class ThreadBody(TypedDict):
    """A thread to begin."""

    title: str
    # Made from the title without it.
    slug: NotRequired[str | None]
    # An entry of the trail, in one line.
    note: NotRequired[str]
    # What comes next.
    next: NotRequired[str]


class ThreadPage(TypedDict):
    items: list[Thread]
    next: str | None


class ThreadPart(TypedDict):
    """What became of a step that the response wanted with a thought thread, or that it was counted as a touch."""

    # The item that wanted it; null for a touch.
    item: int | None
    # The thread's slug.
    thread: str
    # create, progress, pause, resume or resolve, else as the tag had it; touch.
    op: str
    done: bool
    # After it; null when it was not done.
    state: Literal["active", "paused", "resolved"] | None
    touches: int | None
    # What a touch was recognised by.
    by: Literal["field", "name", "words"] | None
    # Why it was not done.
    reason: str | None
    # What it was recognised by.
    spans: list[SpanPart]


class Told(TypedDict):
    """A decision as the next cycle hears of it."""

    id: str
    seq: int
    held: str
    kind: str
    verdict: Literal["approve", "edit", "answer", "reject", "withdraw", "expire"]
    reason: str
    # Of an edit: what was released in place of yours. Of an answer: its JSON, as text.
    text: str | None
    # How the item's own text began. Released only where the verdict is `approve`.
    excerpt: str
    by: Literal["person", "agent", "system"]
    decided_at: str
    # As in a decision.
    permission: Literal["given", "post", "used"] | None


class ToolCallBody(TypedDict):
    """An action of the agent's framework, before it is done."""

    # tool_call, in any case.
    kind: str
    # The tool's name.
    name: str
    # What it is called with: any JSON.
    arguments: Any
    # The framework's own id of this call.
    call_id: NotRequired[str | None]
    # The JSON Schema that an edit of the arguments must meet. One of more than 65,536 bytes is left out, and the held
    # item says that it is not checked by it.
    schema: NotRequired[dict[str, Any] | None]
    # True: there is a schema, and it is too large to be sent.
    schema_omitted: NotRequired[bool | None]
    # What the call is for, in words for whoever decides.
    description: NotRequired[str | None]
    # The tool's MCP annotations, such as `destructiveHint`: at most 4,096 bytes of JSON. They allow nothing, unless the
    # policy trusts the tool's server.
    annotations: NotRequired[dict[str, Any] | None]
    # True: hold it for a person, whatever the rules and the heuristics say.
    require_review: NotRequired[bool | None]
    # Seconds until it expires undecided, at most the policy's `expiry_seconds`.
    expires_in: NotRequired[int | None]
    # What comes back with whatever is told of it: at most 4,096 bytes of JSON.
    metadata: NotRequired[dict[str, Any] | None]


class WithdrawBody(TypedDict):
    """Nothing more to say."""
