"""deploy/: what stands around metacog names only commands, options and settings that there are."""

from __future__ import annotations

import re
import shlex
from typing import Any

import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError

DEPLOY = settings.BASE_DIR / "deploy"


def refusal(arguments: list[str]) -> str:
    """Return why `metacog` with these arguments is refused; "" where it is not."""
    name, *options = arguments
    if name not in get_commands():
        return f"no command {name}"
    try:
        load_command_class(get_commands()[name], name).create_parser("metacog", name).parse_args(options)
    except (CommandError, SystemExit) as error:
        return f"{name}: {error}"
    return ""


def test_it_names_only_what_there_is() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    ours = {name: service for name, service in compose["services"].items() if service["image"] == "metacog"}
    commands: list[Any] = [service["command"] for service in ours.values()]
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    commands += [yaml.safe_load(found) for found in re.findall(r"^CMD (.*)", dockerfile, re.MULTILINE)]
    for unit in sorted((DEPLOY / "systemd").iterdir()):
        (line,) = re.findall(r"^ExecStart=/opt/metacog/bin/metacog (.*)", unit.read_text(), re.MULTILINE)
        instances = ("web", "worker", "beat") if "@" in unit.name else ("",)
        commands += [shlex.split(line.replace("%i", instance)) for instance in instances]
    wrong = [said for command in commands if (said := refusal(command))]

    known = set(re.findall(r"METACOG_\w+", (settings.BASE_DIR / "metacog" / "settings.py").read_text()))
    for path in sorted(path for path in DEPLOY.rglob("*") if path.is_file()):
        wrong += [f"{path.name}: {name}" for name in set(re.findall(r"METACOG_\w+", path.read_text())) - known]

    for name, service in compose["services"].items():
        wrong += [
            f"{name} waits for {other}" for other in set(service.get("depends_on", ())) - set(compose["services"])
        ]
        volumes = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        wrong += [f"{name} mounts {volume}" for volume in volumes - set(compose["volumes"])]
    assert not wrong
    assert {"migrate", "web", "worker", "beat"} <= {command[0] for command in commands}


def test_each_unit_says_at_its_top_what_it_is_and_whence_its_user_comes() -> None:
    for unit in sorted((DEPLOY / "systemd").iterdir()):
        text = unit.read_text()
        top, _, body = text.partition("[Unit]")
        assert top.startswith("# "), unit.name
        (user,) = re.findall(r"^User=(.*)", body, re.MULTILINE)
        assert re.search(rf"useradd .* {user}$", top, re.MULTILINE) or "as metacog.service says" in top, unit.name
