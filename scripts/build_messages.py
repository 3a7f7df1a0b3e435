"""Compile the translations into the wheel; hatchling calls this while it builds one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Messages(BuildHookInterface):  # type: ignore[misc]  # hatchling is not installed where types are checked
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="metacog-messages-")
        for source in sorted(Path(self.root, "locale").glob("*/django.po")):
            language = source.parent.name
            target = Path(self.folder.name, f"{language}.mo")
            with source.open("rb") as po, target.open("wb") as mo:
                write_mo(mo, read_po(po, locale=language))
            build_data["force_include"][str(target)] = f"metacog/assets/locale/{language}/LC_MESSAGES/django.mo"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.folder.cleanup()
