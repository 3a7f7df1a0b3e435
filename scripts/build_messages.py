"""Compile the translations into the wheel; hatchling calls this while it builds one."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Messages(BuildHookInterface):  # type: ignore[misc]  # hatchling is not installed where types are checked
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        from metacog.runtime.po import compiled

        self.folder = tempfile.TemporaryDirectory(prefix="metacog-messages-")
        for source in sorted(Path(self.root, "locale").glob("*/django.po")):
            language = source.parent.name
            target = Path(self.folder.name, f"{language}.mo")
            target.write_bytes(compiled(source.read_text(encoding="utf-8")))
            build_data["force_include"][str(target)] = f"metacog/assets/locale/{language}/LC_MESSAGES/django.mo"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.folder.cleanup()
