"""Static files are named by their content, in the scripts that import each other as well."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import find
from django.core.files.storage import FileSystemStorage

from metacog.http.static_files import StaticFiles

IMPORT = re.compile(r"""^import.*?["']\./(.+?)["'];$""", re.MULTILINE)


def test_modules_import_each_other_by_the_names_that_the_pages_use(tmp_path: Path, settings: Any) -> None:
    settings.DEBUG = False
    scripts = Path(find("metacog/page.js")).parent
    sources = {f"metacog/{path.name}": path for path in scripts.glob("*.js")}
    stored = StaticFiles(location=tmp_path, base_url="/static/")
    for name, path in sources.items():
        stored.save(name, path.open("rb"))
    given = FileSystemStorage(scripts.parent)
    for _, _, done in stored.post_process({name: (given, name) for name in sources}):
        assert not isinstance(done, Exception), done
    for name, path in sources.items():
        found = IMPORT.findall((tmp_path / stored.stored_name(name)).read_text())
        used = [stored.stored_name(f"metacog/{each}") for each in IMPORT.findall(path.read_text())]
        assert [f"metacog/{each}" for each in found] == used
        assert all(re.fullmatch(r"[\w/]+\.[0-9a-f]{12}\.js", each) for each in used)
    large = stored.stored_name("metacog/page.js")
    compressed = [name for name in (large, "metacog/page.js") if (tmp_path / f"{name}.gz").exists()]
    assert compressed == [large]  # under the name that pages use
