"""The command line itself: its help names metacog's commands first, with what each does, then the others."""

from __future__ import annotations

from contextlib import suppress
from textwrap import fill

import django
from django.conf import settings
from django.core.management import BaseCommand, ManagementUtility, get_commands, load_command_class

from metacog.runtime import start

MAKES_DATA_FOLDER = ("migrate", "web", "worker", "beat")
OURS = ("metacog", "patterns", "reviews")
OF_CLIENT = {
    "hook": "Asks metacog before Claude Code or Codex uses a tool",
    "mcp": "Serves metacog's tools to an MCP client",
    "mcp-plugin": "Answers ContextForge before it calls a tool",
    "mcp-proxy": "Stands before an MCP server and asks before each of its tools is called",
}


class Utility(ManagementUtility):
    def execute(self) -> None:
        if self.argv[1:2] and self.argv[1] in MAKES_DATA_FOLDER:
            settings.DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
        with start.imports():
            django.setup()
        super().execute()

    def fetch_command(self, subcommand: str) -> BaseCommand:
        """Return a command by its name, in which a hyphen may stand for the underscore of its module."""
        return super().fetch_command(subcommand if subcommand in get_commands() else subcommand.replace("-", "_"))

    def main_help_text(self, commands_only: bool = False) -> str:
        if commands_only:
            return super().main_help_text(commands_only=True)
        ours = meanings()
        others = sorted(name for name, app in get_commands().items() if app not in OURS)
        return "\n".join(
            [
                f"Type '{self.prog_name} help COMMAND' for what one of them takes.",
                "",
                "metacog:",
                *(f"    {name:13}  {meaning}" for name, meaning in ours.items()),
                "",
                "For agents, without Django:",
                *(f"    {name:13}  {meaning}" for name, meaning in OF_CLIENT.items()),
                "",
                "Django and other packages:",
                fill(", ".join(others), 110, initial_indent="    ", subsequent_indent="    "),
            ]
        )


def meanings() -> dict[str, str]:
    """Return the first sentence of what each of our commands says of itself."""
    found = {}
    for name, app in sorted(get_commands().items()):
        if app in OURS:
            with suppress(ModuleNotFoundError):  # a developer's, where only what runs is installed
                found[name.replace("_", "-")] = load_command_class(app, name).help.partition(". ")[0].rstrip(".")
    return found
