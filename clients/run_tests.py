"""Run the tests of what stands in front of agents: adapters, hooks, the MCP server, the TypeScript client.

    clients/run_tests.py [NAME…]        all, without a name

Each has an environment of its own, with the packages that its lock file names by hash, in .venv-clients/NAME (in
clients/typescript/node_modules for Node): frameworks would else decide each other's versions, and metacog's. The real
metacog that they ask is started by the Python that runs this.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON_CLIENT = ROOT / "clients" / "python"
LONGEST_SECONDS = 3_600  # of one suite on a busy machine: what hangs must not hold up the others


class Skipped(Exception):
    """What is needed is not on this machine; the sentence says what."""


@dataclass(frozen=True)
class InPython:
    """Tests of the Python client, with the packages of requirements-NAME.txt; paths are below clients/python.

    `types` are modules that only this environment's mypy can read; `packages` names another lock file; `programs` are
    folders below clients/ whose package-lock.json have the programs that the tests run.
    """

    tests: tuple[str, ...]
    types: tuple[str, ...] = ()
    packages: str = ""
    programs: tuple[str, ...] = ()

    def run(self, name: str) -> int:
        around = surroundings()
        for program in self.programs:
            folder = in_node(program, name, oldest=(20, 11))
            around["PATH"] = f"{folder / 'node_modules' / '.bin'}{os.pathsep}{around['PATH']}"
        python = self.environment(self.packages or name)
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"  # that of the packages beside it
        modules = [f"--package={module}" for module in self.types]
        if modules and subprocess.call(
            [python, "-m", "mypy", f"--python-version={version}", "--no-error-summary", *modules], cwd=PYTHON_CLIENT
        ):
            return 1
        command = [python, "-m", "pytest", *self.tests]
        return subprocess.call(command, cwd=PYTHON_CLIENT, env=around, timeout=LONGEST_SECONDS)

    def environment(self, name: str) -> str:
        folder, lock = ROOT / ".venv-clients" / name, PYTHON_CLIENT / f"requirements-{name}.txt"
        stamp, python = folder / "installed", str(folder / "bin" / "python")
        wanted = f"{sys.version}\n{hashlib.sha256(lock.read_bytes()).hexdigest()}\n"
        if stamp.exists() and stamp.read_text() == wanted:
            return python
        uv = str(Path(sys.executable).with_name("uv"))
        environment = os.environ | {"UV_PYTHON_DOWNLOADS": "never"}
        print(f"{name}: installing the packages of {lock.relative_to(ROOT)}", flush=True)
        for command in (
            [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)],
            [uv, "pip", "sync", "--quiet", "--python", python, "--require-hashes", str(lock)],
        ):
            subprocess.run(command, cwd=ROOT, env=environment, check=True)
        stamp.write_text(wanted)
        return python


@dataclass(frozen=True)
class InNode:
    """Tests of a package for Node, below clients/."""

    folder: str
    oldest: tuple[int, int]  # version of Node

    def run(self, name: str) -> int:
        folder = in_node(self.folder, name, self.oldest)
        return subprocess.call(["npm", "test"], cwd=folder, env=surroundings(), timeout=LONGEST_SECONDS)


def in_node(below: str, name: str, oldest: tuple[int, int]) -> Path:
    """Install what the package-lock.json of a folder below clients/ names; return the folder."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise Skipped("there is no Node on the PATH (on Debian: apt install nodejs npm)")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if tuple(int(part) for part in version.removeprefix("v").split(".")[:2]) < oldest:
        raise Skipped(f"Node {version} is too old; {'.'.join(map(str, oldest))} would do")
    folder = ROOT / "clients" / below
    stamp, lock = folder / "node_modules" / ".installed", folder / "package-lock.json"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == wanted):
        print(f"{name}: installing the packages of {lock.relative_to(ROOT)}", flush=True)
        subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder, check=True)
        # Of packages' own scripts only those that our package.json names: Claude Code's puts its program in place.
        subprocess.run([npm, "run", "--if-present", "programs"], cwd=folder, check=True)
        stamp.write_text(wanted)
    return folder


SUITES: dict[str, InPython | InNode] = {
    "agents": InPython(("tests/agents",), packages="hooks", programs=("testing/agents", "typescript")),
    "claude-agent-sdk": InPython(
        ("tests/adapters/test_claude_agent_sdk.py",), ("metacog_client.adapters.claude_agent_sdk",)
    ),
    "crewai": InPython(("tests/adapters/test_crewai.py",), ("metacog_client.adapters.crewai",)),
    "examples": InPython(("tests/examples",), packages="hooks"),
    "gateways": InPython(("tests/gateways",)),
    "google-adk": InPython(("tests/adapters/test_google_adk.py",), ("metacog_client.adapters.google_adk",)),
    "hooks": InPython(("tests/hooks",), ("metacog_client.hooks",)),
    "langchain": InPython(("tests/adapters/test_langchain.py",), ("metacog_client.adapters.langchain",)),
    "llama-index": InPython(("tests/adapters/test_llama_index.py",), ("metacog_client.adapters.llama_index",)),
    "mcp": InPython(("tests/mcp",), ("metacog_client.mcp", "metacog_client.mcp.proxy"), programs=("testing/mcp",)),
    "openai-agents": InPython(("tests/adapters/test_openai_agents.py",), ("metacog_client.adapters.openai_agents",)),
    "pydantic-ai": InPython(("tests/adapters/test_pydantic_ai.py",), ("metacog_client.adapters.pydantic_ai",)),
    "typescript": InNode("typescript", oldest=(20, 11)),
}


def surroundings() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("METACOG_")}
    return kept | {"METACOG_TEST_PYTHON": sys.executable}


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in SUITES]:
        sys.exit(f"There is no {', '.join(unknown)}; there are {', '.join(SUITES)}.")
    failed, skipped = [], []
    for name in names or SUITES:
        print(f"{name}:", flush=True)
        try:
            if SUITES[name].run(name):
                failed.append(name)
        except subprocess.CalledProcessError as error:
            print(f"{name}: not installed; is there a network? ({error})", flush=True)
            failed.append(name)
        except subprocess.TimeoutExpired as late:
            print(f"{name}: not done after {late.timeout:.0f} seconds.", flush=True)
            failed.append(name)
        except Skipped as why:
            skipped.append(f"{name} was skipped: {why}.")
    for line in [*skipped, *(f"{name} FAILED." for name in failed)]:
        print(line, flush=True)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
