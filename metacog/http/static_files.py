"""How the static files are stored and named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whitenoise.storage import CompressedManifestStaticFilesStorage

_, IMPORTS = CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Name each file by its content, and in our modules the files that they import.

    A module's name changes with what it imports, so that no two may import each other.
    """

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = ("metacog/*.js", IMPORTS)  # others' name files that they do not bring
    max_post_process_passes = 20  # one for each module that stands on another

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Compress what pages name: neither files under their plain names, nor what only a debugger reads."""
        named = {name for name in self.hashed_files.values() if not name.endswith(".map")}
        compressed: Iterator[tuple[str, str]] = super().compress_files(named.intersection(paths))
        return compressed
