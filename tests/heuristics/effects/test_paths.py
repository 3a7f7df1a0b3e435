"""Paths: where they lead, whether that is inside, and whether a secret is there."""

from metacog.heuristics.effects import paths
from tests.tables import table


@table(
    ("path", "cwd", "result"),
    [
        ("a/./b//c/../d", None, "a/b/d"),
        ("../a", "/srv/app", "/srv/a"),
        ("a", "/srv/app/sub", "/srv/app/sub/a"),
        ("/a/../../b", "/srv", "/b"),
        ("//etc", None, "/etc"),
        ("~/x/../y", "/srv", "~/y"),
        ("$HOME/x", "/srv", "$HOME/x"),
        ("", None, "."),
        ("..", None, ".."),
    ],
)
def test_a_path_is_normal_in_its_directory(path: str, cwd: str | None, result: str) -> None:
    assert paths.normal(path, cwd=cwd) == result


@table(
    ("path", "directories", "inside"),
    [
        ("/srv/app/x", ["/srv/app"], True),
        ("/srv/app", ["/srv/app/"], True),
        ("/srv/apps/x", ["/srv/app"], False),
        ("/srv/app/../x", ["/srv/app"], False),
        ("/srv/app/$X", ["/srv/app"], False),
        ("/tmp/x", ["/srv/app", "/tmp"], True),
        ("x", ["."], True),
        ("x", ["/srv/app"], True),
        ("../x", ["/srv/app"], False),
        ("a/../../x", ["."], False),
        ("~/x", ["."], False),
        ("~/x", ["~"], True),
        ("$HOME/x", ["."], False),
        ("a/$X/b", ["."], False),
        (".*", ["."], False),
        ("lib/x", ["src"], False),
        ("src/x", ["src"], True),
        ("/anything", ["/"], True),
        ("x", [], False),
    ],
)
def test_a_path_is_inside_or_not(path: str, directories: list[str], inside: bool) -> None:
    assert paths.is_inside(path, directories) is inside


def test_secrets_are_known_by_their_names() -> None:
    secrets = ".env config/.env.local ~/.ssh/id_rsa ~/.ssh/work a/id_ed25519 ~/.aws/credentials .netrc server.pem"
    secrets += " tls.key ~/.kube/config kubeconfig .npmrc .pypirc .pgpass ~/.docker/config.json /etc/shadow"
    secrets += " /proc/self/environ terraform.tfstate ~/.bash_history .env* .e?v ~/.gnupg/x secrets.yaml"
    secrets += " ~/.config/gh/hosts.yml credentials.json"
    harmless = "test.env config/ci.env"
    harmless += " .env.example .env.sample env.py a.environment ~/.ssh/known_hosts ~/.ssh/id_rsa.pub ~/.ssh/config"
    harmless += " keys.py src/credentials.py secret.md monkey *.py * src/* README.md .envoy"
    assert [path for path in secrets.split() if not paths.is_secret(path)] == []
    assert [path for path in harmless.split() if paths.is_secret(path)] == []
