"""Find what looks like a secret in a text: by its own shape, or by the name that stands before it.

The names and shapes are those that gitleaks and detect-secrets look for, metacog's own, and the operator's
(`METACOG_SECRET_SHAPES`). Of a text the hints are looked for first, which costs next to nothing where there are none;
what matches at one of them ends within its own stretch, so that the time is linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ..text.matcher import linear_places, standing_in
from ..text.spans import Place

# -- names -------------------------------------------------------------------------------------

# Whatever stands before them: PGPASSWORD, accessToken, 数据库密码.
_GLUED = (
    r"passwor[dt]|passwd|passphrase|secret|token|api[_-]?key|credentials?|contraseña|wachtwoord|пароль"
    r"|密[码碼钥鑰]|口令|令牌|权杖|權杖|金[钥鑰]|私[钥鑰]|パスワード|비밀번호"
)
_WHOLE = (
    r"passe?|passcode|pwd|senha|hasło|auth|authorization|creds?|(?:set[_-])?cookie|bearer|t?otp|pin|jwt"
    r"|(?:access|account|deploy|encryption|master|private|secret|service|signing|ssh|storage)[_-]?key"
)
_NAME = re.compile(
    rf"(?:.*(?:{_GLUED})|(?:.*[\W_])?(?:{_WHOLE}))s?[是为為]?"
    r"(?:[_-]?(?:value|string|binary|hash|confirm(?:ation)?|\d{1,3}))?",
    re.IGNORECASE | re.DOTALL,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# How many, not which: max_tokens, cached_tokens; but access_tokens.
_COUNT = re.compile(
    r"(?:.*[\W_])?(?:max|min|num|total|prompt|completion|input|output)_?token"
    r"|(?!.*(?:access|api|auth|refresh|session)).*tokens",
    re.IGNORECASE | re.DOTALL,
)
LONGEST_NAME = 200


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Tell whether a value of this name is secret: `password`, `x-api-key`, `githubToken`, but not `max_tokens`."""
    parted = _HUMP.sub("_", name[-LONGEST_NAME:])
    return _NAME.fullmatch(parted) is not None and _COUNT.fullmatch(parted) is None


def is_secret_option(word: str) -> bool:
    """Tell whether what follows a word of a command is secret: `--password`."""
    return word.startswith("-") and " " not in word and "=" not in word and is_secret(word)


# -- shapes ------------------------------------------------------------------------------------


class Shape(NamedTuple):
    """What a kind of secret looks like wherever it stands."""

    name: str
    hints: Sequence[str]  # one of which stands where it begins, in lower case
    pattern: re.Pattern[str]  # of its group `secret`, where it has one, that alone is secret
    unfinished: re.Pattern[str]  # of one that a text's end cuts off


# Nothing that it could be the rest of; but what an escape ends with is none (\n, \u000a, %0A), nor a terminal's color
# (\x1b[31m) or the letter of an option (-p).
_B = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\[m)|(?<=[\[;]\dm)|(?<=[\[;]\d\dm)|(?<=[\[;]\d{3}m)|(?<=[\s\"'`]-[A-Za-z]))"
)
_NEVER = "(?!)"
_ADDRESS = r":(?://|\\/\\/)[^\s/?#\"'@:<>]{0,255}+:"
_PEM = r"[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
# What begins so and goes on for 16 characters, a figure or capital among them and, below, for 27 letters and figures.
_TELLING = (
    "AGE-SECRET-KEY-1 AKCp AQVN ATATT3 ATBB ATCTT3 AVNS_ bkua_ CCIPAT_ CFPAT- CLOJARS_ dckr_oat_ dckr_pat_ dp.pt. "
    "dp.st. dt0c01. duffel_live_ duffel_test_ EZAK EZTK figd_ FLWSECK- FLWSECK_TEST- fm2_ glsa_ gsk_ HRKU- lin_api_ "
    "lin_oauth_ lsv2_pt_ lsv2_sk_ LTAI nfp_ NRAK- ntn_ nvapi- ops_eyJ ory_at_ ory_pat_ pat-eu1- pat-na1- PMAK- pplx- "
    "pscale_oauth_ pscale_pw_ pscale_tkn_ rubygems_ sb_secret_ sbp_ sha256~ shippo_live_ shippo_test_ sntrys_ sntryu_ "
    "sq0atp- sq0csp- tk-us- tskey- tvly- xai- xkeysib- xsmtpsib-"
)
_LONG = "aio_ AKID BSA fo1_ glc_ ico- napi_ phx_ pnu_ r8_ rdme_ secret_ sgp_ sqa_ sqp_ squ_ tfp_ vck_ vcp_"
_GITLAB = "gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|oas|soat|ffct)-"
_TABLE: tuple[tuple[str, ...], ...] = (  # names, hints, what is looked for there, and of one that is cut off
    ("metacog, an agent's key", "mck_", rf"{_B}mck_[\w-]{{16,}}"),
    # Tools of MCP servers are called mcp__server__tool.
    (
        "metacog, a person's token", "mcp_",
        rf"{_B}mcp_(?:[\w-]{{43}}(?![\w-])|(?=[\w-]{{0,99}}[A-Z])(?=[\w-]{{0,99}}[0-9])[A-Za-z0-9-][\w-]{{15,}})",
    ),
    ("signing secret", "whsec_", rf"{_B}whsec_[\w+/=-]{{16,}}"),
    ("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_B}gh[pousr]_\w{{16,}}"),
    ("GitHub, fine-grained", "github_pat_", rf"{_B}github_pat_\w{{20,}}"),
    (
        "GitLab", "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- gr1348941",
        rf"{_B}(?:{_GITLAB}|GR1348941)[\w.=-]{{16,}}",
    ),
    ("AWS", "akia asia abia acca", rf"{_B}A(?:KI|SI|BI|CC)A[0-9A-Z]{{12,}}"),
    ("Google", "aiza ya29. gocspx-", rf"{_B}(?:AIza[\w-]{{30,}}|ya29\.[\w.-]{{16,}}|GOCSPX-[\w-]{{16,}})"),
    ("Slack", "xox xapp-", rf"{_B}(?:xox[a-z]-(?:\d-)?|xapp-)[\w-]{{10,}}"),
    (
        "Slack, a webhook", "://hooks.slack.com/",
        r"://hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[\w/-]{16,})",
    ),
    ("Discord, a webhook", "/api/webhooks/", r"/api/webhooks/\d+/(?P<secret>[\w-]{16,})"),
    ("Stripe", "sk_ rk_ pk_", rf"{_B}[srp]k_(?:live|test)_\w{{10,}}"),
    ("OpenAI, Anthropic and their like", "sk-", rf"{_B}sk-[\w-]{{16,}}"),
    ("Hugging Face", "hf_", rf"{_B}hf_[A-Za-z0-9]{{20,}}"),
    ("npm", "npm_", rf"{_B}npm_[A-Za-z0-9]{{20,}}"),
    ("PyPI", "pypi-", rf"{_B}pypi-[\w-]{{16,}}"),
    ("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", rf"{_B}do[por]_v1_[A-Za-z0-9]{{16,}}"),
    ("SendGrid", "sg.", rf"{_B}SG\.[\w-]{{16,}}\.[\w-]{{16,}}"),
    ("Vault", "hvs. hvb.", rf"{_B}hv[sb]\.[\w-]{{20,}}"),
    ("Shopify", "shpat_ shpss_ shpca_", rf"{_B}shp(?:at|ss|ca)_[0-9a-fA-F]{{20,}}"),
    ("Databricks", "dapi", rf"{_B}dapi[0-9a-f]{{32}}"),
    (
        "others by how they begin", _TELLING.lower(),
        rf"{_B}(?:{'|'.join(map(re.escape, _TELLING.split()))})(?=[\w.=+/-]{{0,99}}[0-9A-Z])[\w.=+/-]{{16,}}",
    ),
    (
        "others by how long they are", _LONG.lower(), rf"{_B}(?:{'|'.join(_LONG.split())})[A-Za-z0-9]{{27,}}",
    ),
    ("others to base 16", "sk key- fc- pul-", rf"{_B}(?:SK|key-|fc-|pul-)[0-9a-f]{{32,}}(?![\w-])"),
    ("Cloudflare", "v1.0-", rf"{_B}v1\.0-[0-9a-f]{{24}}-[0-9a-f]{{64,}}"),
    ("Airtable", "pat", rf"{_B}pat[A-Za-z0-9]{{14}}\.[0-9a-f]{{64}}"),
    ("Azure", "q~", r"(?<=[0-9])Q~(?P<secret>[\w.~-]{31,})", r"\S*\Z"),
    ("Facebook", "eaa", rf"{_B}EAA[A-Za-z0-9]{{60,}}"),
    ("Resend", "re_", rf"{_B}re_[A-Za-z0-9]{{8}}_[A-Za-z0-9]{{16,}}"),
    ("Telegram, a bot", ":aa", r"(?<=[0-9]{8}):(?P<secret>AA[\w-]{33})(?![\w-])", r"\S*\Z"),
    ("Terraform", ".atlasv1.", r"\.atlasv1\.(?P<secret>[\w-]{16,})", r"\S*\Z"),
    ("JSON Web Token", "eyj", rf"(?<![_-]){_B}eyJ[\w-]{{8,}}\.[\w-]{{6,}}(?:\.[\w-]*)?"),
    ("private key", "-----begin", rf"-----BEGIN {_PEM}.*?(?:-----END {_PEM}|\Z)"),
    (
        "PuTTY, a private key", "private-lines:", r"Private-Lines: \d+(?P<secret>.*?(?:Private-MAC: \w+|\Z))",
    ),
    (
        "password in an address", r":// :\/\/",  # which may hold a slash, but what begins with a port is a path
        rf"{_ADDRESS}(?P<secret>[^\s/?#\"'<>]{{1,255}}|(?!\d{{1,5}}/)[^\s?#\"'<>@]{{1,255}}+)@",
        rf"{_ADDRESS}(?P<secret>[^\s/?#\"'<>]+)\Z",
    ),
    (
        "password in an encoded address", "%3a%2f%2f",
        r"(?i)%3A%2F%2F[^\s%]{0,255}%3A(?P<secret>(?:[^\s%]|%(?!40)[0-9A-F]{2}){1,255}+)%40", _NEVER,
    ),
    ("signature in an address", "sig= x-amz-signature=", r"(?<=[?&])[\w-]+=(?P<secret>[\w%+/=-]{16,})"),
    (
        "authorization", "bearer basic",
        rf"(?i){_B}(?:bearer|basic)(?:\s|%20)++(?P<secret>(?=[\w+/.~%-]{{0,99}}[0-9=])[\w+/=.~%-]{{12,}})",
        rf"(?i){_B}(?:bearer|basic)(?:\s|%20)+(?P<secret>\S+)\Z",
    ),
    (
        "SQL, an account", "identified",
        r"(?i)identified\s+(?:with\s+\w+\s+)?by\s+(?:password\s+)?(?P<secret>'[^']{1,255}'|\"[^\"]{1,255}\")", _NEVER,
    ),
    (
        "curl, an account", "-u --user --proxy-user",
        r"(?<!\S)-(?:-user|-proxy-user|u)[ =]?[\"']?[\w.@+-]{1,80}:(?P<secret>[^\s\"'$/:][^\s\"']{1,255})", _NEVER,
    ),
    (
        "mysql, an account", "mysql mariadb",
        r"(?:mysql\w{0,20}+|mariadb)\s[^|;&\n]{0,200}?(?<=\s)-p(?P<secret>[^\s\"'$-][^\s\"']{2,255})", _NEVER,
    ),
    (
        ".netrc, an account", "login",
        r"login\s+(?!(?:and|form|or|page|screen|with)\s)\S{1,255}\s+password\s+(?P<secret>[^\s\"']{1,255})", _NEVER,
    ),
    (".pgpass, an account", ":5432:", r":5432:[^\s:]{1,80}:[^\s:]{1,80}:(?P<secret>[^\s\"']{1,255})", _NEVER),
    (
        "sshpass, redis-cli", "sshpass redis-cli",
        r"(?:sshpass\s+-p|redis-cli\s[^|;&\n]{0,200}?(?<=\s)-a)\s*[\"']?(?P<secret>[^\s\"'$][^\s\"']{2,255})", _NEVER,
    ),
)  # fmt: skip
SHAPES = tuple(
    Shape(name, hints.split(), re.compile(pattern, re.DOTALL), re.compile(*unfinished or (rf"{_B}\S*\Z",)))
    for name, hints, pattern, *unfinished in _TABLE
)

_own: Callable[[str], list[Place]] | None = None


def use_own(expressions: Sequence[str]) -> None:
    """Look for the operator's shapes, too; ValueError for one that cannot be searched in linear time."""
    global _own
    _own = linear_places(expressions) if expressions else None
    _of_short.cache_clear()
    _of_long.cache_clear()


# -- values behind a name ----------------------------------------------------------------------

_NAMES = (
    "pass", "pwd", "secret", "token", "key", "auth", "cred", "cookie", "bearer", "otp", "pin", "jwt",
    "contraseña", "wachtwoord", "senha", "hasło", "пароль", "パスワード", "비밀번호",
    "密", "口令", "令牌", "权杖", "權杖", "金", "私",
)  # fmt: skip
_WORD = re.compile(rf"[\w-]{{1,{LONGEST_NAME}}}")
_QUOTED = (
    r'"(?P<double>(?:[^"\\]|\\.)*+)(?:"|\Z)'
    r"|'(?P<single>(?:[^'\\]|\\.)*+)(?:'|\Z)"
    r"|(?P<quote>\\{1,8}[\"'])(?P<escaped>.*?)(?:(?P=quote)|\Z)"
)
MOST_PLAIN = 256  # characters of a value without quotes that are looked at; a longer one is one, too
_UNQUOTED = r"[^\s\"'`;|<>{}\[\](),&，。；、]"
_PLAIN = rf"(?P<plain>{_UNQUOTED}{{1,{MOST_PLAIN}}}+)"
_REST = re.compile(rf"{_UNQUOTED}++")
# What follows a name, from its hint on, where a value may follow.
_BEHIND = re.compile(
    rf"[\w-]{{0,{LONGEST_NAME}}}+(?:\\{{0,8}}[\"'])?\]?"
    r"(?:[ \t]*+[:=：>]|[ \t]++(?:\\{0,8}[\"']|(?:is|was)\b)|(?<=[是为為])[ \t])"
)
# `name: value`, `"name": value`, `name = value`, `name=value`, `name => value`, `["name"] = value`, `name is value`
_ASSIGNED = re.compile(
    r"(?P<closed>\\{0,8}[\"'])?\]?[ \t]*+(?P<sign>:?=>?|[:：]|(?<=[ \t])(?:is|was)\b:?|(?<=[是为為] ))"
    r"(?P<blank>\s*+)"
    rf"(?P<scheme>(?i:(?:bearer|basic|digest|token)[ \t]++))?(?:[bfruBFRU]{{0,2}}(?:{_QUOTED})|{_PLAIN})",
    re.DOTALL,
)
_BEFORE_OPTION = (" -", "\n-", "\t-", '"-', "'-")
_OPTION = re.compile(rf"--?([\w-]{{1,{LONGEST_NAME}}}+)(?=[ \t])")
_GIVEN = re.compile(rf"[ \t]++(?:{_QUOTED}|{_PLAIN})", re.DOTALL)  # `--name value`
_QUOTED_BEHIND = re.compile(rf"[ \t]++(?:{_QUOTED})", re.DOTALL)  # `password 'value'`
_ELEMENT = re.compile(r">(?P<plain>[^<]++)</")  # `<name>value<`
_COOKIE = re.compile(r"\s*:\s*(?P<plain>[^\n\"']++)")
_GROUPS = ("double", "single", "escaped", "plain")
_STRONG = re.compile(
    r"pass|pwd|secret|key|authorization|contraseña|wachtwoord|senha|hasło|пароль|パスワード|비밀번호|密|口令",
    re.IGNORECASE,
)
# Stands for a secret, or for none: $TOKEN, ${TOKEN}, {{ token }}, <token>, %(token)s, ****.
_PLACEHOLDER = re.compile(
    r"(?:(?:bearer|basic|token)\s+)?(?:\$[\w{(].*|\{.*\}|<[^<>]*>|%\(\w+\)s|\*+|•+|x{3,}|\.{3}|…"
    r"|true|false|null|none|nil|undefined|required|optional|missing|bool|bytes|int|str|string)?",
    re.IGNORECASE | re.DOTALL,
)
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|(?P<name>[A-Za-z_]+)")  # settings.PASSWORD, password
_LINE_ENDS = re.compile(r"[ \t]*(?:[\"'\n\r]|\Z)")


_SHAPE_OF = {hint: shape for shape in SHAPES for hint in shape.hints}
# Characters of a text of which the places are kept for a while: a page asks for a long one's several times, and for
# those of names again and again.
SHORT, LONG = 60, 2_000


def may_hold(json_text: str) -> bool:
    """Tell whether JSON may hold a secret: a name or shape of one stands in it, or what may spell one by escapes."""
    return "\\" in json_text or bool(_hints()(json_text.lower()))


def secret_places(text: str, *, is_cut: bool = False) -> Sequence[Place]:
    """Return where secrets stand in a text, in order and apart; of one that `is_cut` its end may be half a secret."""
    if len(text) <= SHORT:
        return _of_short(text, is_cut)
    return _of_long(text, is_cut) if len(text) >= LONG else _places(text, is_cut)


@lru_cache(maxsize=32)
def _of_long(text: str, is_cut: bool) -> Sequence[Place]:
    return _places(text, is_cut)


@lru_cache(maxsize=1024)
def _of_short(text: str, is_cut: bool) -> Sequence[Place]:
    return _places(text, is_cut)


def _places(text: str, is_cut: bool) -> Sequence[Place]:
    lowered = text.replace("İ", "_").lower()  # the one letter that becomes two
    hints = _hints()(lowered)
    found = [*_by_shape(text, lowered, hints, is_cut), *_by_name(text, lowered, hints, is_cut)]
    found += _own(text) if _own else ()
    return _apart(found) if found else found


def _apart(places: list[Place]) -> list[Place]:
    """Return places in order, those that touch each other as one."""
    apart: list[Place] = []
    for start, end in sorted(places):
        if apart and start <= apart[-1][1]:
            start, last = apart.pop()
            end = max(end, last)
        apart.append((start, end))
    return apart


def _occurrences(lowered: str, hint: str) -> Iterator[int]:
    at = lowered.find(hint)
    while at >= 0:
        yield at
        at = lowered.find(hint, at + len(hint))


@cache
def _hints() -> Callable[[str], list[str]]:
    return standing_in([*dict.fromkeys((*_NAMES, *_SHAPE_OF))])


def _by_shape(text: str, lowered: str, hints: Sequence[str], is_cut: bool) -> Iterator[Place]:
    for hint in hints:
        if shape := _SHAPE_OF.get(hint):
            end = 0  # of the last one: what is within it is a part of it
            for at in _occurrences(lowered, hint):
                if at < end:
                    continue
                found = shape.pattern.match(text, at) or (is_cut and shape.unfinished.match(text, at)) or None
                if found:
                    end = found.end()
                    yield found.span("secret" if "secret" in found.re.groupindex else 0)


def _by_name(text: str, lowered: str, hints: Sequence[str], is_cut: bool) -> Iterator[Place]:
    begin, names = set[int](), [hint for hint in hints if hint in _NAMES]
    if not names:
        return
    for hint in names:
        for at in _occurrences(lowered, hint):
            if _BEHIND.match(text, at + len(hint)):
                begin.add(_word_begins(text, at))
    for before in _BEFORE_OPTION:
        for at in _occurrences(text, before):
            if (option := _OPTION.match(text, at + len(before) - 1)) and is_secret(option[1]):
                begin.add(option.start())
    reached = 0
    for start in sorted(begin):
        if start >= reached and (word := _WORD.match(text, start)) and (found := _value(text, *word.span(), is_cut)):
            yield found
            reached = found[1]


def _word_begins(text: str, at: int) -> int:
    least = max(0, at - LONGEST_NAME // 2)
    while at > least and (text[at - 1].isalnum() or text[at - 1] in "_-"):
        at -= 1
    return at + (text[at - 1 : at] == "\\" and text[at] in "bfnrt")  # what an escape ends with is no part of it


def _value(text: str, start: int, end: int, is_cut: bool) -> Place | None:
    """Return where the value of the name between `start` and `end` stands; None of a name that is no secret's."""
    name = text[start:end]
    if name.lower() in ("key", "keys") and text[start - 1 : start] == " ":  # `API key`
        name = f"{text[max(0, start - 12) : start - 1].rpartition(' ')[2]}_{name}"
    if found := _ASSIGNED.match(text, end):
        if not is_secret(name):
            return None
        if name.lower().endswith("cookie") and (line := _COOKIE.match(text, end)):
            return line.span("plain")
        return _place(found, _is_value(found, name, text, is_cut))
    if text[start] == "-" and (found := _GIVEN.match(text, end)):
        return _place(found, is_secret(name) and not (found["plain"] or "").startswith("-"))
    if text[end : end + 1] == ">" and text[start - 1 : start] == "<" and (found := _ELEMENT.match(text, end)):
        return _place(found, is_secret(name))
    if name[-8:].lower() == "password" and (found := _QUOTED_BEHIND.match(text, end)):
        return _place(found, True)
    return None


def _place(found: re.Match[str], is_value: bool) -> Place | None:
    group = next(each for each in _GROUPS if each in found.re.groupindex and found[each] is not None)
    start, end = found.span(group)
    if not is_value or _PLACEHOLDER.fullmatch(found.string, start, end):
        return None
    if group == "plain" and end - start == MOST_PLAIN and (rest := _REST.match(found.string, end)):
        return start, rest.end()
    return start, end


def _is_code(value: str) -> bool:
    found = _CODE.fullmatch(value)
    return found is not None and (found["name"] is None or is_secret(value))


def _is_value(found: re.Match[str], name: str, text: str, is_cut: bool) -> bool:
    """Tell whether what stands behind a secret's name is its value, and not the next word or a piece of a program."""
    value, end = found["plain"], found.end()
    if value is None or (is_cut and end == len(text)):
        return True
    is_called = text[end : end + 1] in ("(", "[") and value.replace(".", "_").isidentifier()
    if "\n" in found["blank"] or is_called or _is_code(value):
        return False
    if found["closed"] or found["scheme"] or len(value) == MOST_PLAIN:
        return True
    if len(value) >= 6 and any(map(str.isdigit, value)):
        return True
    if "s" in found["sign"]:  # of a sentence
        return False
    if len(value) >= 4 and "=" in found["sign"] and not found["blank"]:
        return True
    return len(value) >= 4 and "/" not in value and bool(_STRONG.search(name)) and bool(_LINE_ENDS.match(text, end))
