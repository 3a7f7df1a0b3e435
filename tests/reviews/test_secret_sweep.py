"""Every field of a post that can carry text holds a secret of its own: none of them is on any way out to people."""

from __future__ import annotations

import hashlib
import html
import io
import itertools
import json
import re
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone, translation

from metacog.accounts import tokens
from metacog.heuristics.text.matcher import standing_in
from metacog.heuristics.tool_calls.secret_shapes import SHAPES, use_own
from metacog.models import Agent, AuditEvent, Channel, Membership, Notice, Policy, Role, Team, User
from metacog.notices import notices
from metacog.runtime.logs import Line
from reviews.held import decisions, talk
from reviews.investigation import extensions
from reviews.learning import sweep
from reviews.metrics import daily
from reviews.models import AgentResponse, Decision, Delivery, ExtensionRequest, HeldItem, Sample
from reviews.models.deliveries import TEAM_EVENTS
from reviews.outbox import event_texts, notification_texts, webhooks
from tests.conftest import Caller
from tests.test_every_page import MOST, ROWS, addresses

# A secret of each shape; {r} is what is random in it.
FORMS = {
    "metacog, an agent's key": "mck_{r}",
    "metacog, a person's token": "mcp_A1{r}",
    "signing secret": "whsec_{r}",
    "GitHub": "ghp_{r}",
    "GitHub, fine-grained": "github_pat_11{r}",
    "GitLab": "glpat-{r}",
    "AWS": "AKIA{R}",
    "Google": "AIza{r}",
    "Slack": "xoxb-123456789012-{r}",
    "Slack, a webhook": "https://hooks.slack.com/services/T01234567/B01234567/{r}",
    "Discord, a webhook": "https://discord.com/api/webhooks/12345/{r}",
    "Stripe": "sk_live_{r}",
    "OpenAI, Anthropic and their like": "sk-ant-api03-{r}",
    "Hugging Face": "hf_{r}",
    "npm": "npm_{r}",
    "PyPI": "pypi-AgEI{r}",
    "DigitalOcean": "dop_v1_{r}",
    "SendGrid": "SG.{r}.{r}",
    "Vault": "hvs.{r}",
    "Shopify": "shpat_{r}",
    "Databricks": "dapi{r}",
    "others by how they begin": "gsk_{r}",
    "others by how long they are": "r8_{r}",
    "others to base 16": "SK{r}",
    "Cloudflare": "v1.0-0123456789abcdef01234567-{r}{r}",
    "Airtable": "patABCDEFGHIJKLMN.{r}{r}",
    "Azure": "abc8Q~{r}",
    "Facebook": "EAAx{r}{r}",
    "Resend": "re_12345678_{r}",
    "Telegram, a bot": "123456789:AAx{r}",
    "Terraform": "abc.atlasv1.{r}",
    "JSON Web Token": "eyJhbGci{r}.eyJzdWIi{r}.{r}",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\n{r}\n-----END RSA PRIVATE KEY-----",
    "PuTTY, a private key": "Private-Lines: 1\n{r}\nPrivate-MAC: {r}",
    "password in an address": "postgres://app:{r}@db/x",
    "password in an encoded address": "postgres%3A%2F%2Fapp%3A{r}%40db",
    "signature in an address": "https://x.example/y?a=1&sig={r}",
    "authorization": "Authorization: Bearer {r}",
    "SQL, an account": "CREATE USER x IDENTIFIED BY '{r}'",
    "curl, an account": "curl -u bob:{r} https://x.example",
    "mysql, an account": "mysql -u root -p{r} db",
    ".netrc, an account": "login bob password {r}",
    ".pgpass, an account": "db:5432:app:bob:{r}",
    "sshpass, redis-cli": "sshpass -p {r} ssh x",
    "by name": "DB_PASSWORD={r}",
    "by name, quoted": 'password: "{r}"',
    "by an option": "run --token {r} now",
    "the operator's": "ACME-{r}",
}
LEAST = 12  # characters in a row of what is random that give a secret away
WORDS = "The cause is clearly the cache, says"


class Cut:
    """Gives a secret for a field, each of its own, one shape after the other."""

    def __init__(self, first: int) -> None:
        self.fields: dict[str, str] = {}  # by what is random
        self._forms = itertools.islice(itertools.cycle(FORMS.values()), first, None)

    def __call__(self, field: str, *, line: bool = False, word: bool = False) -> str:
        """Return a secret; without line breaks for a `line`, nor blanks for a `word`."""
        form = next(
            each for each in self._forms if not ((line or word) and "\n" in each) and not (word and " " in each)
        )
        random = hashlib.sha256(f"{field} {len(self.fields)}".encode()).hexdigest()[:32]
        self.fields[random] = f"{field}: {form}"
        return form.format(r=random, R=random.upper())


def test_each_shape_is_cut() -> None:
    assert [*FORMS][: len(SHAPES)] == [shape.name for shape in SHAPES]


def call(cut: Cut, name: str) -> dict[str, Any]:
    """Return a tool call, every text of which holds a secret."""
    return {
        "kind": "tool_call",
        "name": f"tool {cut(f'{name} name', line=True)}"[:255],
        "call_id": f"call {cut(f'{name} call_id', line=True)}"[:255],
        "arguments": {
            "text": f"with\n{cut(f'{name} argument')} in it",
            "command": cut(f"{name} command"),
            "list": [cut(f"{name} argument in a list"), ["--password", cut(f"{name} option")]],
            "inner": {"deep": {"note": cut(f"{name} argument within")}, "json": json.dumps({"x": cut(f"{name} JSON")})},
            f"key\n{cut(f'{name} key of an argument')}": 1,
            "password": cut(f"{name} password"),
            "old_string": f"a\n{cut(f'{name} old text')}\nb", "new_string": f"a\n{cut(f'{name} new text')}\nc",
            "file_path": f"/srv/{cut(f'{name} path', word=True)}",
            "to": f"{cut(f'{name} recipient')}", "url": f"https://x.example/?q={cut(f'{name} address', word=True)}",
        },
        "description": f"Deploy with {cut(f'{name} description')}",
        "annotations": {"title": cut(f"{name} annotation")},
        "metadata": {"run": f"r {cut(f'{name} metadata')}", f"{cut(f'{name} key of metadata')}": "x"},
        "schema": {
            "type": "object", "description": cut(f"{name} schema"), "title": cut(f"{name} title of schema"),
            "properties": {
                "text": {"type": "string", "default": cut(f"{name} default"), "examples": [cut(f"{name} example")]},
                "mode": {"enum": [cut(f"{name} enum"), "b"]}, "c": {"const": cut(f"{name} const")},
            },
        },
    }  # fmt: skip


def around(cut: Cut, name: str) -> dict[str, Any]:
    """Return what stands around a response's items, every text of which holds a secret."""
    return {
        "user_message": f"No, {cut(f'{name} user_message')} is wrong, use {cut(f'{name} user_message, again')}.",
        "session": f"s {cut(f'{name} session', line=True)}", "mode": cut(f"{name} mode", line=True),
        "action": f"use {cut(f'{name} action')}", "topics": ["cache", cut(f"{name} topic", line=True)],
        "problem": f"bug {cut(f'{name} problem', line=True)}", "approach": f"with {cut(f'{name} approach')}",
        "errors": [f"denied: {cut(f'{name} error')}"], "command": f"x; {cut(f'{name} command')}",
        "command_output": f"failed with {cut(f'{name} command_output')}", "command_failed": True,
        "metadata": {"run": cut(f"{name} metadata"), "deep": {"list": [cut(f"{name} metadata within")]}},
    }  # fmt: skip


def question(cut: Cut, name: str) -> dict[str, Any]:
    return {
        "kind": "question", "text": f"Which of these? {cut(f'{name} text')}",
        "choices": [f"A {cut(f'{name} choice')}", f"B {cut(f'{name} other choice')}"],
        "metadata": {"run": cut(f"{name} metadata")}, "attributes": {"why": cut(f"{name} attribute")},
    }  # fmt: skip


def post(kuro: Caller, cut: Cut, number: int) -> None:
    """Post all that an agent can."""
    name = partial(str.format, "{1} {0}", number)
    kinds = ("chat", "remember", "task", "action", "ask", "schedule", "strange")
    items = [
        {
            "kind": kind, "text": f"{WORDS} {cut(f'{kind} {number}')} of {kind}.", "require_review": True,
            "attributes": {"to": cut(f"attribute of {kind} {number}")}, "metadata": {"m": cut(f"metadata of {kind}")},
        }
        for kind in kinds
    ]  # fmt: skip
    calls = [call(cut, name(each)) for each in ("call", "second call", "third call")]
    kuro.respond(
        f"{WORDS} {cut(name('response'))}.", items=[*items, *calls, question(cut, name("question"))],
        cycle=number, id=cut(name("id"), word=True), **around(cut, name("around")),
    )  # fmt: skip
    tags = "".join(
        f'<kuro:{kind} to="{cut(f"attribute of tag {kind}", word=True)}">{WORDS} {cut(f"tag {kind}")} '
        f"in a tag</kuro:{kind}>"
        for kind in kinds
    )
    title = f"Rotate {cut(name('title in a tag'), word=True)} soon"
    tags += f'<kuro:thread title="{title}" next="{cut(name("next"), word=True)}">{cut(name("note"))}</kuro:thread>'
    kuro.respond(f"{cut(name('before tags'))} {tags}", items=None, **around(cut, name("around tags")))
    kuro.respond(f"I go on: {title}. [CHAT]{WORDS} {cut(name('bracket'))}[/CHAT]", items=None)
    alone = {"session": f"alone {cut(name('session of a call'), line=True)}"}
    kuro.respond("", items=[call(cut, name("call alone"))], **alone)
    kuro.respond("", items=[question(cut, name("question alone")) | {"choices": None}], **alone)
    title = f"Keys {cut(name('title'), line=True)}"
    kuro.post("/threads", {"title": title, "note": cut(name("thread note")), "next": cut(name("thread next"))})
    kuro.respond(f"About {title}: more of it.", items=[])
    about = {"session": cut(name("extension session"), line=True), "problem": cut(name("extension problem"), line=True)}
    memory = f"The region is eu-{number}, the key {cut(name('memory'))}."
    kuro.post("/memory", {"text": memory, "topic": cut(name("topic"), line=True), "source": cut(name("source"))})
    kuro.post("/memory", {"text": f"The region is not eu-{number}, the key {cut(name('other memory'))}."})
    evidence = [cut(name("evidence")), {"x": cut(name("evidence within"))}]
    kuro.post("/extensions", about | {"reason": f"{memory} Why {cut(name('reason'))}?", "evidence": evidence})
    verdict = (
        f"We must rotate {cut(name('verdict'))} now. “{cut(name('quoted in a verdict'), line=True)}” grew by 48 % with "
        f"{cut(name('verdict, again'))}. {'Some more words. ' * 12}{cut(name('at the end of the quote'))}"
    )
    kuro.post("/research", {"verdict": verdict, "topic": f"Keys {cut(name('topic of research'), line=True)}"})
    kuro.post("/confidence", {"session": about["session"], "topics": [cut(name("topic of confidence"), line=True)]})


def decide(kuro: Caller, agent: Agent, cut: Cut, alice: User, carla: User) -> None:
    """Decide some of what waits, with a secret in whatever a person types."""
    words = iter(HeldItem.objects.exclude(kind__in=HeldItem.NO_WORDS).order_by("pk"))
    rejected, edited, approved, commented = (next(words) for _ in range(4))
    talk.comment(commented, alice, f"@carla is {cut('comment')} yours?")
    decisions.decide(rejected, alice, "reject", reason=f"Nobody measured the cache with {cut('reason of rejection')}.")
    decisions.decide(
        edited, alice, "edit", edit=f"Maybe {cut('edit')}.", reason=cut("reason of edit"), accept_risk=True
    )
    decisions.decide(approved, alice, "approve", reason=cut("reason of approval"))
    calls = HeldItem.objects.filter(kind="tool_call").order_by("pk")
    for held, verdict in zip(calls, ("approve", "edit", "reject"), strict=False):
        how: dict[str, Any] = {"reason": cut(f"reason to {verdict} a call")}
        if verdict == "edit":
            arguments = held.call.arguments | {"text": cut("edited argument"), "more": {"x": cut("new argument")}}
            how |= {"edit": decisions.Arguments(arguments), "accept_risk": True}
        decisions.decide(held, alice, verdict, **how)
    asked = [*HeldItem.objects.filter(kind="question").order_by("pk")]
    decisions.decide(asked[0], alice, "answer", edit=decisions.Answer(asked[0].question.choices[0]), reason="")
    decisions.decide(asked[1], alice, "answer", edit=decisions.Answer(f"Take {cut('answer')}"), reason="")
    extension = ExtensionRequest.objects.filter(state="pending").first()
    if extension:
        told = {"answer": cut("answer to an extension"), "guidance": cut("guidance")}
        extensions.decide(extension, alice, is_approved=False, granted=0, **told)
    Decision.objects.update(release_at=timezone.now())
    decisions.settle(agent)
    for held in calls.filter(state__in=("approved", "edited")):
        outcome = {"status": "failed", "detail": cut("outcome"), "result": {"out": [cut("outcome's result")]}}
        assert kuro.post(f"/held/{held.public_id}/outcome", outcome).status_code < 300


@pytest.fixture
def swept(kuro: Caller, olga: User, alice: User, carla: User, settings: Any, first: int) -> Iterator[Any]:
    """Let there be a secret in every field, each of another shape; give what tells which of them stand in a text."""
    settings.SEARXNG_URL = ""
    use_own([r"ACME-\w+"])
    Team.objects.update(mail_texts=True, mail_links=True, names_people=True)
    Policy.objects.update(hold_words_with_calls=False)
    agent = Agent.objects.get(public_id=kuro.id)
    agent.callback_url = "http://kuro.example/"
    agent.save(update_fields=["callback_url"])
    notices.set_channel(agent.team, olga, url="https://chat.example/x", minutes=1, language="en", texts=True)
    webhooks.add(agent.team, olga, url="https://hook.example/x", events=[*TEAM_EVENTS])
    cut = Cut(first)
    post(kuro, cut, 0)
    decide(kuro, agent, cut, alice, carla)
    response = AgentResponse.objects.earliest("pk")
    Sample.objects.create(response=response, agent=agent, day=response.received_at.date())
    sweep.learn()
    daily.count_days(timezone.now())
    parts = {random[at : at + LEAST]: field for random, field in cut.fields.items() for at in range(33 - LEAST)}
    found = standing_in([*parts])

    def leaks(text: str) -> set[str]:
        lowered = text.lower()
        bare = re.sub(r"<[^<>]*>", "", lowered) if "<" in lowered else ""
        return {parts[part] for part in (*found(lowered), *found(bare))}

    yield leaks
    use_own([])


def told(answer: Any) -> str:
    content: bytes = b"".join(answer) if answer.streaming else answer.content
    return f"{dict(answer.headers)} {content.decode()}"


def more() -> Iterator[str]:
    """Give the addresses of pages with what may be asked of them; of items, one of each sort in each state."""
    items = HeldItem.objects.all()
    yield "/queue/together/?" + "&".join(f"held={held.public_id}" for held in items)
    for held in {(held.kind in HeldItem.NO_WORDS and held.kind, held.state): held for held in items}.values():
        for query in ("?edit=1", "?edit=json", "?reveal=", "?reveal=/password", "next?now"):
            yield f"/queue/{held.public_id}/{query}"
    for state in ("held", "decided"):
        yield f"/queue/?state={state}"
        yield from (f"/queue/export?state={state}&format={form}" for form in ("csv", "jsonl"))
    for form in ("csv", "jsonl"):
        yield f"/responses/export/?format={form}"
        yield f"/search/export/?q=cache&format={form}"
    for query in ("cache", "tool", "measured", "rotate", "region", "denied", "keys", "bug"):
        yield from (f"{page}?q={query}" for page in ("/search/", "/palette", "/memory/"))
    for response in AgentResponse.objects.all()[:3]:
        yield from (f"/responses/{response.public_id}/?{query}=1" for query in ("reveal", "replay"))


SESSION = re.compile(r'href="(/sessions/[^/"]*/(?:export)?[?]session=[^"#&]*(?:&amp;format=\w+)?)["#&]')


def pages(client: Client) -> Iterator[tuple[str, str]]:
    """Open each page, and what leads from it to a session; what takes forms only is the same for every row."""
    left = dict.fromkeys(path for _, path in addresses(MOST)) | dict.fromkeys(more())
    names, opened, no_pages = {path: name for name, path in addresses(MOST)}, set[str](), set[str]()
    while left:
        path, _ = left.popitem()
        opened.add(path)
        if names.get(path) in no_pages:
            continue
        answer = client.get(path)
        assert answer.status_code < 500, path
        if answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            no_pages.add(names[path])
        page = told(answer)
        there = [answer.headers.get("Location", ""), *map(html.unescape, SESSION.findall(page))]
        left |= dict.fromkeys(each for each in there if each.startswith("/") and each not in opened)
        yield path, page


@pytest.mark.parametrize(("first", "role"), [(0, Role.VIEWER), (17, Role.OWNER)])
def test_no_page_and_no_file_shows_one(swept: Any, aurora: Any, role: str) -> None:
    person = User.objects.create_user("reader")
    Membership.objects.create(user=person, team=aurora, role=role)
    client = Client(raise_request_exception=False)
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    read = dict(pages(client))
    assert [f"{path}: {each}" for path, page in read.items() for each in swept(page)] == []
    assert any(path.startswith("/sessions/") and "sealed." in path and "<li" in page for path, page in read.items())
    assert not AuditEvent.objects.filter(action__endswith="-revealed").exists()


@pytest.mark.parametrize("first", [5])
def test_no_call_of_the_api_gives_one_to_a_person(swept: Any, victor: User) -> None:
    _, token = tokens.issue(victor, name="script", scopes=["read", "decide"], days=7)
    program = Caller("", token, "")
    found, paths = [], json.loads(Client().get("/api/v1/openapi.json").content)["paths"]
    for path in (path.removeprefix("/api/v1") for path, calls in paths.items() if "get" in calls):
        names = re.findall(r"\{(\w+)\}", path)
        rows = itertools.product(*(list(ROWS.get(name, lambda: ["x"])()) for name in names))
        found += [path.format(**dict(zip(names, row, strict=True))) for row in rows]
    found += ["/review/queue?state=decided", "/review/queue?order=age", "/review/grants?state=all"]
    answers = {path: told(program.get(path)) for path in found}
    assert any('"response_text"' in answer for answer in answers.values())
    assert [f"{path}: {each}" for path, answer in answers.items() for each in swept(answer)] == []


@pytest.mark.parametrize("first", [11])
def test_none_is_sent_written_or_printed(
    swept: Any, alice: User, olga: User, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    items, now = HeldItem.objects.all(), timezone.now()
    texts = {f"webhook {row.type} {row.pk}": row.body for row in Delivery.objects.exclude(webhook=None)}
    assert {"item.held", "item.decided", "extension.requested"} <= {name.split()[1] for name in texts}
    for language, person in itertools.product(("en", "zh-hant"), (alice, olga)):
        with translation.override(language):
            letter = notification_texts._letter(person, items, items, 1, now)
            texts[f"letter to {person}, {language}"] = letter.subject + letter.text + str(letter)
    channel = Channel.objects.get()
    texts["chat"] = notification_texts.message_of(channel, items, items, now)
    texts |= {f"chat {row.kind}": event_texts.message_of(channel, row) for row in Notice.objects.all()}
    texts |= {f"log {number}": Line().format(record) for number, record in enumerate(caplog.records)}
    log = tmp_path / "log.jsonl"
    said = {"role": "assistant", "content": f"It is absolutely certain: {items[0].text}", "tool_calls": []}
    log.write_text(json.dumps({"messages": [said]}) + "\n")
    for words in (
        ("export", "decisions"), ("export", "decisions", "--format", "csv"), ("audit", "export"), ("import_log", log),
        ("import_log", log, "--json"), ("rescore",),
    ):  # fmt: skip
        out = io.StringIO()
        call_command(*map(str, words), stdout=out)
        texts[" ".join(map(str, words))] = out.getvalue()
    assert [f"{name}: {each}" for name, text in texts.items() for each in swept(text)] == []
