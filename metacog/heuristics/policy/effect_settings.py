"""Check what a policy says of how tool calls are read, and of the packs that judge what they would do."""

import re
from collections.abc import Mapping
from typing import Any

from ..effects.pointers import MAX_LENGTH, names_of
from ..effects.programs import FIELDS, Programs
from ..tool_calls.pack import packs
from ..tool_calls.rules import Errors

LANGUAGES = ("shell", "sql", "path", "url", "mail", "amount", "text", "argv", "code")
MAX_TOOLS = 200
MAX_ARGUMENTS = 50  # of a tool
MAX_PROGRAMS = 500
MAX_SERVERS = 100
MAX_PACKS = 20
PACK_FIELDS = ("name", "workspace")
_LANGUAGE = re.compile(rf"(?:{'|'.join(LANGUAGES)})(?::[a-z][a-z0-9_-]{{0,30}})?")


def readers_errors(value: Any) -> Errors:
    """Say what is wrong with a table of readers: {"Bash": {"/command": "shell"}}."""
    if not isinstance(value, Mapping):
        return [((), "must be an object: tools, each with JSON Pointers into its arguments")]
    if len(value) > MAX_TOOLS:
        return [((), f"must be at most {MAX_TOOLS} tools")]
    errors: Errors = []
    for tool, places in value.items():
        if not isinstance(tool, str) or not 1 <= len(tool) <= MAX_LENGTH:
            errors.append(((str(tool),), f"must be the name of a tool, with * for any characters; 1 to {MAX_LENGTH}"))
        if not isinstance(places, Mapping) or not 1 <= len(places) <= MAX_ARGUMENTS:
            errors.append(((str(tool),), f"must be an object with 1 to {MAX_ARGUMENTS} JSON Pointers"))
            continue
        for place, language in places.items():
            if names_of(place) is None:
                errors.append(((str(tool), str(place)), "must be a JSON Pointer into the arguments, such as /command"))
            if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
                wanted = ", ".join(LANGUAGES)
                errors.append(((str(tool), str(place)), f'must be one of {wanted}, or as "sql:postgres", "path:write"'))
    return errors


def programs_errors(value: Any) -> Errors:
    """Say what is wrong with a team's own rows of the table of programs."""
    if not isinstance(value, list | tuple):
        return [((), "must be a list")]
    if len(value) > MAX_PROGRAMS:
        return [((), f"must be at most {MAX_PROGRAMS} programs")]
    errors: Errors = []
    for place, row in enumerate(value):
        names = row.get("program") if isinstance(row, Mapping) else None
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
            errors.append(((str(place),), "must be an object with a `program`, its name or a list of names"))
            continue
        errors += [((str(place), str(part)), "is not part of a row") for part in row if part not in FIELDS]
        try:
            Programs([row])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = str(error) if type(error) is ValueError else "see docs/programs.md"
            errors.append(((str(place),), f"must be a row of the table of programs: {why}"))
    return errors


def servers_errors(value: Any) -> Errors:
    """Say what is wrong with a list of trusted tool servers."""
    if not isinstance(value, list | tuple):
        return [((), "must be a list")]
    if len(value) > MAX_SERVERS:
        return [((), f"must be at most {MAX_SERVERS} names of servers")]
    wanted = f"must be the name of a server, with * for any characters; 1 to {MAX_LENGTH}"
    return [
        ((str(place),), wanted)
        for place, name in enumerate(value)
        if not isinstance(name, str) or not 1 <= len(name) <= MAX_LENGTH
    ]


def packs_errors(value: Any) -> Errors:
    """Say what is wrong with the packs of a policy: [{"name": "coding", "workspace": "/srv/app"}]."""
    if not isinstance(value, list | tuple):
        return [((), "must be a list")]
    if len(value) > MAX_PACKS:
        return [((), f"must be at most {MAX_PACKS} packs")]
    errors: Errors = []
    for number, pack in enumerate(value):
        at = str(number)
        if not isinstance(pack, Mapping):
            errors.append(((at,), 'must be an object with a "name"'))
            continue
        errors += [((at, str(name)), "is not part of a pack") for name in pack if name not in PACK_FIELDS]
        if pack.get("name") not in packs():
            errors.append(((at, "name"), "must be one of " + ", ".join(packs())))
        workspace = pack.get("workspace")
        if workspace is not None and not (isinstance(workspace, str) and 1 <= len(workspace) <= MAX_LENGTH):
            errors.append(((at, "workspace"), f"must be a folder, a text of 1 to {MAX_LENGTH} characters"))
    return errors
