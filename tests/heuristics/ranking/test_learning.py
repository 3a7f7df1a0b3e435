"""What `learn` and `rank` make of decisions: offered where it helps, declined with the reason where it does not."""

import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from metacog.heuristics.ranking.around import Post, missing_in, range_of
from metacog.heuristics.ranking.features import facts_in, facts_of, see
from metacog.heuristics.ranking.learning import Decided, in_words
from metacog.heuristics.ranking.learning import learn as learned_from
from metacog.heuristics.ranking.logistic import calibrated, chance, exp, log_odds
from metacog.heuristics.ranking.model import Case, Model
from metacog.heuristics.ranking.orders import Orders
from metacog.heuristics.stats.gate import Judged, judge
from tests.command_line import run
from tests.tables import table

WORDS = "the order was sent on time and we will write again when the parcel is at the door of your house"
Line = dict[str, Any]


def decided(
    rejects: Callable[[int, str, random.Random], bool], number: int = 400, *, turns: int = 1, seed: int = 1
) -> list[Line]:
    """Make decisions of texts of random words, in which one of three has "refund" in it, three turns a session."""
    draw, lines = random.Random(seed), []
    for at in range(number):
        words = [draw.choice(WORDS.split()) for _ in range(draw.randrange(5, 40))]
        if draw.random() < 1 / 3:
            words.insert(draw.randrange(len(words)), "refund")
        text = " ".join(words)
        lines.append(
            {
                "response": text,
                "session": f"s{at // turns}",
                "rejected": rejects(at // turns, text, draw),
                "decided_at": f"2026-02-{1 + at // 1440:02}T{at // 60 % 24:02}:{at % 60:02}:00Z",
            }
        )
    return lines


def by_word(_session: int, text: str, draw: random.Random) -> bool:
    return draw.random() < (0.6 if "refund" in text else 0.1)


def by_length(_session: int, text: str, draw: random.Random) -> bool:
    return draw.random() < len(text) / 250


def by_nothing(_session: int, _text: str, draw: random.Random) -> bool:
    return draw.random() < 0.3


def by_run(session: int, _text: str, _draw: random.Random) -> bool:
    return random.Random(session).random() < 0.4


GOOD = decided(by_word, 1)[0]


run_once = cache(run)


def learn(lines: Sequence[Line], *arguments: str) -> Any:
    sent = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    return run_once("learn", *arguments, sent=sent)


@table(
    "rejects, turns, status, said",
    [
        (by_word, 1, 0, "Learned from 400 decisions"),
        (by_length, 1, 3, "length orders as well"),
        (by_nothing, 1, 3, "it is no better than chance"),
        (by_run, 4, 3, "it is no better than chance"),
    ],
)
def test_it_is_offered_where_it_helps_and_declined_with_the_reason_elsewhere(
    rejects: Any, turns: int, status: int, said: str
) -> None:
    done = learn(decided(rejects, turns=turns))
    assert (done.returncode, bool(done.stdout)) == (status, status == 0)
    assert said in done.stderr.decode()


def test_it_says_why_it_cannot_be_asked_and_learns_all_the_same_when_it_is_told_to() -> None:
    few = learn(decided(by_word, 60))
    assert (few.returncode, few.stdout) == (3, b"")
    assert b"60 decisions" in few.stderr
    assert b"100 decisions are the least" in few.stderr
    assert learn(decided(by_word, 60), "--min", "50").stderr != few.stderr
    of_one = learn([line | {"session": "s"} for line in decided(by_word)])
    assert (of_one.returncode, b"sessions" in of_one.stderr) == (3, True)
    one_sided = learn([line | {"rejected": False} for line in decided(by_word)])
    assert (one_sided.returncode, b"10 rejections" in one_sided.stderr) == (3, True)
    forced = learn(decided(by_nothing), "--force")
    assert forced.returncode == 3
    assert json.loads(forced.stdout)["words"]["cases"] == 400


def test_the_same_lines_give_the_same_model_to_the_byte_in_any_order() -> None:
    lines = decided(by_word)
    model = learn(lines).stdout
    assert learn(lines[::-1]).stdout == model
    assert len(model) < 2_000_000
    # Under other versions of Python and on other machines, too.
    assert json.loads(model)["id"] == "risk_b79b872de8ea655335d623d8"


BAD = [
    ("{", "JSON"),
    (json.dumps(GOOD | {"rejected": 1}), "`rejected` is true or false"),
    (json.dumps(GOOD | {"decided_at": "yesterday"}), "'yesterday' is"),
    (json.dumps({"rejected": True, "decided_at": GOOD["decided_at"]}), "`response`"),
    (json.dumps(GOOD | {"session": 5}), "session"),
]


@table("line, said", BAD)
def test_a_line_that_cannot_be_learned_from_is_named(line: str, said: str) -> None:
    done = run("learn", sent=f"{json.dumps(GOOD)}\n{line}".encode())
    assert "1 line could not be learned from and left out; line 2" in done.stderr.decode()
    assert said in done.stderr.decode()


def test_the_lines_beside_those_that_cannot_be_learned_from_are_learned() -> None:
    lines = [json.dumps(each) for each in decided(by_word)]
    done = run("learn", sent="\n".join([*lines[:120], *(line for line, _ in BAD), *lines[120:]]).encode())
    assert done.returncode == 1
    assert done.stdout == learn(decided(by_word)).stdout
    assert "5 lines could not be learned from and left out; line 121" in done.stderr.decode()


def test_exported_decisions_are_lines_too_and_those_of_no_person_are_left_out() -> None:
    lines = [
        {
            "text": line["response"], "response": "resp_1", "name": None, "session": line["session"], "by": "person",
            "verdict": "reject" if line["rejected"] else "edit", "decided_at": line["decided_at"],
        }
        for line in decided(by_word)
    ]  # fmt: skip
    done = learn([*lines, lines[0] | {"by": "agent"}, lines[0] | {"verdict": "expire"}])
    assert done.returncode == 0
    assert b"2 of 402 lines were decided by no person" in done.stderr
    assert b"Learned from 400 decisions" in done.stderr


def test_the_effects_of_calls_are_read_and_those_of_an_exported_one_taken_as_they_are(tmp_path: Any) -> None:
    lines = []
    for at, line in enumerate(decided(by_nothing)):
        draw = random.Random(at)
        name = "".join(draw.sample("abcdefghijklmnop", draw.randrange(2, 16)))
        command = ("rm -r ../{}", "rm -r {}")[at % 2].format(name)
        call = {"name": "Bash", "arguments": {"command": command}}
        lines.append(
            {"response": "", "items": [{"kind": "tool_call", **call}], "session": f"s{at}", "rejected": at % 2 == 0}
            | {"decided_at": line["decided_at"]}
        )
    done = learn(lines)
    model = tmp_path / "model.json"
    model.write_bytes(done.stdout)
    assert json.loads(done.stdout)["calls"]["facts"]["effect:delete path outside"][2:] == [200, 200]
    call = {"name": "Bash", "arguments": {"command": "rm -r ./x"}}
    gone = {"effect": "delete", "object": "x", "of": "path", "start": 6, "end": 9, "argument": "/command"}
    sent: list[Line] = [{"text": "Bash", "kind": "tool_call", "response": "resp_1", **call}]
    sent += [sent[0] | {"effects": [gone | {"inside": False}]}, sent[0] | {"effects": ["much"]}]
    ranked = run("rank", "--model", str(model), sent="\n".join(map(json.dumps, sent)).encode())
    inside, outside, refused = map(json.loads, ranked.stdout.splitlines())
    assert outside["risk"] > inside["risk"] + 0.1
    assert "effect:delete path outside" in {fact["name"] for fact in outside["facts"]}
    assert refused["error"]["errors"][0]["pointer"] == "/effects"


def test_words_and_calls_are_learned_apart(tmp_path: Any) -> None:
    """What is rejected among words says nothing of calls, whose model is their own; each has its own gate."""
    words = decided(by_word)
    calls = [
        {"text": f"Bash rm {at}", "kind": "tool_call", "name": "Bash", "arguments": {"command": f"rm -r {at}"}}
        | {"session": f"c{at}", "rejected": at % 3 == 0, "decided_at": line["decided_at"]}
        for at, line in enumerate(words[:120])
    ]
    alone, both = learn(words), learn([*calls, *words])
    assert (both.returncode, json.loads(both.stdout)["words"]) == (0, json.loads(alone.stdout)["words"])
    assert json.loads(both.stdout)["calls"] is None  # there was nothing to learn from these
    said = both.stderr.decode().splitlines()
    assert [line.partition(" decisions")[0] for line in said] == ["Learned from 400", "Tool calls: Declined: 120"]
    file = tmp_path / "model.json"
    file.write_bytes(both.stdout)
    ranked = run("rank", "--model", str(file), sent="\n".join(map(json.dumps, (words[0], calls[0]))).encode())
    risks = [json.loads(line)["risk"] for line in ranked.stdout.splitlines()]
    assert (risks[0] > 0, risks[1]) == (True, None)
    assert json.loads(learn([*calls, *words], "--force").stdout)["calls"]["cases"] == 120


def test_equal_shares_of_words_and_of_calls_have_equal_places() -> None:
    few, many = (Model.learn([]).among(risks) for risks in ([0.1, 0.2, 0.2, 0.3], [0.4, 0.6, 0.6, 0.9]))
    assert [few.place(risk) for risk in (0.3, 0.2, 0.1)] == [many.place(risk) for risk in (0.9, 0.6, 0.4)]
    assert [few.place(risk) for risk in (0.35, 0.3, 0.25, 0.2, 0.15, 0.05)] == [0.0, 0.125, 0.25, 0.5, 0.75, 1.0]
    assert Model.learn([]).place(0.3) == pytest.approx(0.7)  # of a model that knows no risks of others


def test_it_ranks_and_says_which_words_carried_it(tmp_path: Any) -> None:
    (tmp_path / "model.json").write_bytes(learn(decided(by_word)).stdout)
    texts = ["We will refund the order.", "The parcel is at the door.", "😀 é 這是 a refund at the door", ""]
    sent = [json.dumps({"response": text}) for text in texts] + [json.dumps({"text": texts[0], "session": "s"}), "{"]
    done = run("rank", "--model", str(tmp_path / "model.json"), sent="\n".join(sent).encode())
    ranks = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert done.returncode == 1
    assert ranks[5]["error"]["status"] == 400
    assert ranks[0]["risk"] > 0.4 > ranks[1]["risk"] > 0.0
    assert ranks[4]["risk"] == pytest.approx(ranks[0]["risk"], abs=0.05)
    for text, rank in zip(texts, ranks, strict=False):
        assert all(text[reason["start"] : reason["end"]] == reason["text"] for reason in rank["because"])
        assert rank["model"].startswith("risk_")
    assert "refund" in ranks[0]["because"][0]["text"]
    assert "refund" in ranks[2]["because"][0]["text"]
    assert ranks[3]["because"] == []


def with_metadata(at: int, line: Line, draw: random.Random) -> Line:
    """Add metadata by which it is decided, a number, a long value, and ids."""
    category = ("Performance", "Security", "Style")[at % 3]
    known = {
        "category": category, "ticket": f"T-{at}", "confidence": (at % 50) / 50, "checks": {"lint": at % 2 == 0},
        "page": f"https://example.org/some/long/path/of/a/page/number/{at}", "labels": ["a", f"l{at}"],
    }  # fmt: skip
    return line | {"metadata": known, "rejected": draw.random() < (0.7 if category == "Security" else 0.1)}


def test_metadata_are_learned_by_value_range_and_shape_and_ids_are_left_out(tmp_path: Any) -> None:
    draw = random.Random(3)
    lines = [with_metadata(at, line, draw) for at, line in enumerate(decided(by_nothing))]
    done = learn(lines, "--force")
    model = json.loads(done.stdout)["words"]
    keys = {name.partition("=")[0] for name in model["facts"] if name.startswith("metadata:")}
    assert keys == {f"metadata:{key}" for key in ("category", "confidence", "checks.lint", "page", "labels")}
    assert "Security" not in done.stdout.decode()
    (tmp_path / "model.json").write_bytes(done.stdout)
    text = {"response": "It is done."}
    sent = [text | {"metadata": {"category": each}} for each in ("Security", "Style", "Unheard")] + [text]
    ranked = run("rank", "--model", str(tmp_path / "model.json"), sent="\n".join(map(json.dumps, sent)).encode())
    security, style, unheard, without = map(json.loads, ranked.stdout.splitlines())
    assert security["risk"] > style["risk"] + 0.3
    assert unheard["risk"] == without["risk"]
    assert {"category": "Security"} in [fact.get("metadata") for fact in security["facts"]]


@table(
    "number, said",
    [
        (0, "0"), (3, "3"), (3.0, "3"), (5, "5–10"), (10, "10–20"), (49.9, "20–50"), (0.19, "0–0.2"), (0.83, "0.8–1"),
        (1.5, "1–2"), (-30, "−(20–50)"), (1234, "1,000–2,000"), (10**12, "≥ 1,000,000,000"),
    ],
)  # fmt: skip
def test_a_number_counts_by_its_range(number: float, said: str) -> None:
    assert range_of(number) == said


def test_what_stands_in_no_context_is_counted() -> None:
    given = "3 passed, 2 failed in test_orders.py, said Miller"
    said = missing_in('Of 5 tests 2 failed in test_orders, as Miller and Smith said: "never again", "2 failed"', given)
    assert said == {"figures": (1, 2), "names": (1, 3), "quotes": (1, 2)}


def test_the_items_of_a_post_are_read_with_its_response(tmp_path: Any) -> None:
    (tmp_path / "model.json").write_bytes(learn(decided(by_word)).stdout)
    chat = [{"kind": "chat", "text": "We refund it."}]
    bodies = [{"response": "Hi.", "items": chat}, {"response": "Hi.", "items": []}, {"response": "", "items": chat}]
    sent = "\n".join(map(json.dumps, bodies)).encode()
    done = run("rank", "--model", str(tmp_path / "model.json"), sent=sent)
    with_it, without, alone = (json.loads(line) for line in done.stdout.splitlines())
    assert with_it["risk"] > without["risk"]
    assert alone["risk"] > without["risk"]
    assert (with_it["because"], alone["because"]) == ([], [])  # no place in the response


def test_what_was_held_judges_and_what_passed_judges_by_itself() -> None:
    """It is not enough to tell what is held from what passes."""
    draw, held = random.Random(4), []
    for at in range(400):
        is_held = at % 2 == 0
        text = " ".join([draw.choice(WORDS.split()) for _ in range(9)] + (["refund"] if is_held else []))
        rejected = draw.random() < (0.4 if is_held else 0.1)
        seen = see(text, "", facts_of(text, None, {}))
        held.append(Decided(seen, rejected, float(at), (str(at),), stands_for=1 if is_held else 5, was_held=is_held))
    found = learned_from(held)
    assert found.gate
    assert (found.why_not, found.gate.decisions) == ("no-better", 160)
    assert found.passing
    assert (found.passing.decisions, found.passing.passes) == (160, False)


def some(count: int, rejects: Callable[[int, random.Random], float]) -> list[Decided]:
    """Make decisions of texts of random words by three agents, of five categories, by two people."""
    draw, found = random.Random(8), []
    for at in range(count):
        text = " ".join(draw.choice(WORDS.split()) for _ in range(draw.randrange(5, 40)))
        post = Post({"metadata": {"category": f"c{at % 5}"}}, agent=f"agt{at % 3}")
        seen = see(text, "", facts_in(post, text))
        is_rejected = draw.random() < rejects(at, draw)
        found.append(Decided(seen, is_rejected, float(at), (str(at),), key=str(at), by=("ann", "bob")[at % 2]))
    return found


@table(
    "count, rejects, order",
    [
        (400, lambda at, _: 0.5 if at % 3 == 0 else 0.1, "agent"),
        (400, lambda at, _: 0.6 if at % 5 == 0 else 0.1, "metadata:category"),
        (400, lambda at, _: 0.05 + 0.5 * at / 400, None),  # it drifts
        (96, lambda at, _: 0.95 if at % 5 == 0 else 0.2, "metadata:category"),  # below 100, alone
        (90, lambda *_: 0.3, None),
    ],
)
def test_where_the_agent_or_a_value_of_metadata_says_it_all_that_orders(count: int, rejects: Any, order: Any) -> None:
    found = learned_from(some(count, rejects))
    assert found.order == order
    if order:
        assert found.alone
        assert 0.5 < found.alone.low < found.alone.auc < found.alone.high
        assert {name.partition("=")[0].partition(":agt")[0] for name in found.model.facts} == {order}
        assert found.model.kind == order


def test_it_says_how_many_more_decisions_it_takes() -> None:
    few = learned_from(some(60, lambda *_: 0.2))
    assert few.needs
    assert 40 <= few.needs <= 100
    assert f"About {few.needs} more decisions, at today's" in in_words(few)
    rare = learned_from(some(400, lambda *_: 0.02))
    assert (rare.why_not, rare.order) == ("one-sided", None)
    assert rare.needs
    assert 300 < rare.needs < 2_000
    assert learned_from(some(400, lambda at, _: 0.6 if at % 5 == 0 else 0.1)).why_not == "no-better"


def test_two_people_who_contradict_each_other_on_like_texts_are_named_with_the_texts() -> None:
    def decided_by(person: str, at: int, rejected: bool) -> Decided:
        text = f"We will send the parcel to the door of your house on day {at // 2} and write again then"
        return Decided(see(text, "", {}), rejected, float(at), (str(at),), key=str(at), by=person)

    against = [decided_by(("bob", "ann")[at % 2], at, at % 2 == 0) for at in range(12)]
    (told,) = learned_from(against).disagreements
    assert (told.people, told.against >= 6) == (("ann", "bob"), True)
    assert all(int(one) % 2 == 1 and int(other) % 2 == 0 for one, other in told.items)  # ann's first
    assert learned_from([decided_by(("bob", "ann")[at % 2], at, False) for at in range(12)]).disagreements == ()
    assert learned_from([decided_by("ann", at, at % 2 == 0) for at in range(12)]).disagreements == ()


def test_what_is_turned_round_of_late_is_not_offered() -> None:
    lines = decided(by_word)
    late = [line | {"rejected": not line["rejected"]} if at > 240 else line for at, line in enumerate(lines)]
    assert learn(late).returncode == 3


def test_risks_are_made_probabilities() -> None:
    shift, stretch = calibrated([-2.0, 2.0] * 200, [at % 10 < 3 for at in range(400)], [1.0] * 400)
    assert stretch == pytest.approx(0.0, abs=0.1)
    assert chance(shift) == pytest.approx(0.3, abs=0.01)
    model = Model.from_dict(json.loads(learn(decided(by_word)).stdout)["words"])
    seen = see("We refund it", "", {})
    assert model.stretched(0.5, 2.0).risk(seen) > model.risk(see("It came", "", {}))


def test_a_model_of_an_earlier_format_reads_signs_as_words(tmp_path: Any) -> None:
    texts = ("We refund it!", "We refund it", "It came at last", "It is at the door") * 20
    cases = [Case(see(text, "", {}, signs=True), text.endswith("!")) for text in texts]
    before = replace(Model.learn(cases), format=4)
    (tmp_path / "model.json").write_text(json.dumps(Orders(before, None).as_dict()))
    sent = b'{"response": "We refund it!"}\n{"response": "We refund it"}'
    done = run("rank", "--model", str(tmp_path / "model.json"), sent=sent)
    loud, calm = (json.loads(line)["risk"] for line in done.stdout.splitlines())
    assert loud > 0.5 > calm
    after = Model.learn([Case(see(text, "", {}), text.endswith("!")) for text in texts])
    assert after.risk(see("We refund it!", "", {})) == after.risk(see("We refund it", "", {}))


def test_a_damaged_model_is_refused_with_what_is_wrong(tmp_path: Any) -> None:
    both = json.loads(learn(decided(by_word)).stdout)
    model = both["words"]
    file = tmp_path / "model.json"
    for document, said in [
        (model | {"format": 6}, "its format is 6"),
        (model | {"words": "AAAA"}, "its words cannot be read"),
        (model | {"words": 5}, "another shape"),
        (model | {"facts": {"length": ["much", 0]}}, "is no model"),
        ({"format": 1}, "'words' is missing"),
        (model | {"kind": "evil"}, "not what its id stands for"),
        (model | {"scale": 1e300}, "not what its id stands for"),
        (model | {"risks": [0.5, 0.4]}, "its risks are not in order"),
        (both | {"format": 6}, "its format is 6"),
        (both | {"words": 5}, "another shape"),
        (both | {"calls": model}, "not what its id stands for"),
        ([], "a JSON object"),
    ]:
        file.write_text(json.dumps(document))
        done = run("rank", "--model", str(file), sent=b'{"response": ""}')
        assert (done.returncode, done.stdout) == (2, b"")
        assert said in done.stderr.decode()
    assert Orders.from_dict(both).as_dict() == both
    one = Orders.from_dict(model)  # before words and calls had models of their own
    assert (one.as_dict(), one.of(is_call=True), one.of(is_call=False)) == (model, one.words, one.words)


def test_the_gate_knows_orders_by_their_area_their_tenth_and_their_calibration() -> None:
    judges = [Judged(at, at % 10 == 0) for at in range(400)]
    right = [0.9 if each.rejected else 0.01 for each in judges]
    found = judge(judges, right, {"length": [float(at) for at in range(400)], "score": [0.0] * 400}, ("score",))
    assert (found.auc, found.passes, found.as_good) == (1.0, True, [])
    assert found.caught_at(0.1)[0] == 1.0
    assert found.caught_by["chance"][3] == pytest.approx(0.1, abs=0.001)
    assert found.is_calibrated
    rolling, some = [Judged(at, at % 10 == 0, tenth=at // 40) for at in range(400)], [*[None] * 310, *right[310:]]
    assert judge(rolling, right, {}, chances=right).is_calibrated
    assert not judge(rolling, right, {}, chances=some).is_calibrated  # of few it cannot be known
    same = judge(judges, right, {"turns": [-value for value in right]})
    assert (same.passes, same.as_good) == (False, ["turns"])  # the other way round it orders as well
    # One session that weighs much is one session: the interval says so.
    alone = judge([Judged(0, True, 50.0), *judges[1:]], right, {})
    assert alone.rejected == found.rejected
    wide = judge([Judged(at // 100, at % 7 == 0) for at in range(400)], [float(at % 5) for at in range(400)], {})
    assert not wide.passes


def test_its_own_exponential_is_that_of_the_library() -> None:
    for power in [at / 7 for at in range(-270, 271)]:
        assert exp(power) == pytest.approx(math.exp(power), rel=1e-13)
        assert log_odds(chance(power / 4)) == pytest.approx(power / 4, abs=1e-6)
