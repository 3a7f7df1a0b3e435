"""Write the lock files anew: exact versions and hashes for every supported Python and platform."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV_VERSION = "0.13.9"
MUTMUT_VERSION = "3.8.1"
# Each has an environment of its own, in which clients/run_tests.py tests what the client has for it.
# What its tests need besides pytest and mypy stands after its name.
OF_CLIENTS = {
    "claude-agent-sdk": "",
    "crewai": "",
    "gateways": "cpex>=0.1.4,<0.2\nlitellm>=1.110,<2",
    "google-adk": "sqlalchemy[asyncio]>=2,<3\naiosqlite>=0.21,<1",
    "hooks": "",
    "langchain": "langgraph-checkpoint-sqlite>=3.1,<4",
    "llama-index": "",
    "mcp": "mcp-server-fetch>=2026.10\nmcp-server-git>=2026.10",
    "openai-agents": "",
    "pydantic-ai": "",
}
WITHOUT_EXTRA = ("gateways", "hooks")  # what needs the client alone


def compile_lock(output: str, *arguments: str, requirements: str = "") -> None:
    # No header, no index: nothing in the file tells where it was written.
    done = subprocess.run(
        [
            ROOT / ".venv/bin/uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes",
            "--python-version=3.11", "--no-header", "--no-annotate", "--output-file", output, *arguments,
        ],
        cwd=ROOT, input=requirements, text=True,
    )  # fmt: skip
    if done.returncode:  # uv has said why
        sys.exit(done.returncode)


upgrade = sys.argv[1:]
compile_lock("requirements.txt", "pyproject.toml", *upgrade)
compile_lock("deploy/requirements.txt", "pyproject.toml", "--extra=mcp", "--constraints=requirements.txt", *upgrade)
tests_too = ["--group=dev", "--constraints=requirements.txt"]
compile_lock("requirements-dev.txt", "pyproject.toml", *tests_too, *upgrade)
for name, more in OF_CLIENTS.items():
    lock, wanted = f"clients/python/requirements-{name}.txt", ["--group=clients/python/pyproject.toml:test", "-"]
    extra = [] if name in WITHOUT_EXTRA else [f"--extra={name}"]
    compile_lock(lock, "clients/python/pyproject.toml", *extra, *wanted, *upgrade, requirements=more)
compile_lock(
    "scripts/requirements-mutate.txt",
    "-",
    "--constraints=requirements-dev.txt",
    requirements=f"mutmut=={MUTMUT_VERSION}\n",
)
compile_lock("scripts/requirements-uv.txt", "-", requirements=f"uv=={UV_VERSION}\n")
