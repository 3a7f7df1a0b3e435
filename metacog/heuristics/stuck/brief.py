"""Write the brief for a fresh sub-agent: what is recorded of a problem, in no other voice (seed 002)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from ..lexicon import LANGUAGES, together
from ..lexicon.shapes import BriefWords
from ..memory import recall
from ..text.shadow import Shadow
from ..text.words import stem

MAX_BRIEF = 8_000  # code points
MAX_QUOTE = 600  # of one text
MAX_READ = 20_000  # of one message
MAX_LISTED = 20  # texts in a section other than the attempts
MAX_REMEMBERED = 300  # of the text of one memory

_WORDS: BriefWords = together(language.BRIEF for language in LANGUAGES)


def brief(facts: Mapping[str, Any], *, language: str = "en", limit: int = MAX_BRIEF) -> str:
    """Assemble the Markdown brief, `limit` code points long at most where the attempts can make room for the rest.

    `facts` holds, each where it is known: "problem" (a text), "signs" (texts, as `stuck.signs` gives them), "user"
    (what the user said, oldest first), "attempts" (oldest first, each {"approach", "command", "outcome", "failed",
    "errors"}), "known" and "constraints" (texts), and "remembered" (what the team knows of it, each {"id", "by",
    "date", "topic", "text", "source", "contradicts"}, "by" an "agent" or a "person", "contradicts" the ids of memories
    that cannot hold beside it). Everything that somebody wrote is quoted line by line with "> ", cut at 600 code points
    a text, a memory's where a sentence or word ends before 300, so that none of it can pose as the brief's own words.
    Where it grows too long the oldest attempts are left out, and the brief says how many. The same facts give the same
    brief.
    """
    say = _WORDS.wordings[language]
    head = [say["title"], "", say["note"], "", say["problem"], ""]
    head += _quote(facts["problem"], say) if facts.get("problem") else [say["unnamed"]]
    head += _section(say["signs"], facts.get("signs") or (), say)
    head += _section(say["asked"], facts.get("user") or (), say)
    tail = _section(say["known"], facts.get("known") or (), say)
    if remembered := [line for each in facts.get("remembered") or () for line in _remembered(each, say)]:
        tail += [*(() if tail else ("", say["known"])), *remembered]
    tail += _section(say["constraints"], facts.get("constraints") or (), say)
    tail += ["", say["task"], "", say["ask"]]
    attempts = list(_attempts(facts.get("attempts") or (), say))
    room = limit - _length(head) - _length(tail) - _length([say["attempts"], say["dropped"], "", "", ""])
    kept = len(attempts)
    for _count, lines in reversed(attempts):
        room -= _length(lines)
        if room < 0:
            break
        kept -= 1
    tried = ["", say["attempts"]]
    if kept:
        tried += ["", say["dropped"].format(count=sum(count for count, _lines in attempts[:kept]))]
    for _count, lines in attempts[kept:]:
        tried += lines
    if not attempts:
        tried += ["", say["nothing"]]
    return "\n".join([*head, *tried, *tail]) + "\n"


_BINDS = re.compile(_WORDS.binds, re.IGNORECASE)
# A sign within a word or in code ends no sentence: "Django 5.2", "settings.py", f"{one!r}".
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?](?![\s.!?。！？]|\Z))+[.!?。！？]*")


_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]|\n")


def constraints(messages: Iterable[str]) -> list[str]:
    """Give the sentences of the user's messages that bind: what must be, may not be, or is the limit."""
    said = (match[0].strip() for text in messages for match in _SENTENCE.finditer(text[:MAX_READ]))
    return list(dict.fromkeys(sentence for sentence in said if _BINDS.search(sentence)))[-MAX_LISTED:]


# What stands in the errors and commands of any problem, and in what is said of it: ours.
_LITTLE = """
    abort attempt bash bug build call cat cd change check code command crash debug edit error exception exit fail
    failure file fix home install issue javascript js last lib line local log main module node npm null object open
    option output path pip print problem process py python raise recent result return root run script sh src start
    status step stop sudo system task test tmp traceback try type update user usr value version warning work wrong
"""
_SAYS_LITTLE = frozenset(map(stem, _LITTLE.split()))
_SAYS_LITTLE_ZH = re.compile(
    "问题|错误|报错|失败|成功|测试|修正|修复|修改|更新|检查|执行|运行|指令|命令|程序|程式|文件|档案|代码|版本|原因|结果|尝试|重试|出现|发生|解决"
)
_MAX_OWN = recall.MAX_ASKED - 16  # terms, so that what the user said has its share
_LEAST_IN_COMMON = 2  # words


class About(NamedTuple):
    """What a problem is about, in terms of `recall`."""

    name: tuple[str, ...]  # of its name, all of them: "bug-17" says something as a whole
    own: tuple[str, ...]  # of its name, its errors and what was tried
    terms: tuple[str, ...]  # these, and those of what the user said: 64 at most

    @property
    def sought(self) -> tuple[str, ...]:
        """What a memory about it has some of."""
        return tuple(dict.fromkeys((*self.name, *self.terms)))


def about(name: str, errors: Iterable[str], attempts: Iterable[Mapping[str, Any]], user: Iterable[str]) -> About:
    """Give the terms that a problem can be found by, without those that stand in any; all are given oldest first."""
    tried = [attempt.get(part) or "" for attempt in attempts for part in ("command", "approach")]
    own = _telling([name, *reversed(list(errors)), *reversed(tried)])[:_MAX_OWN]
    terms = tuple(dict.fromkeys((*own, *_telling(reversed(list(user))))))
    return About(recall.asked(name), own, terms[: recall.MAX_ASKED])


def of_topics(topics: Iterable[str], said: str) -> About:
    """Give the terms by which is found what concerns some topics, the oldest first, or what was said last."""
    latest_first = list(topics)[::-1]
    own = _telling([*latest_first, said])[: recall.MAX_ASKED]
    return About(recall.asked(" ".join(latest_first)), own, own)


def concerns(problem: About, topic: str, text: str, common: Iterable[str] = ()) -> bool:
    """Tell whether a memory is about a problem: it names its topic, or they have two words in common.

    One of the two must be of the problem's name, its errors or what was tried. `common` are terms that stand in so
    many memories that they tell none from the others.
    """
    of_topic = set(recall.asked(topic))
    if of_topic and (of_topic == set(problem.name) or of_topic <= set(problem.terms)):
        return True
    whole, told = f"{topic}\n{text}", set(problem.terms).difference(common)
    own = told.intersection(problem.own)
    return recall.in_common(whole, told) >= _LEAST_IN_COMMON and recall.in_common(whole, own) > 0


def _telling(texts: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in texts:
        folded = _SAYS_LITTLE_ZH.sub(" ", Shadow(text[:MAX_READ]).text)
        found |= dict.fromkeys(recall.asked(folded))
    return tuple(term for term in found if term not in _SAYS_LITTLE and not (term.isdigit() and len(term) < 3))


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _quote(text: str, say: Mapping[str, str], indent: str = "") -> list[str]:
    # splitlines also ends a line at U+2028 and the like, which some readers take for a break.
    lines = [f"{indent}> {line}".rstrip() for line in text.strip()[:MAX_QUOTE].splitlines()] or [f"{indent}>"]
    if len(text.strip()) > MAX_QUOTE:
        lines.append(f"{indent}> {say['cut']}")
    return lines


def _section(title: str, texts: Iterable[str], say: Mapping[str, str]) -> list[str]:
    """List texts under a title, the latest 20; nothing where there are none."""
    quoted = [line for text in list(texts)[-MAX_LISTED:] for line in ("", *_quote(text, say))]
    return ["", title, *quoted] if quoted else []


def _remembered(memory: Mapping[str, Any], say: Mapping[str, str]) -> list[str]:
    said = [say["topic"] + memory["topic"]] if memory["topic"] else []
    said.append(_shortened(memory["text"].strip()))
    said += [say["source"] + memory["source"]] if memory["source"] else []
    head = say[memory["by"]].format(id=memory["id"], date=memory["date"])
    doubt = [say["disputed"].format(ids=", ".join(memory["contradicts"]))] if memory["contradicts"] else []
    return ["", head, *doubt, "", *(line for text in said for line in _quote(text, say))]


def _shortened(text: str) -> str:
    """Cut a text behind its last whole sentence, or word where that would leave less than half of what may stay."""
    if len(text) <= MAX_REMEMBERED:
        return text
    cut = text[:MAX_REMEMBERED]
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, MAX_REMEMBERED + 1)]
    at = max((end for end in ends if end <= MAX_REMEMBERED), default=0)
    if at < MAX_REMEMBERED // 2:
        at = cut.rfind(" ") if " " in cut[MAX_REMEMBERED // 2 :] else MAX_REMEMBERED
    return f"{cut[:at].rstrip()} …"


def _attempts(attempts: Iterable[Mapping[str, Any]], say: Mapping[str, str]) -> Iterator[tuple[int, list[str]]]:
    """Give how many attempts, and the lines for them: what was done again just so stands there once."""
    told = ((_outcome(attempt, say), _attempt(attempt, say)) for attempt in attempts)
    for number, ((outcome, lines), same) in enumerate(groupby(told), 1):
        count = len(list(same))
        head = say["again" if count > 1 else "attempt"].format(n=number, outcome=outcome, count=count)
        yield count, ["", head, *lines]


def _outcome(attempt: Mapping[str, Any], say: Mapping[str, str]) -> str:
    outcome = attempt.get("outcome")
    if outcome is None and attempt.get("failed") is not None:
        outcome = "failed" if attempt["failed"] else "resolved"
    return say[outcome or "unknown"]


def _attempt(attempt: Mapping[str, Any], say: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    parts = [(name, attempt.get(name)) for name in ("approach", "command")]
    parts += [("errors", error) for error in attempt.get("errors") or ()]
    for name, text in parts:
        if text:
            lines += ["", f"   {say[name]}:", "", *_quote(text, say, "   ")]
    return lines
