"""Keep out of what people read what looks like a secret, until somebody asks to see it.

Every text and argument that leaves for people is masked here: pages, the API for people, webhooks of teams, notices,
files, search and logs. What an agent is told of its own is not. What is a secret `secret_shapes` says.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import accumulate
from typing import Any, NamedTuple

from ..effects.pointers import names_of
from ..text.canonical_json import canonical
from ..text.excerpts import without_tags
from ..text.spans import Place
from ..text.tags import TOOL_CALL, items_of
from ..text.words import slug
from .secret_shapes import is_secret, is_secret_option, may_hold, secret_places

MASK = "••••••••"
_NO_DETAIL = "does not meet the schema"  # of a secret, which it would quote
_QUOTED_NAME = re.compile(r'("(?:[^"\\]|\\.)*+")(?P<sign>\s*+:)?', re.DOTALL)  # or a value, without the sign
_NOTHING = ("", "null", "true", "false")  # of a secret's name: says no secret


class Masked(NamedTuple):
    """A text with its secrets masked, and where they stood."""

    text: str
    edits: Sequence[tuple[int, int, str]] = ()  # start and end as it was, and what stands there instead

    def moved(self, start: int, end: int) -> Place:
        """Return where a stretch of the text is by now; one that begins or ends within a secret takes its mask in."""
        at_start = at_end = 0  # by how much the text before it grew
        for first, last, new in self.edits:
            grown = len(new) - (last - first)
            if last <= start:
                at_start += grown
            elif first < start:
                start = first
            if first < end:
                end, at_end = max(end, last), at_end + grown
        return start + at_start, end + at_end


def mask(text: str, *, call: str = "", is_cut: bool = False) -> Masked:
    """Mask what looks like a secret in a text, in one of JSON what `masked` masks, too.

    Of a tool call's text `call` is the name before its arguments. Of one that `is_cut` the end may be half a secret.
    """
    begin = len(call) + 1 if call else 0
    may_be_json = call or text[:1] in ("{", "[")
    is_json = may_be_json and may_hold(text) and (call or is_cut or _is_json(text))
    edits = sorted(_edits_of_json(text, begin)) if is_json else []
    starts, ends = [edit[0] for edit in edits], [edit[1] for edit in edits]
    for start, end in secret_places(text, is_cut=is_cut):
        within = edits[bisect_right(ends, start) : bisect_left(starts, end)]
        for first, last, _ in [*within, (end, end, "")]:
            if start < first:
                edits.append((start, first, MASK))
            start = last
    if not edits:
        return Masked(text)
    edits.sort()
    parts, at = [], 0
    for start, end, new in edits:
        parts += [text[at:start], new]
        at = end
    return Masked("".join([*parts, text[at:]]), edits)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _edits_of_json(text: str, begin: int) -> Iterator[tuple[int, int, str]]:
    for leaf in leaves(text[begin:]):
        start, end = begin + leaf.start, begin + leaf.end
        if leaf.is_secret and leaf.value not in _NOTHING:
            yield start, end, f'"{MASK}"'
        elif text[start] == '"' and (new := masked_text(leaf.value)) != leaf.value:
            yield start, end, canonical(new)
    if "\\" in text:  # else names read as they are written
        for found in _QUOTED_NAME.finditer(text, begin):
            name = _string(found[1]) if found["sign"] else ""
            if (new := masked_text(name)) != name:
                yield *found.span(1), canonical(new)


def masked_text(text: str, *, is_cut: bool = False) -> str:
    """Return a text with what looks like a secret in it masked; see `mask`."""
    return mask(text, is_cut=is_cut).text


def beginning(text: str) -> str:
    """Return how a text begins with its secrets masked: behind an ellipsis it goes on, maybe within one."""
    goes_on = text.endswith("…")
    return masked_text(text.removesuffix("…"), is_cut=goes_on) + ("…" if goes_on else "")


def masked(value: Any, *, is_named_so: bool = False) -> Any:
    """Return JSON with its secrets masked. Of a secret object or list each value is; true, false and null never are."""
    if isinstance(value, dict):
        hidden: dict[str, Any] = {}
        for name, part in value.items():
            shown = masked_text(name)
            while shown in hidden:
                shown += "•"
            hidden[shown] = masked(part, is_named_so=is_named_so or is_secret(name))
        return hidden
    if isinstance(value, list):
        told = secret_words(value)
        return [masked(part, is_named_so=is_named_so or at in told) for at, part in enumerate(value)]
    if is_named_so and value not in ("", None) and not isinstance(value, bool):
        return MASK
    return masked_text(value) if isinstance(value, str) else value


def secret_words(words: Sequence[Any]) -> Set[int]:
    """Tell which words of a command that is a list are secret by those around them: `--password X`, `-u name:X`."""
    found = {at + 1 for at, word in enumerate(words) if isinstance(word, str) and is_secret_option(word)}
    texts = [(at, word) for at, word in enumerate(words) if isinstance(word, str)]
    begins = [0, *accumulate(len(word) + 1 for _, word in texts)]
    for start, end in secret_places(" ".join(word for _, word in texts)) if len(texts) > 1 else ():
        for number in range(bisect_right(begins, start) - 1, bisect_left(begins, end)):
            (at, word), begin = texts[number], begins[number]
            first, last = max(start - begin, 0), min(end - begin, len(word))
            # What the word alone tells is masked within it.
            if first < last and not any(one <= first and last <= other for one, other in secret_places(word)):
                found.add(at)
    return found


def restored(value: Any, original: Any, shown: Any) -> Any:
    """Put back what was masked and came back as it was shown: `shown` is the masked `original`.

    In a list, only a whole part that is as it was: in one that is edited, a mask may be another part's.
    """
    if canonical(value) == canonical(shown):
        return original
    if isinstance(value, dict) and isinstance(original, dict) and isinstance(shown, dict):
        return {name: restored(part, original.get(name), shown.get(name)) for name, part in value.items()}
    if isinstance(value, list) and isinstance(original, list) and isinstance(shown, list):
        return [_restored_part(part, original, shown) for part in value]
    return value


def _restored_part(part: Any, original: Sequence[Any], shown: Sequence[Any]) -> Any:
    wanted = canonical(part)
    known = {canonical(each): each for each, so in zip(original, shown, strict=True) if canonical(so) == wanted}
    return next(iter(known.values())) if len(known) == 1 else part


def restored_text(text: str, original: str) -> str:
    """Put back the one secret of an original text whose mask came back in an edited one; of several none is certain."""
    hidden = mask(original)
    if text == hidden.text:
        return original
    if len(hidden.edits) == 1 and text.count(MASK) == 1 and MASK not in original:
        start, end, new = hidden.edits[0]
        return text.replace(new, original[start:end])
    return text


def is_mask_left(value: Any, original: Any) -> bool:
    """Tell whether a mask stands where a value should, of what an edit made of an `original`."""
    return _has_mask(value) and not _has_mask(original)


def _has_mask(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_mask, value)) or any(map(_has_mask, value.values()))
    if isinstance(value, list):
        return any(map(_has_mask, value))
    return isinstance(value, str) and MASK in value


def masked_call(text: str) -> str:
    """Return a tool call's whole text, its name and arguments, with secrets masked."""
    for blank in re.finditer(" ", text[:256]):  # a name has 255 characters at most, and may hold blanks
        if _is_json(text[blank.end() :]):
            return mask(text, call=text[: blank.start()]).text
    return masked_text(text)


def masked_verdict(verdict: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict on a posted body with its secrets masked; its spans are places in the masked texts."""
    hidden: dict[str, Any] = masked(verdict)
    sent = body.get("items")
    tagged = items_of(body, plain_text_as_chat=True) if sent is None and verdict["hesitation"] else ()
    texts: dict[Any, Masked] = {None: mask(body["response"]), "user_message": mask(body.get("user_message") or "")}

    def of_item(index: int) -> Masked:
        if index not in texts:
            item = sent[index] if sent and index < len(sent) else {}
            text = tagged[index].text if index < len(tagged) else item.get("text") or ""
            texts[index] = mask_item(text, item.get("name"), item.get("arguments"))
        return texts[index]

    for part, its in zip([hidden, *hidden["items"]], [verdict, *verdict["items"]], strict=True):
        for signal, of in _signals(part, its):
            signal["spans"] = [
                moved(span, texts[span.get("in")] if span.get("item") is None else of_item(span["item"]))
                for span in of["spans"]
            ]
        if its.get("effects"):
            part["effects"] = masked_effects(its["effects"], its["arguments"])
    if threads := verdict.get("threads"):
        secrets = [*filter(None, map(slug, _secrets(body)))]
        for thread, of in zip(hidden["threads"], threads, strict=True):
            thread["spans"] = [moved(span, texts[None]) for span in of["spans"]]
            for secret in secrets:  # former releases left none of a title out of its slug
                thread["thread"] = thread["thread"].replace(secret, MASK)
    return hidden


def masked_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a posted body with its secrets masked; of a call's schema only what looks like one."""
    hidden: dict[str, Any] = masked(body)
    for item, sent in zip(hidden.get("items") or (), body.get("items") or (), strict=True):
        if sent.get("schema") is not None:
            item["schema"] = masked_schema(sent["schema"])
    return hidden


def masked_schema(schema: Any, *, is_named_so: bool = False) -> Any:
    """Return a JSON Schema with its secrets masked: what a secret property may be, and what looks like a secret."""
    if isinstance(schema, list):
        return [masked_schema(part, is_named_so=is_named_so) for part in schema]
    if not isinstance(schema, dict):
        return masked(schema)
    return {
        name: masked(part, is_named_so=is_named_so)
        if name in ("const", "default", "enum", "example", "examples")
        else masked_schema(part, is_named_so=is_named_so or is_secret(name))
        for name, part in schema.items()
    }


def _signals(
    hidden: Mapping[str, Any], verdict: Mapping[str, Any]
) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Give what has spans in a verdict or an item's part of one, masked and as it was."""
    for part, list_name in (("hesitation", "signals"), ("quality", "details")):
        if verdict.get(part):
            yield from zip(hidden[part].get(list_name, ()), verdict[part].get(list_name, ()), strict=True)


def mask_item(text: str, name: str | None, arguments: Any) -> Masked:
    """Mask an item's whole text; a tool call's is its name and canonical arguments."""
    return mask(f"{name} {canonical(arguments)}", call=name) if name else mask(text)


def masked_hesitation(hesitation: Mapping[str, Any] | None, text: Masked) -> Any:
    """Return a hesitation about one text, as it is masked: its spans are places there."""
    if hesitation is None:
        return None
    hidden = masked(hesitation)
    for signal, of in zip(hidden["signals"], hesitation["signals"], strict=True):
        signal["spans"] = [moved(span, text) for span in of["spans"]]
    return hidden


def masked_words(words: str, whole: str) -> str:
    """Return some words of a text with its secrets masked, those too in which they begin or end."""
    start = whole.find(words)
    if start < 0:
        return masked_text(words, is_cut=True)
    text = mask(whole)
    return text.text[slice(*text.moved(start, start + len(words)))]


def masked_effects(effects: Sequence[Mapping[str, Any]], arguments: Any) -> list[dict[str, Any]]:
    """Return what a call would do with secrets masked, and its places where they are in the masked arguments."""
    secrets = sorted({*_secrets(arguments)}, key=len, reverse=True)
    told = []
    for effect in effects:
        shown, text = dict(effect), _masked_at(arguments, names_of(effect["argument"]) or ())
        whole = effect["object"]
        if whole is not None:
            shown["object"] = masked_text(whole)
            for secret in secrets:
                shown["object"] = shown["object"].replace(secret, MASK)
        if text and effect["start"] is not None:
            shown["start"], shown["end"] = text.moved(effect["start"], effect["end"])
            if shown["object"] == whole and any(
                start < effect["end"] and end > effect["start"] for start, end, _ in text.edits
            ):
                shown["object"] = MASK
        told.append(shown)
    return told


def _secrets(value: Any, *, is_named_so: bool = False) -> Iterator[str]:
    """Give what `masked` masks in JSON."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _secrets(part, is_named_so=is_named_so or is_secret(name))
    elif isinstance(value, list):
        told = secret_words(value)
        for at, part in enumerate(value):
            yield from _secrets(part, is_named_so=is_named_so or at in told)
    elif is_named_so and value not in ("", None) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, str):
        yield from (value[start:end] for start, end, _ in mask(value).edits)


def is_secret_at(arguments: Any, names: Sequence[str]) -> bool:
    """Tell whether what a pointer leads to in arguments is a secret or holds one."""
    found = _at(arguments, names)
    return found is not None and masked(found[0], is_named_so=found[1]) != found[0]


def _masked_at(value: Any, names: Sequence[str]) -> Masked | None:
    """Return the masked text that a pointer leads to in arguments; None where it leads to none."""
    found = _at(value, names)
    if not found or not isinstance(found[0], str):
        return None
    text, is_named_so = found
    return Masked(MASK, [(0, len(text), MASK)]) if is_named_so and text else mask(text)


def _at(value: Any, names: Sequence[str]) -> tuple[Any, bool] | None:
    """Follow a pointer: what is there, and whether its name, or the words around it, say that it is secret."""
    is_named_so = False
    for name in names:
        if isinstance(value, dict) and name in value:
            value, is_named_so = value[name], is_named_so or is_secret(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value, is_named_so = value[int(name)], is_named_so or int(name) in secret_words(value)
        else:
            return None
    return value, is_named_so


def masked_errors(errors: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return what a schema says of arguments, {"pointer", "detail"}, without what it quotes of a secret."""
    return [
        {"pointer": each["pointer"], "detail": _NO_DETAIL}
        if any(map(is_secret, each["pointer"].split("/")))
        else {"pointer": each["pointer"], "detail": masked_text(each["detail"])}
        for each in errors
    ]


def moved(span: Mapping[str, Any], text: Masked) -> dict[str, Any]:
    """Return a span of a text as it is in the masked text."""
    start, end = text.moved(span["start"], span["end"])
    return {
        **span,
        "start": start,
        "end": end,
        "text": text.text[start:end] if text.edits else masked_text(span["text"]),
    }


# -- one line ----------------------------------------------------------------------------------


class Leaf(NamedTuple):
    """A text, number, true, false, null or empty list or object somewhere in JSON."""

    name: str  # the names and indexes on the way, parted by dots
    value: str
    is_secret: bool
    start: int  # where it stands, with its quotes
    end: int
    path: tuple[str | int | None, ...] = ()  # the same with indexes as numbers
    is_text: bool = True  # it stands between quotes


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)


def leaves(json_text: str) -> Sequence[Leaf]:
    """Return the leaves of JSON, of which the end may be cut off."""
    found = [*_leaves(json_text)]
    lists = defaultdict[Any, dict[Any, int]](dict)  # where the leaves of each list are
    for number, leaf in enumerate(found):
        if leaf.path and isinstance(leaf.path[-1], int):
            lists[leaf.path[:-1]][leaf.path[-1]] = number
    for parts in lists.values():
        words: list[str | None] = [None] * (max(parts) + 1)
        for at, number in parts.items():
            words[at] = found[number].value if found[number].is_text else None
        for at in secret_words(words) & parts.keys():
            found[parts[at]] = found[parts[at]]._replace(is_secret=True)
    return found


def _leaves(json_text: str) -> Iterator[Leaf]:
    path: list[str | int | None] = []  # where in each open object (None: before a name) or list
    before, opened = "", 0
    for found in _TOKEN.finditer(json_text):
        token = found[0]
        if token in ("{", "["):
            opened = found.start()
            path.append(None if token == "{" else 0)
        elif token in ("}", "]"):
            del path[-1:]
            if before in ("{", "["):
                yield _leaf(path, before + token, (opened, found.end()), is_hidden=False, is_text=False)
        elif token == ",":
            if path:
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif path and path[-1] is None:
            path[-1] = _string(token)
        elif token != ":":
            is_text = token.startswith('"')
            value = _string(token) if is_text else token
            is_hidden = any(isinstance(part, str) and is_secret(part) for part in path)
            yield _leaf(path, value, found.span(), is_hidden=is_hidden, is_text=is_text)
        before = token


def _leaf(
    path: Sequence[str | int | None], value: str, place: tuple[int, int], *, is_hidden: bool, is_text: bool
) -> Leaf:
    return Leaf(".".join(map(str, path)), value, is_hidden, *place, tuple(path), is_text)


def _string(token: str) -> str:
    """Read a JSON string; of one that is cut off, as much as is there."""
    if "\\" not in token and len(token) > 1 and token.endswith('"'):
        return token[1:-1]
    try:
        return str(json.loads(token))
    except ValueError:
        pass
    for cut in range(7):  # in the middle of \u0000, at most
        try:
            return str(json.loads(f'{token[: len(token) - cut]}"')) + "…"
        except ValueError:
            continue
    return token


# What says most about a call, wherever it stands among the arguments.
_TELLING = (
    "command", "cmd", "script", "sql", "query", "statement", "code", "url", "path", "file_path", "filename", "to",
    "recipient", "amount", "eur", "usd", "subject",
)  # fmt: skip
_SHORT_NAME = re.compile(r"[\w.]{1,15}")  # in which no secret stands
MOST = 6  # arguments that a line names
LONG = 60  # characters of one value
FIRST = 160  # of the first: a row of the queue ends within it, and is cut once


def line(name: str, text: str) -> str:
    """Return a tool call's most telling arguments on one line; `text` is its arguments' JSON, which may end too early.

    It may have the name before it.
    """
    found = [leaf for leaf in leaves(text.removeprefix(name)) if leaf.path or leaf.value not in ("{}", "[]")]
    found.sort(key=_telling)
    told = [
        f"{name}={value}" if leaf.name else value
        for at, leaf in enumerate(found[:MOST])
        for name, value in ((_name(leaf), _value(leaf, LONG if at else FIRST)),)
    ]
    return " ".join([*told, "…"] if len(found) > MOST else told)


def _telling(leaf: Leaf) -> tuple[bool, bool]:
    """Put what tells most first, then what is short; else in their order."""
    return leaf.name.rpartition(".")[2].lower() not in _TELLING, len(leaf.value) > LONG


def excerpt(kind: str, name: str | None, text: str) -> str:
    """Return what an item says: of a tool call its name and arguments on one line; see `line`.

    The end of `text` may be cut off.
    """
    return f"{name} {line(name, text)}" if kind == TOOL_CALL and name else without_tags(masked_text(text, is_cut=True))


def _name(leaf: Leaf) -> str:
    return leaf.name if _SHORT_NAME.fullmatch(leaf.name) else masked_text(leaf.name)


def _value(leaf: Leaf, most: int) -> str:
    if leaf.is_secret and leaf.value not in _NOTHING:
        return MASK
    written = " ".join(beginning(leaf.value).split())
    return written if len(written) <= most else written[: most - 1].rstrip("… ") + "…"
