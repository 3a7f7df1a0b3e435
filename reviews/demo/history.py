"""Weeks of invented history, by the functions through which everything real comes.

Posts, decisions, undos, second looks, expiries and seals are planned as moments and then played in
order under a clock that is set to each, so that every row, id and audit event is as it would be.
"""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from django.conf import settings
from django.db import models

from metacog.accounts import agents, members
from metacog.audit import audit, chain
from metacog.heuristics.signals import DEFAULTS
from metacog.heuristics.text.reading import seconds_to_read
from metacog.http import problems
from metacog.models import Agent, Policy, Role, Team, User
from patterns import stuck_state
from patterns.lessons import lessons
from patterns.memory import memory
from patterns.models import ErrorPattern, Lesson, Problem
from patterns.patterns import exchange, lifecycle
from reviews.demo import called
from reviews.demo.clock import Clock
from reviews.demo.investigated import ASKED, HANDCARDS, REMEMBERED, Answered, Asked, Remembered
from reviews.demo.known_errors import KNOWN_ERRORS, as_file
from reviews.demo.mistakes import CORRECTED, RECANTED, REJECTED, TRIED, Corrected, Recanted, Rejected
from reviews.demo.pursued import PURSUED, STAYED_WITH, TURNS, Pursuit
from reviews.demo.routine import ROUTINE, SPREAD, TAKES_BACK, TEMPO
from reviews.demo.taught import ANSWERED, DAYS, RESEARCHED, TAUGHT, WRITTEN, Taught
from reviews.demo.voices import FORGE, KURO, PILOT, ROBIN, Said, Turn, Voice
from reviews.held import decisions, grants, outcomes
from reviews.intake import knowledge
from reviews.intake.ingest import receive
from reviews.investigation import extensions, research
from reviews.learning import contrast, reflections, sweep
from reviews.metrics import daily, review_time, sampling, weight_fits
from reviews.models import AgentResponse, Decision, ExtensionRequest, HeldItem, Sample
from reviews.risk import learning as risk

TEAM = "Harbour Lane"
BEGUN = "demo-begun"  # the first event of a demo's audit record, and of no other
SEED = 20_260_216

VOICES = (ROBIN, FORGE, KURO, PILOT)
RISKY = 0.055  # of the posts
LOOKS = 0.15  # of what is held is decided by the agent's second look
EXPIRES = 0.05
TAKEN_BACK = 0.08  # of people's decisions
POSTED_AGAIN = 0.4  # of what was approved
REPORTED = 0.85  # of approved calls: their agent says what became of them
GRANT_TRIED = (30, 54, 70)  # hours before the end; the first that is approved then gives the grant
GRANTED_WITHIN = timedelta(days=4)
LOOKED_AT_FIRST = 0.35  # of what people decide: the agent says before them what it thinks of it now

# Who decides what an agent wrote: (username, first and last name, role), and how often.
PEOPLE = (
    ("ines", "Inês", "Ferreira", Role.REVIEWER),
    ("marek", "Marek", "Zielinski", Role.REVIEWER),
    ("yating", "Ya-ting", "Lin", Role.CURATOR),
)
REVIEWERS = {"robin": {"ines": 6, "marek": 4}, "forge": {"marek": 7, "yating": 3}, "kuro": {"yating": 9, "ines": 1},
             "pilot": {"marek": 1}}  # fmt: skip
OFFICE_HOURS = (7, 18)  # of the reviewers, in UTC, Monday to Friday

# What waits for the newcomer: how many minutes ago, whose, and which of its risky turns.
WAITING = (
    (4, ROBIN, 0), (13, FORGE, 1), (27, KURO, 1), (52, ROBIN, 3), (95, FORGE, 3), (140, KURO, 7), (260, ROBIN, 5),
    (430, FORGE, 5), (700, ROBIN, 1), (1_150, KURO, 2), (1_900, FORGE, 2), (2_900, ROBIN, 4), (4_000, KURO, 4),
)  # fmt: skip


class Circle(NamedTuple):
    """A problem that forge goes round in circles with."""

    minutes: int  # ago it began
    key: str
    is_over: bool
    approach: str
    command: str
    error: str
    asked: str
    steps: tuple[str, ...]


CIRCLES = (
    Circle(
        6 * 1_440, "cache-stampede", True,
        "raise the timeout of the cache client", "make load-test", "TimeoutError: cache read took 2000 ms",
        "The checkout is slow again since the sale began. Do not touch the database.",
        ("I raised the timeout and ran the load test: p99 is as before.",
         "Raised it once more. For some reason the same reads still time out.",
         "Raised it to 2 s. Strangely, nothing changes.",
         "I'm out of ideas: the timeout is not it.",
         "A fresh look found it: every miss asked the database at once. One reader now fills the entry; p99 is 80 ms."),
    ),
    Circle(
        44, "retry-test-at-night", False,
        "wait longer before the retry", "pytest -x tests/test_retry.py", "AssertionError: expected 3 attempts, got 2",
        "test_retry fails every night and passes in the morning. It must be green before Friday's release.",
        ("I made the test wait 2 s before the retry. It failed the same way.",
         "Waiting 5 s: the same assertion.",
         "I'm not sure why this isn't working; with 10 s it is the same.",
         "Let me try a completely different approach."),
    ),
)  # fmt: skip
QUIET = timedelta(hours=30)  # before the end: nothing else risky is said that nobody would have decided yet


def begin() -> Team:
    """Begin the record of a demo with its team."""
    audit.record(BEGUN, "demo", actor=None, team=None)
    return members.add_team(TEAM, None)


def _calls(voice: Voice) -> dict[str, Any]:
    """Return the part of an agent's policy that decides on its tool calls."""
    return {"rules": list(called.RULES[voice.name]), "packs": list(called.PACKS[voice.name])}


Tell = Callable[[str, int, int], None]  # what is done; how much of it, of how much


def gather(team: Team, owner: User) -> str:
    """Add the people and agents to the team; return robin's API key."""
    for username, first, last, role in PEOPLE:
        membership, _ = members.add_member(team, username, role, owner)
        person = membership.user
        person.first_name, person.last_name = first, last
        person.save(update_fields=["first_name", "last_name"])
    keys = {}
    for voice in VOICES:
        _, keys[voice.name], _ = agents.create_agent(
            team, voice.name, owner, language=voice.language, packs=called.PACKS[voice.name]
        )
    return keys[ROBIN.name]


def play(team: Team, owner: User, clock: Clock, days: int, tell: Tell = lambda what, done, of: None) -> None:
    """Write `days` days of history up to the present into a team in which `gather` has been.

    The clock stands at their beginning. `tell` hears how far it is. What a visitor decides meanwhile stays decided.
    """
    _Course(team, owner, clock, clock.at + timedelta(days=days)).run(tell)


class _Course:
    """What is planned, earliest first, and who takes part."""

    def __init__(self, team: Team, owner: User, clock: Clock, end: datetime) -> None:
        self.team, self.owner, self.clock, self.begin, self.end = team, owner, clock, clock.at, end
        self.chance = random.Random(SEED)
        self.planned: list[tuple[datetime, int, Callable[[], object]]] = []
        self.order = count()
        self.cycles = {voice.name: count(1) for voice in VOICES}
        self.agents = {agent.name: agent for agent in team.agents.all()}
        self.has_granted = False
        self.people = {person.username: person for person in User.objects.filter(memberships__team=team)}
        self.risky: set[int] = set()  # the responses that ought to be held

    def plan(self, at: datetime, what: Callable[[], object]) -> None:
        """Have something happen at a moment; what would come after the end never does."""
        if at < self.end:
            heapq.heappush(self.planned, (at, next(self.order), what))

    def run(self, tell: Tell) -> None:
        for days, patterns in KNOWN_ERRORS:
            at = max(self.begin, self.end - timedelta(days=days)) + timedelta(minutes=30)
            raw = json.dumps(as_file(patterns, at.isoformat())).encode()
            self.plan(at, partial(exchange.take, self.team, raw, self.people["yating"]))
        self.plan(self.begin + (self.end - self.begin) * 0.3, self.lower_threshold)
        self.plan(self.begin + (self.end - self.begin) * 0.6, self.read_words_in_their_sense)
        for voice in (ROBIN, FORGE, KURO):
            self.plan_posts(voice)
        self.plan_routine()
        self.plan_calls()
        for minutes, voice, number in WAITING:
            self.plan_post(self.end - timedelta(minutes=minutes), voice, voice.risky[number], is_left=True)
        for circle in CIRCLES:
            self.plan_circle(circle)
        for pursuit in PURSUED:
            self.plan_pursuit(pursuit)
        for before, text in TURNS:
            said: dict[str, object] = {"response": text, "mode": "work", "topics": [STAYED_WITH]}
            self.plan(self.end - timedelta(minutes=before), partial(self.step, FORGE, said))
        for taught in TAUGHT:
            self.plan_taught(taught)
        for voice, text in HANDCARDS:
            self.plan(self.begin + timedelta(hours=2), partial(self.write_handcard, voice, text))
        for remembered in REMEMBERED:
            self.plan_past(self.end - timedelta(days=remembered.days), partial(self.remember, remembered))
        for asked in ASKED:
            self.plan_past(self.end - timedelta(minutes=asked.minutes), partial(self.ask, asked))
        self.plan_mistakes()
        for day in daily.days_between(daily.day_of(self.begin), daily.day_of(self.end)):
            over = datetime.combine(day, time(), UTC) + timedelta(days=1)
            self.plan(over, chain.seal)
            self.plan(over, sweep.learn)
            self.plan(over + timedelta(minutes=5), lambda: self.sample(self.clock.at))
            if over > self.end - timedelta(days=DAYS):
                self.plan(over + timedelta(minutes=6), lambda: reflections.reflect_due(self.clock.at))
        self.plan(self.end - timedelta(hours=20), self.teach)
        for ago, name, verdict, topic in RESEARCHED:
            self.plan(self.end - timedelta(days=ago), partial(self.look_up, name, verdict, topic))
        for done in count(1):
            self.clock.at, _, what = heapq.heappop(self.planned)
            with suppress(decisions.Standing):  # a visitor was faster
                what()
            tell("posts, decisions and looks back", done, done + len(self.planned))
            if not self.planned:
                break
        self.clock.at = self.end
        last: list[tuple[str, Callable[[], object]]] = [
            ("daily figures", partial(daily.count_days, self.end)),
            ("review times", partial(review_time.count_days, self.end)),
            ("what decisions taught", sweep.learn),
            ("what they taught together", partial(contrast.look_due, self.end)),
            ("weights", partial(weight_fits.fit_due, self.end)),
            ("the order of risk", partial(risk.learn_due, self.end)),
            ("seals of the audit log", chain.seal),
        ]
        for done, (name, step) in enumerate(last):
            tell(f"counting up: {name}", done, len(last))
            step()
        tell("counting up", len(last), len(last))

    def sample(self, now: datetime) -> None:
        """Pick from the day that is over, and have Marek judge it the next morning, but for the last one."""
        sampling.pick_due(now)
        if now < self.end - timedelta(days=1):
            for sample in sampling.waiting(Team.objects.filter(pk=self.team.pk)).select_related("agent", "response"):
                verdict = Sample.Finding.MISSED if sample.response_id in self.risky else Sample.Finding.FINE
                self.plan(now + timedelta(hours=8), partial(sampling.judge, sample, self.people["marek"], verdict))

    def agent(self, voice: Voice) -> Agent:
        """Return the agent as a request would read it, with the versions that are in force."""
        return Agent.objects.select_related("team").get(pk=self.agents[voice.name].pk)

    def give_rules(self, voice: Voice) -> None:
        agent = self.agent(voice)
        note = "What it may do by itself, and what a person should see."
        policy = Policy(**_calls(voice), note=note)
        agents.add_policy(agent, self.owner, policy, based_on=agent.policy_version)

    def lower_threshold(self) -> None:
        agent = self.agent(FORGE)
        note = "Three marked reports of deploys turned out wrong: look at those as well."
        policy = Policy(hold_at=45, **_calls(FORGE), note=note)
        agents.add_policy(agent, self.owner, policy, based_on=agent.policy_version)

    def read_words_in_their_sense(self) -> None:
        agent = self.agent(ROBIN)
        note = "An amount or a date that nobody gave robin should say where it stands."
        policy = Policy(profile="aware", weights=dict(DEFAULTS["aware"]), **_calls(ROBIN), note=note)
        agents.add_policy(agent, self.owner, policy, based_on=agent.policy_version)

    # -- posting -----------------------------------------------------------------------------------

    def plan_posts(self, voice: Voice) -> None:
        """Spread an agent's posts over its days, with their rhythm."""
        for day in daily.days_between(daily.day_of(self.begin), daily.day_of(self.end)):
            usual = voice.a_day if day.weekday() < 5 else voice.a_weekend_day
            for _ in range(round(usual * self.chance.uniform(0.7, 1.3))):
                first, last = voice.hours if self.chance.random() < 0.93 else (0, 24)
                at = datetime.combine(day, time(), UTC) + timedelta(hours=self.chance.triangular(first, last))
                if at > self.begin + timedelta(hours=1):
                    is_risky = self.chance.random() < RISKY and at < self.end - QUIET
                    self.plan_post(at, voice, self.chance.choice(voice.risky if is_risky else voice.calm))

    def plan_routine(self) -> None:
        """Spread what is reported every working day over its hours."""
        for day in daily.days_between(daily.day_of(self.begin), daily.day_of(self.end)):
            for voice, turn, a_day in ROUTINE if day.weekday() < 5 else ():
                for _ in range(a_day):
                    at = datetime.combine(day, time(), UTC) + timedelta(hours=self.chance.uniform(*OFFICE_HOURS))
                    if at < self.end - QUIET:
                        self.plan_post(at, voice, turn)

    def plan_post(self, at: datetime, voice: Voice, turn: Turn, *, is_left: bool = False) -> None:
        if at > self.begin:
            self.plan(at, lambda: self.post(voice, turn, is_left))

    def post(self, voice: Voice, turn: Turn, is_left: bool) -> None:
        said = voice.say(turn, self.chance, next(self.cycles[voice.name]))
        held_items = self.receive(voice, said.fields)
        if turn in voice.risky:
            self.risky.add(AgentResponse.objects.filter(agent=self.agents[voice.name]).latest("pk").pk)
        for held in held_items:
            if not is_left:
                self.plan_decision(voice, said, held)

    def receive(self, voice: Voice, fields: dict[str, object]) -> models.QuerySet[HeldItem]:
        raw = json.dumps(fields, ensure_ascii=False).encode()
        try:
            verdict = json.loads(receive(self.agent(voice), raw, {}).verdict)
        except problems.Problem as problem:
            if problem.status != 429:
                raise
            # A visitor posts with the same key; to wait is to set the clock.
            self.clock.at += timedelta(seconds=int(problem.headers["Retry-After"]))
            return self.receive(voice, fields)
        return HeldItem.objects.filter(public_id__in=[item["held"] for item in verdict["items"]])

    # -- going in circles --------------------------------------------------------------------------

    def plan_circle(self, circle: Circle) -> None:
        """Have forge try the same again and again; where it is over, Marek says yes to a fresh look, and it helps."""
        begun = self.end - timedelta(minutes=circle.minutes)
        if begun <= self.begin:
            return
        key, steps = circle.key, circle.steps
        tried = {"session": "ci", "problem": key, "approach": circle.approach, "command": circle.command}
        for number, text in enumerate(steps):
            is_solved = circle.is_over and text == steps[-1]
            failed = {"command_failed": True, "errors": [circle.error], "command_output": circle.error}
            fields: dict[str, object] = {
                "response": text,
                "user_message": circle.asked,
                "mode": "work",
                **tried,
                **({"approach": "a fresh look", "outcome": "resolved"} if is_solved else failed),
            }
            self.plan(begun + timedelta(minutes=9 * number), partial(self.step, FORGE, fields))
        if circle.is_over:
            answered = begun + timedelta(minutes=9 * (len(steps) - 2) + 4)
            self.plan(answered, lambda: stuck_state.answer(self.problem(key), "yes", self.people["marek"]))
            told = begun + timedelta(minutes=9 * len(steps))
            self.plan(told, lambda: stuck_state.set_outcome(self.problem(key), "helped", self.people["marek"]))

    def step(self, voice: Voice, fields: dict[str, object]) -> None:
        self.receive(voice, {**fields, "cycle": next(self.cycles[voice.name])})

    def problem(self, key: str) -> Problem:
        return Problem.objects.select_related("agent__team").get(agent=self.agents[FORGE.name], key=key)

    # -- thought threads ---------------------------------------------------------------------------

    def plan_pursuit(self, pursuit: Pursuit) -> None:
        """Have an agent begin a thread and go on with it, in the tags of its responses."""
        for share, op, text, note in pursuit.steps:
            begun = f' title="{pursuit.title}" next="{pursuit.next}"' if op == "create" else ""
            tag = f'<kuro:thread op="{op}" id="{pursuit.slug}"{begun}>{note}</kuro:thread>'
            said: dict[str, object] = {"response": f"{text}\n{tag}", "mode": pursuit.voice.modes[0]}
            self.plan(self.begin + (self.end - self.begin) * share, partial(self.step, pursuit.voice, said))

    # -- lessons -----------------------------------------------------------------------------------

    def plan_taught(self, taught: Taught) -> None:
        """Have an agent leave something out and be corrected, or answer what it found little about."""
        for number, (days, (asked, answered, *after)) in enumerate(taught.times):
            at = self.end - timedelta(days=days)
            if at <= self.begin:
                continue
            said: dict[str, object] = {"session": f"{taught.topic} {number}", "topics": [taught.topic], "items": []}
            found = {} if after else {"retrieval": {"scores": [0.21, 0.12], "facts": 1}}
            fields = {**said, **found, "user_message": asked, "response": answered}
            self.plan(at, partial(self.step, taught.voice, fields))
            if after:
                fields = {**said, "user_message": after[0], "response": after[1]}
                self.plan(at + timedelta(minutes=2), partial(self.step, taught.voice, fields))

    def look_up(self, name: str, verdict: str, topic: str) -> None:
        research.begin(self.agents[name], verdict, topic)

    def teach(self) -> None:
        """Have Yating answer what was proposed, and write lessons of her own."""
        yating = self.people["yating"]
        for name, word, step in ANSWERED:
            for row in Lesson.objects.filter(agent=self.agents[name], text__contains=word):
                lessons.move(row, step, yating)
        for name, text, topics in WRITTEN:
            lessons.write(self.team, self.agents.get(name), text, topics, yating)

    # -- looking things up -------------------------------------------------------------------------

    def plan_past(self, at: datetime, what: Callable[[], object]) -> None:
        """Have something happen at a moment, if that is in the days that are invented."""
        if at > self.begin + timedelta(hours=3):
            self.plan(at, what)

    def write_handcard(self, voice: Voice, text: str) -> None:
        agents.set_handcard(self.agent(voice), self.people["yating"], text)

    def remember(self, what: Remembered) -> None:
        agent, said = self.agent(what.voice), memory.Said(what.text, what.topic, what.source, what.confidence)
        knowledge.remember(agent, said, memory.judge(agent, what.text))

    def ask(self, asked: Asked) -> None:
        said = extensions.Asked("run", asked.problem, asked.reason, list(asked.evidence), asked.step)
        row, _ = extensions.ask(self.agent(asked.voice), said, said.digest.encode(), None)
        if answer := asked.answered:
            at = self.clock.at + timedelta(minutes=answer.minutes)
            self.plan(at, partial(self.answer, row, answer))
        else:
            self.plan(row.expires_at, extensions.settle)

    def answer(self, row: ExtensionRequest, answer: Answered) -> None:
        extensions.decide(
            row,
            self.people[answer.person],
            is_approved=bool(answer.granted),
            granted=answer.granted,
            answer=answer.text,
            guidance=answer.guidance,
        )

    # -- mistakes ----------------------------------------------------------------------------------

    def plan_mistakes(self) -> None:
        self.plan(self.begin + (self.end - self.begin) * 0.2, self.try_out)
        scenes: list[tuple[int, Callable[[], object]]] = []
        for rejected in REJECTED:
            scenes += [(hours, partial(self.be_rejected, rejected)) for hours in rejected.hours_before]
        scenes += [(each.hours_before, partial(self.be_corrected, each)) for each in CORRECTED]
        scenes += [(each.hours_before, partial(self.be_recanted, each)) for each in RECANTED]
        for hours, scene in scenes:
            self.plan_past(self.end - timedelta(hours=hours), scene)

    def try_out(self) -> None:
        keywords, description = TRIED
        curator, source = self.people["yating"], ErrorPattern.Source.EXTERNAL
        pattern = lifecycle.add(self.team, curator, keywords=keywords, description=description, source=source)
        lifecycle.take_step(pattern, "try", curator)

    def be_rejected(self, rejected: Rejected) -> None:
        said: dict[str, object] = {"response": rejected.text, "items": [{"kind": "chat", "text": rejected.text}]}
        for held in self.speak(rejected.voice, said):
            self.soon(6, partial(self.turn_down, held, rejected.reason))

    def turn_down(self, held: HeldItem, reason: str) -> None:
        decisions.decide(held, self.people["ines"], "reject", reason=reason)
        self.plan(self.clock.at + timedelta(seconds=settings.UNDO_SECONDS), lambda: decisions.settle(held.agent))

    def be_corrected(self, corrected: Corrected) -> None:
        session = {"session": f"{corrected.voice.session}-corrected", "mode": corrected.voice.modes[0]}
        self.speak(corrected.voice, {"response": corrected.text, "user_message": corrected.asked, **session})
        reply: dict[str, object] = {"response": corrected.reply, "user_message": corrected.message, **session}
        self.soon(2, lambda: self.speak(corrected.voice, reply))

    def be_recanted(self, recanted: Recanted) -> None:
        items = [{"kind": "chat", "text": recanted.text}]
        first: dict[str, object] = {"response": recanted.text, "items": items, "user_message": recanted.asked}
        for held in self.speak(recanted.voice, first):
            second: dict[str, object] = {"response": recanted.second, "replies_to_held": held.public_id}
            self.soon(3, partial(self.speak, recanted.voice, second))

    def soon(self, minutes: int, what: Callable[[], object]) -> None:
        self.plan(self.clock.at + timedelta(minutes=minutes), what)

    def speak(self, voice: Voice, fields: dict[str, object]) -> list[HeldItem]:
        return list(self.receive(voice, {**fields, "cycle": next(self.cycles[voice.name])}))

    # -- tool calls --------------------------------------------------------------------------------

    def plan_calls(self) -> None:
        """Spread what the agents want to do over the hours of the working days."""
        chance = random.Random(SEED + 1)  # of its own: what is said stays as it was
        for voice in (ROBIN, FORGE):
            self.plan(self.begin + timedelta(minutes=20), partial(self.give_rules, voice))
        for day in daily.days_between(daily.day_of(self.begin), daily.day_of(self.end)):
            for call in called.CALLS if day.weekday() < 5 else ():
                for _ in range(int(call.a_day + chance.random())):
                    at = datetime.combine(day, time(), UTC) + timedelta(hours=chance.uniform(*OFFICE_HOURS))
                    if self.begin + timedelta(hours=1) < at < self.end - QUIET:
                        self.plan(at, partial(self.want, call, chance))
        for hours in GRANT_TRIED:
            self.plan_past(self.end - timedelta(hours=hours), partial(self.want, called.GRANTED, chance))
        for minutes, voice, question in called.QUESTIONS:
            asked: dict[str, object] = {"response": "", "items": [{"kind": "question", **question}]}
            self.plan_past(self.end - timedelta(minutes=minutes), partial(self.speak, voice, asked))
        for minutes, call in called.WAITING:
            self.plan_past(self.end - timedelta(minutes=minutes), partial(self.want, call, chance, is_left=True))

    def want(self, call: called.Call, chance: random.Random, *, is_left: bool = False) -> None:
        """Have an agent ask for a call, and people decide it where it waits."""
        item = call.asked(chance)
        cycle = next(self.cycles[call.voice.name])
        name, days = called.LONG
        is_long = call.voice.name == name and self.clock.at > self.end - timedelta(days=days)
        fields: dict[str, object] = {
            "response": call.said,
            "items": [item],
            "session": f"{call.voice.session}-{'release' if is_long else f'work-{cycle // 4}'}",
            "metadata": {"run": f"{call.voice.name}-{self.clock.at:%m%d}"},
            "cycle": cycle,
        }
        for held in self.receive(call.voice, fields):
            if not is_left:
                minutes = chance.lognormvariate(1.6, 1.0)
                at = in_office(self.clock.at + timedelta(minutes=minutes), chance)
                self.plan(at, partial(self.decide_call, call, held, item, chance))

    def decide_call(self, call: called.Call, held: HeldItem, item: dict[str, object], chance: random.Random) -> None:
        held.refresh_from_db()
        if held.state != HeldItem.State.PENDING:
            return
        names, weights = zip(*REVIEWERS[call.voice.name].items(), strict=True)
        person = self.people[chance.choices(names, weights)[0]]
        mood = chance.random()
        if mood < call.rejected:
            decisions.decide(held, person, "reject", reason=chance.choice(call.why))
        elif mood < call.rejected + call.edited:
            arguments = {**held.call.arguments, **call.better}
            decisions.decide(held, person, "edit", edit=decisions.Arguments(arguments), accept_risk=True)
        else:
            self.approve_call(call, held, person, chance)
            if chance.random() < POSTED_AGAIN:  # and makes it once it may
                again: dict[str, object] = {
                    "response": call.said,
                    "items": [item],
                    "session": held.response.session,
                    "cycle": next(self.cycles[call.voice.name]),
                }
                after = self.clock.at + timedelta(seconds=settings.UNDO_SECONDS + 20)
                self.plan(after, lambda: self.receive(call.voice, again))
        self.plan(
            self.clock.at + timedelta(seconds=settings.UNDO_SECONDS), lambda: decisions.settle(self.agent(call.voice))
        )

    def approve_call(self, call: called.Call, held: HeldItem, person: User, chance: random.Random) -> None:
        """Approve a call; once, with a grant for its kind. Its agent reports what became of it."""
        wanted = None
        if call is called.GRANTED and self.end - self.clock.at < GRANTED_WITHIN and not self.has_granted:
            self.has_granted = True
            wanted = grants.Wanted("agent", "shape", self.end + timedelta(days=5), uses=20)
        decisions.decide(held, person, "approve", circumstances=decisions.Circumstances(grant=wanted))
        if chance.random() < REPORTED:
            status, detail = ("failed", call.detail) if chance.random() < call.failed else ("done", "exit 0")
            after = self.clock.at + timedelta(seconds=settings.UNDO_SECONDS + 40)
            self.plan(after, lambda: outcomes.report(held, status, detail=detail))

    # -- deciding ----------------------------------------------------------------------------------

    def plan_decision(self, voice: Voice, said: Said, held: HeldItem) -> None:
        after = self.chance.random()
        agent = self.agents[voice.name]
        if after < EXPIRES:
            self.plan(held.expires_at, lambda: decisions.settle(agent))
        elif after < EXPIRES + LOOKS:
            minutes = self.chance.uniform(0.2, 30)
            self.plan(held.review_due_at + timedelta(minutes=minutes), lambda: self.look_again(voice, said, held))
        else:
            at = in_office(self.clock.at + timedelta(minutes=self.chance.lognormvariate(2.4, 1.1)), self.chance)
            if self.chance.random() < LOOKED_AT_FIRST:
                self.plan(self.clock.at + (at - self.clock.at) * 0.8, lambda: self.say_again(voice, said, held))
            self.plan(at, lambda: self.decide(voice, said, held))

    def say_again(self, voice: Voice, said: Said, held: HeldItem) -> None:
        """Have the agent say what it thinks now of its item, which it leaves to people."""
        if self.chance.random() < 0.15 + 0.6 * said.turn.wrong:
            text = f"{TAKES_BACK[voice.language]} {self.chance.choice(voice.withdraws)}"
        else:
            text = self.chance.choice(voice.stands)
        self.step(voice, {"response": text, "items": [], "replies_to_held": held.public_id})

    def look_again(self, voice: Voice, said: Said, held: HeldItem) -> None:
        """Have the agent decide its own item, as far as its policy lets it."""
        mood = self.chance.random()
        if held.kind == "remember" or mood < 0.5:
            verdict, text, reason = "withdraw", None, self.chance.choice(voice.withdraws)
        elif said.better and mood < 0.8:
            verdict, text, reason = "edit", said.better, self.chance.choice(voice.edits)
        else:
            verdict, text, reason = "approve", None, self.chance.choice(voice.stands)
        decision, _ = decisions.decide(held, self.agent(voice), verdict, edit=text, reason=reason)
        self.plan_repeat(voice, decision)

    def decide(self, voice: Voice, said: Said, held: HeldItem) -> None:
        """Have a reviewer decide, and now and then think better of it."""
        names, weights = zip(*REVIEWERS[voice.name].items(), strict=True)
        person = self.people[self.chance.choices(names, weights)[0]]
        verdict, text, reason = "approve", None, ""
        if self.chance.random() < said.turn.wrong * 0.65 and said.turn.why:
            verdict, reason = "reject", self.chance.choice(said.turn.why)
        elif said.better and self.chance.random() < 0.15:
            verdict, text = "edit", said.better
        seconds = seconds_to_read(held.text) * TEMPO[person.username] * self.chance.lognormvariate(0, SPREAD)
        looked = decisions.Circumstances(shown_ms=round(1000 * seconds))
        decision, _ = decisions.decide(held, person, verdict, edit=text, reason=reason, circumstances=looked)
        if self.chance.random() < TAKEN_BACK:
            self.plan(self.clock.at + timedelta(seconds=4), lambda: self.take_back(voice, said, held, decision, person))
        else:
            self.plan_release(voice, decision)

    def take_back(self, voice: Voice, said: Said, held: HeldItem, decision: Decision, person: User) -> None:
        if decisions.undo(decision, person):
            self.plan(self.clock.at + timedelta(seconds=50), lambda: self.decide(voice, said, held))

    def plan_release(self, voice: Voice, decision: Decision) -> None:
        agent = self.agents[voice.name]
        self.plan(self.clock.at + timedelta(seconds=settings.UNDO_SECONDS), lambda: decisions.settle(agent))
        self.plan_repeat(voice, decision)

    def plan_repeat(self, voice: Voice, decision: Decision) -> None:
        """Have the agent say what was approved, now and then, in the words that were."""
        if decision.text is not None and self.chance.random() < POSTED_AGAIN:
            fields = {
                "response": decision.text,
                "items": [{"kind": decision.held.kind, "text": decision.text}],
                "replies_to_held": decision.held.public_id,
                "cycle": next(self.cycles[voice.name]),
                "mode": voice.modes[0],
            }
            self.plan(self.clock.at + timedelta(seconds=45), lambda: self.receive(voice, fields))


def in_office(at: datetime, chance: random.Random) -> datetime:
    """Return the moment itself, or one early in the next hours in which reviewers work."""
    first, last = OFFICE_HOURS
    if at.weekday() < 5 and first <= at.hour < last:
        return at
    day = at.date() + timedelta(days=at.hour >= last)
    while day.weekday() >= 5:
        day += timedelta(days=1)
    return datetime.combine(day, time(first), UTC) + timedelta(minutes=chance.uniform(2, 70))


def next_cycle(agent: Agent) -> int:
    """Return the number after the agent's last turn."""
    last: int | None = AgentResponse.objects.filter(agent=agent).aggregate(last=models.Max("cycle"))["last"]
    return (last or 0) + 1
