"""Claude Code, Codex and OpenCode as npm has them, before a model that says what a test has it say, and gated."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CLIENTS = HERE.parents[2]
SOURCE = HERE.parents[1] / "src"
sys.path.insert(0, str(CLIENTS / "testing"))

from models import Model, Turn  # noqa: E402 - found by the line above

from metacog_client.hooks import codex  # noqa: E402 - beside the other

SECONDS = 180.0  # for one run of a program, on a busy machine
MCP = [sys.executable, str(HERE / "till.py")]
PAGE = (CLIENTS.parent / "docs" / "integrations.md").read_text()
OPENCODE = CLIENTS / "testing/agents/node_modules/opencode-linux-x64-baseline/bin/opencode"
NOWHERE = "http://127.0.0.1:9"  # nothing listens there


@dataclass
class Agent:
    """One program in a home and a folder of its own; `name` is claude-code, codex or opencode."""

    name: str
    home: Path
    model: Model
    environment: dict[str, str]
    session: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def folder(self) -> Path:
        return self.home / "work"

    @property
    def till(self) -> str:
        return (self.home / "till").read_text() if (self.home / "till").exists() else ""

    def shell(self, command: str, **more: Any) -> tuple[str, dict[str, Any]]:
        """Return the call of its own tool that runs a command."""
        if self.name == "opencode":
            return "bash", {"command": command, "description": "Run it."}
        return (
            ("Bash", {"command": command}) if self.name == "claude-code" else ("exec_command", {"cmd": command} | more)
        )

    def refund(self, eur: float) -> tuple[str, dict[str, Any]]:
        names = {"claude-code": "mcp__till__refund", "codex": "mcp__till/refund", "opencode": "till_refund"}
        return names[self.name], {"eur": eur}

    def hook(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "metacog_client", "hook", self.name, *options]

    def ask_hook(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run the hook's command as a person does: --check, --settings."""
        return subprocess.run(
            self.hook(*options), cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=SECONDS
        )

    @property
    def plugin(self) -> Path:
        return self.home / ".config" / "opencode" / "plugin" / "metacog.js"

    def plug(self, *options: str) -> None:
        """Put the documentation's plugin where OpenCode looks for it; its package is the built client."""
        (code,) = re.findall(r"```js\n([^`]*client/opencode[^`]*)```", PAGE)
        if options:
            wait = int(options[options.index("--wait") + 1])
            more = f"client: new Client({{ retrySeconds: {wait} }}), deadline: {wait}"
            code = f'import {{ Client }} from "@metacog/client";\n{code}'.replace(
                "openCode()", f"openCode({{ {more} }})"
            )
        package = self.plugin.parents[1] / "node_modules" / "@metacog" / "client"
        for folder in (self.plugin.parent, package.parent):
            folder.mkdir(parents=True)
        package.symlink_to(CLIENTS / "typescript")
        self.plugin.write_text(code)

    def install(self, *options: str) -> None:
        """Put the hook's settings where the program looks for them; Codex has yet to trust them."""
        if self.name == "opencode":
            return self.plug(*options)
        printed = self.ask_hook(*options, "--settings")
        assert printed.returncode == 0, printed.stderr
        if self.name == "codex":
            with (self.home / ".codex" / "config.toml").open("a") as file:
                file.write(printed.stdout)
        else:
            (self.home / ".claude" / "settings.json").write_text(printed.stdout)

    def trust(self) -> None:
        """Trust the hooks as Codex's /hooks does: it keeps the hash of each."""
        os.environ |= {name: self.environment[name] for name in ("HOME", "CODEX_HOME")}
        with (self.home / ".codex" / "config.toml").open("a") as file:
            for hook in codex.hooks(str(self.folder)):
                file.write(f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n')

    def start(self, *options: str, **more: str) -> subprocess.Popen[str]:
        if self.name == "opencode":
            command = [str(OPENCODE), "run", "--format", "json", *options, "go"]
        elif self.name == "codex":
            command = ["codex", "exec", "--skip-git-repo-check", "--json", "-s", "danger-full-access", *options, "go"]
        else:
            command = ["claude", "-p", "go", "--output-format", "json", "--allowedTools", "Bash,mcp__till", *options]
            command += ["--mcp-config", str(self.home / "mcp.json")]
            command += [] if "--resume" in options else ["--session-id", self.session]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def end(self, process: subprocess.Popen[str]) -> str:
        """Wait for the end of a run; return what it printed."""
        try:
            out, error = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        assert process.returncode == 0, f"{out}\n{error}"
        return out

    def run(self, *options: str, **more: str) -> str:
        return self.end(self.start(*options, **more))

    @property
    def logs(self) -> list[Path]:
        """What it has logged itself."""
        names = {"claude-code": ".claude/projects/*/*.jsonl", "codex": ".codex/sessions/*/*/*/*.jsonl"}
        return list(self.home.glob(names.get(self.name, ".local/share/opencode/opencode.db")))

    @property
    def settings(self) -> Path:
        """The file in which its hook stands."""
        names = {"claude-code": ".claude/settings.json", "codex": ".codex/config.toml"}
        return self.home / names[self.name]

    @property
    def offered(self) -> list[dict[str, Any]]:
        """The tools that its model was offered last."""
        tools: list[dict[str, Any]] = next(each["tools"] for each in reversed(self.model.requests) if each.get("tools"))
        return tools

    @property
    def told(self) -> str:
        """Everything that the model was told."""
        return json.dumps(self.model.requests)


Start = Callable[..., Agent]


@pytest.fixture
def agent_of(metacog: Any, tmp_path: Path, built: None) -> Iterator[Start]:
    """Make an agent of a program with a script, `turns(agent)`, and its hook in place."""
    models: list[Model] = []
    before = dict(os.environ)

    def made(
        name: str, turns: Callable[[Agent], Sequence[Turn]], *options: str, trusted: bool = True, **more: str
    ) -> Agent:
        if name == "opencode" and not OPENCODE.exists():
            pytest.skip("OpenCode is played on Linux for x64 alone")  # of which the lock file has its program
        model = Model([])
        models.append(model)
        home = tmp_path / name
        environment = surroundings(home, model, metacog) | more
        agent = Agent(name, home, model, environment)
        for folder in (agent.folder, home / ".codex", home / ".claude", home / ".config" / "opencode"):
            folder.mkdir(parents=True)
        model.turns = turns(agent)
        settle(agent)
        agent.install(*options)
        if name == "codex" and trusted:
            agent.trust()
        return agent

    yield made
    for model in models:
        model.close()
    os.environ.clear()
    os.environ.update(before)


def surroundings(home: Path, model: Model, metacog: Any) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return kept | {
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "PYTHONPATH": str(SOURCE),
        "METACOG_URL": metacog.url,
        "METACOG_API_KEY": metacog.api_key,
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CODEX_HOME": str(home / ".codex"),
        # OpenCode asks models.dev for models and npm for its plugins' package: each holds up its start.
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "npm_config_registry": NOWHERE,
        "npm_config_fetch_retries": "0",
    }


def settle(agent: Agent) -> None:
    """Write what the programs want to know: the model, and the MCP server."""
    command, *words = [*MCP, str(agent.home / "till")]
    (agent.home / "mcp.json").write_text(json.dumps({"mcpServers": {"till": {"command": command, "args": words}}}))
    provider = f'name = "ours"\nbase_url = "{agent.model.url}/v1"\nwire_api = "responses"\n'
    (agent.home / ".codex" / "config.toml").write_text(
        f'model = "gpt-5.5"\nmodel_provider = "ours"\n[model_providers.ours]\n{provider}'
        f"[mcp_servers.till]\ncommand = {json.dumps(command)}\nargs = {json.dumps(words)}\n"
        'default_tools_approval_mode = "approve"\n'
    )
    (agent.home / ".config" / "opencode" / "opencode.json").write_text(
        json.dumps(
            {
                "permission": {"*": "deny"},
                "model": "ours/scripted",
                "small_model": "ours/scripted",
                "provider": {
                    "ours": {
                        "npm": "@ai-sdk/anthropic",
                        "options": {"baseURL": f"{agent.model.url}/v1", "apiKey": "none"},
                        "models": {"scripted": {}},
                    }
                },
                "mcp": {"till": {"type": "local", "command": [command, *words]}},
            }
        )
    )


@pytest.fixture(scope="session")
def built() -> None:
    """Build the client for TypeScript, which OpenCode's plugin is made of."""
    subprocess.run(["npm", "run", "--silent", "build"], cwd=CLIENTS / "typescript", check=True, timeout=SECONDS)
