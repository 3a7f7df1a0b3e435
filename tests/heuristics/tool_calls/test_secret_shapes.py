"""What is known as a secret: each shape fires, its near miss does not; names; the operator's own; and in what time."""

from __future__ import annotations

import runpy
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from metacog.heuristics.tool_calls import secret_shapes
from metacog.heuristics.tool_calls.secret_shapes import SHAPES, is_secret, is_secret_option, secret_places
from tests.tables import table

KEY = "aB3dE5gH7jK9mN1pQ3sT5vW7"  # 24 letters and digits: what a key is made of
HEX = "0123456789abcdef" * 2

# Of each shape: a text in which it fires, where [] are around what is secret, and one that only comes near.
FIRES = {
    "metacog, an agent's key": ("key [mck_" + KEY + "]", "mck_short and unmck_" + KEY),
    "metacog, a person's token": ("[mcp_" + KEY + "]", "mcp__bank__transfer_money_2_accounts mcp_server"),
    "signing secret": ("[whsec_" + KEY + "/+=]", "whsec_short"),
    "GitHub": ("[ghp_" + KEY + "] [ghs_" + KEY + "]", "ghx_" + KEY + " and ghp_short"),
    "GitHub, fine-grained": ("[github_pat_11" + KEY + "_x]", "github_pat_short"),
    "GitLab": ("git clone [glpat-" + KEY + "] [GR1348941" + KEY + "]", "glpat-short and glfoo-" + KEY),
    "AWS": ("[AKIA0123456789ABCDEF]", "AKIA-0123456789ABCDEF and akia0123456789abcdef"),
    "Google": ("[AIza" + HEX + "abc] [ya29.a0" + KEY + "] [GOCSPX-" + KEY + "]", "AIzaShort and ya29.x"),
    "Slack": ("[xoxb-123456789012-" + KEY + "] [xapp-1-" + KEY + "]", "xoxo-love and xoxb"),
    "Slack, a webhook": (
        f"https://hooks.slack.com/services/[T01234567/B01234567/{KEY}]",
        "https://hooks.slack.com/services/help",
    ),
    "Discord, a webhook": (f"https://discord.com/api/webhooks/12345/[{KEY}]", "/api/webhooks/12345/help"),
    "Stripe": ("[sk_live_" + KEY + "] [rk_test_" + KEY + "]", "task_live_" + KEY + " and sk_live_x"),
    "OpenAI, Anthropic and their like": ("[sk-ant-api03-" + KEY + "] [sk-proj-" + KEY + "]", "task-" + KEY),
    "Hugging Face": ("[hf_" + KEY + "]", "hf_hub and shf_" + KEY),
    "npm": ("//registry/:x [npm_" + KEY + "]", "npm_config_registry"),
    "PyPI": ("[pypi-AgEI" + KEY + "]", "pypi-mirror"),
    "DigitalOcean": ("[dop_v1_" + HEX + "]", "dop_v1_x"),
    "SendGrid": (f"[SG.{KEY}.{KEY}]", "SG.1 of the plan, sg." + KEY),
    "Vault": ("[hvs." + KEY + "]", "hvs.example"),
    "Shopify": ("[shpat_" + HEX + "]", "shpat_x"),
    "Databricks": ("[dapi" + HEX + "]", "dapi0123"),
    "others by how they begin": ("[dckr_pat_" + KEY + "] [gsk_" + KEY + "]", "gsk_x, ntn_ and xai-chat"),
    "others by how long they are": ("[r8_" + KEY + "aB3dE]", "napi_get_value_bigint_int64_of_it and secret_" + KEY),
    "others to base 16": ("[SK" + HEX + "] [key-" + HEX + "]", "SK0123456789 and SK" + HEX + "x"),
    "Cloudflare": ("[v1.0-" + HEX[:24] + "-" + HEX * 2 + "]", "v1.0-beta-2026-11-27-build-5"),
    "Airtable": ("[pat" + KEY[:14] + "." + HEX * 2 + "]", "pattern.0123456789 and pat" + KEY),
    "Azure": ("abc8Q~[" + KEY + ".x-y_z~1]", "8Q~short and xQ~" + KEY + KEY),
    "Facebook": ("[EAA" + KEY * 3 + "]", "EAA" + KEY),
    "Resend": ("[re_" + KEY[:8] + "_" + KEY + "]", "re_compile_" + KEY),
    "Telegram, a bot": ("123456789:[AA" + KEY + "_-3456789]", "12:AA" + KEY + "_-3456789 and 123456789:AA"),
    "Terraform": ("abc.atlasv1.[" + KEY + "]", "x.atlasv1.x"),
    "JSON Web Token": ("[eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln]", "eyJust a word, eyJhbGciOiJIUzI1NiJ9"),
    "private key": (
        "[-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----] [-----BEGIN PRIVATE KEY-----\nMII]",
        "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
    ),
    "PuTTY, a private key": (
        "Private-Lines: 2[\n" + KEY + "\n" + KEY + "=\nPrivate-MAC: " + HEX + "] Private-Lines: 1[\n" + KEY + "]",
        "Public-Lines: 2\n" + KEY,
    ),
    "password in an address": (
        "postgres://me:[s3cret]@db/x redis://:[p@ss]@host:6379",
        "https://example.com:8080/a@b and https://me@example.com and mailto://a b:c@d",
    ),
    "password in an encoded address": (
        "?to=postgres%3A%2F%2Fbob%3A[h2%2Bx]%40db", "?to=https%3A%2F%2Fx.example%3A8080%2Fa and https%3A%2F%2Fbob%40x",
    ),
    "signature in an address": (f"https://x/y?a=1&sig=[{KEY}]", f"sig={KEY} and ?sig=short"),
    "authorization": ("bearer [" + KEY + "] and Basic [dXNlcjpwYXNzd29yZA==]", "Bearer responsibilities, basic 123"),
    "SQL, an account": ("CREATE USER x IDENTIFIED BY ['hunter']", "identified by name"),
    "curl, an account": ("curl -u bob:[hunter2] https://x; curl --user 'bob:[h2]' x", "docker -u 1000:$GID x -u bob"),
    "mysql, an account": ("mysql -u root -p[hunter2] db", "mkdir -p/srv/app and mysql -p db"),
    ".netrc, an account": ("machine x.example login bob\n  password [hunter2]", "the login page password reset"),
    ".pgpass, an account": ("db.example:5432:app:bob:[hunter2]", "db.example:5432/app"),
    "sshpass, redis-cli": ("sshpass -p [hunter2] ssh x; redis-cli -h y -a '[hunter2]'", "ls -a hunter2"),
}  # fmt: skip

# Behind a name that says so.
NAMED = (
    ("DB_PASSWORD=[hunter2] ./run", "PASSWORD=$DB_PASSWORD DB_PASSWORD= ./run"),
    ("PGPASSWORD=[swordfish] psql; export AWS_SECRET_ACCESS_KEY=[" + KEY + "]", "KEYBOARD=swordfish AUTHOR=me-1234"),
    ("run --password [hunter] --api-key=[abcd1234] --token '[a b]'", "run --password --token $TOKEN --pass-through 1"),
    ('-H "Authorization: Bearer [abcd]" -H "X-Api-Key: [abcdefgh]"', '"Authorization: Bearer $TOKEN" "Accept: html1"'),
    ("Cookie: [sid=1; theme=dark]\nHost: x", "Cookies: 12 of them"),
    ("user: me\npassword: [swordfish]\nport: 1", "Token: optional\npassword:\n  min: 12345678"),
    ('{"password": "[hun ter]", "pin": [1234], "x": 1}', '{"password": null, "pin": true, "max_tokens": 1234567}'),
    ('curl -d "{\\"password\\": \\"[hun ter]\\"}"', '"{\\"passport\\": \\"hun ter\\"}"'),
    ("connect(password=\"[it's me]\", token='[t]')", "connect(password=password, token=get(), secret=settings.KEY)"),
    ("os.environ['API_TOKEN'] = '[abc]'", "os.environ['API_TOKEN']"),
    ("password=[hunter2-t0psecret] token=[x.y1-z]", "password=api_token, token=self.token"),
    ("<password>[hunter]</password>", "<passport>hunter</passport>"),
    ("ALTER USER x PASSWORD '[hunter]'", "ALTER USER x PASSWORD NULL"),
    ("?a=1&access_token=[abcdef]&b=2", "?a=1&token_type=abcdef&next=2"),
    ("AccountName=x;AccountKey=[abcdef==];y", "AccountName=abcdef1;"),
    ("数据库密码：[abc12345]，口令=[hunter2]", "密度：12345678"),
    ("secret=[" + "x1" * 300 + "] y", "secret={{ secret }} token=<token> password=**** key=hunter22"),
)  # fmt: skip
LIST = [*FIRES.values(), *NAMED]


def cut_out(marked: str) -> tuple[str, list[str]]:
    """Return a text without its brackets, and what stood in them."""
    parts = marked.replace("]", "[").split("[")
    return "".join(parts), parts[1::2]


def found(text: str, *, is_cut: bool = False) -> list[str]:
    return [text[start:end] for start, end in secret_places(text, is_cut=is_cut)]


def test_each_shape_has_its_row() -> None:
    assert list(FIRES) == [shape.name for shape in SHAPES]


@table(("marked", "near_miss"), LIST)
def test_it_fires_and_comes_near(marked: str, near_miss: str) -> None:
    text, secrets = cut_out(marked.replace("['API_TOKEN']", "('API_TOKEN')") if "environ" in marked else marked)
    text = text.replace("('API_TOKEN')", "['API_TOKEN']")
    assert found(text) == secrets
    assert found("İ " * 300 + text) == secrets, "places are those of the text as it was sent"
    assert found(near_miss) == []


@table("beginning", f"{secret_shapes._TELLING} {secret_shapes._LONG}".split())
def test_each_beginning_is_known(beginning: str) -> None:
    assert found(f"{beginning}x and {beginning}{KEY}{KEY}") == [f"{beginning}{KEY}{KEY}"]


@table("marked", [marked for marked, _ in FIRES.values() if not any(each in marked for each in ("://", " -", "BEGIN"))])
def test_of_a_text_that_is_cut_off_no_half_of_a_secret_stays(marked: str) -> None:
    text, secrets = cut_out(marked)
    for end in range(len(text)):
        shown = text[:end]
        for start, stop in reversed(secret_places(shown, is_cut=True)):
            shown = shown[:start] + shown[stop:]
        assert not any(secret[:12] in shown for secret in secrets if len(secret) > 16), shown


SECRET = """
    password db_password x-api-key githubToken Authorization private_key cookie AWS_SECRET_ACCESS_KEY PGPASSWORD
    contraseña Passwort senha пароль パスワード 密码是
    access_tokens SecretString password2 password_confirmation APIKey 密码 数据库密碼 sshKey pin Set-Cookie creds totp
"""
OPEN = """
    max_tokens tokens cachedTokens total_token author secretary compass keyboard key pinned oauth passport tokenizer
"""


@table("name", SECRET.split())
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@table("name", ["", *OPEN.split()])
def test_names_of_what_anybody_may_read(name: str) -> None:
    assert not is_secret(name)


def test_a_value_is_six_with_a_digit_four_behind_a_sign_or_whatever_is_cut_off() -> None:
    texts = ("token: abc123 and", "token: abc12 and", "token=abcd and", "token=abc and")
    assert list(map(found, texts)) == [["abc123"], [], ["abcd"], []]
    assert list(map(found, ("password: abcd", "password: abc", "password: a/bcd"))) == [["abcd"], [], []]
    assert list(map(found, ("token=run1234(x)", "token=run1234[0]", "token:\nabc1234"))) == [[], [], []]
    assert list(map(found, ('"token": abcde y', "token: bearer abcdef x"))) == [["abcde"], ["abcdef"]]
    assert found(f"token: {'ab' * 150} y") == ["ab" * 150]
    assert found("token=ab", is_cut=True) == ["ab"]


@table(
    "text, secrets",
    [
        ("The password is hunter2, the PIN was: 482911.", ["hunter2", "482911."]),
        ("密码是 hunter2，口令为：abc123", ["hunter2", "abc123"]),
        ("The password is wrong. The token was revoked", []),
        ("The API key is abc123def, the access key: x1y2z3", ["abc123def", "x1y2z3"]),
        ("The order's key is 4711-2, key: abc123def", []),
    ],
)
def test_a_sentence_tells_a_value_as_well(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


def test_an_option_of_a_command_names_what_follows() -> None:
    assert is_secret_option("--password")
    assert is_secret_option("-pass")
    assert not any(
        map(is_secret_option, ("--password=x", "--note=password", "password", "-- password", "--max-tokens", ""))
    )


@pytest.fixture
def own() -> Iterator[None]:
    assert found("password=hunter22, ACME-12345") == ["hunter22"]
    secret_shapes.use_own([r"ACME-[0-9]{4,}", "(?i)intern-[a-z]+"])
    assert found("password=hunter22, ACME-12345") == ["hunter22", "ACME-12345"]
    yield
    secret_shapes.use_own([])


def test_the_operators_own_shapes_are_found_too(own: None) -> None:
    assert found("密 ACME-12345 x, Intern-abc and ACME-123") == ["ACME-12345", "Intern-abc"]


def test_secrets_that_touch_or_lie_within_one_another_are_one(own: None) -> None:
    assert found("ACME-12345intern-abc") == ["ACME-12345intern-abc"]
    assert found("token='ACME-1234 intern-abc' ACME-5678") == ["ACME-1234 intern-abc", "ACME-5678"]


@table("length", [secret_shapes.SHORT, secret_shapes.LONG])
def test_the_places_of_a_short_text_and_of_a_long_one_are_kept(length: int) -> None:
    text = "x" * length
    assert secret_places(text) is secret_places(text)


@table("expression", ["(a", r"(?<=a)b", r"(a)\1", "x*", ""])
def test_what_cannot_be_searched_in_linear_time_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="linear time"):
        secret_shapes.use_own(["fine", expression])
    assert found("fine") == []


UNITS = (
    "token", "token ", "token=", 'token="', "token='password=\"", 'token:\\"', "://", "://a:", "sk-", "eyJaaaaaaaa.",
    "-----BEGIN PRIVATE KEY-----", "mysql", "mysql x ", "redis-cli ", "bearer ", "identified by ", " -u a", " --token ",
    "<token>", "cookie: ", "mcp_", "xoxb-", "SG.aaaaaaaaaaaaaaaa", "-", "Ab1_",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=range(len(UNITS)))
def test_a_long_text_takes_ten_times_as_long_as_a_tenth_of_it(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * (length // len(unit) + 1))[:length]
        secret_shapes.use_own([])  # which forgets what is kept
        begun = time.process_time()
        secret_places(text)
        secret_places(text, is_cut=True)
        return time.process_time() - begun

    tenth = min(seconds(25_000) for _ in range(2))
    assert any(seconds(250_000) < 30 * tenth + 0.5 for _ in range(2))


def test_what_of_the_setting_is_wrong_is_said_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METACOG_SECRET_SHAPES", r"ACME-[0-9]{8} (?<=a)b intern_\w{20}")
    read = runpy.run_path(str(Path(secret_shapes.__file__).parents[2] / "settings.py"))
    assert read["SECRET_SHAPES"] == ["ACME-[0-9]{8}", r"intern_\w{20}"]
    ((what, hint),) = read["CONFIG_PROBLEMS"]
    assert what.startswith("Entry 2 of METACOG_SECRET_SHAPES is no regular expression")
    assert "blanks between them" in hint
