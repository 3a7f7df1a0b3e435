"""`metacog hook claude-code|codex`: have a person decide what a coding agent is about to do."""

from __future__ import annotations


def main(arguments: list[str]) -> int:
    from .command import run

    return run(arguments)
