"""What a release says is in it: CycloneDX, whole, and the same each time."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from pathlib import Path

import cyclonedx.schema
import pytest
from jsonschema import Draft7Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7

from scripts import release

SCHEMAS = Path(cyclonedx.schema.__file__).parent / "_res"


def schema(name: str) -> dict[str, object]:
    read: dict[str, object] = json.loads((SCHEMAS / name).read_text())
    return read


def test_the_list_is_cyclonedx_and_has_every_package_with_its_license(tmp_path: Path) -> None:
    wheel = tmp_path / "metacog_review-1.0.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    told = release.bill([wheel], importlib.metadata.distributions())
    assert told == release.bill([wheel], importlib.metadata.distributions())

    named = [f"{name}.SNAPSHOT.schema.json" for name in ("spdx", "jsf-0.82", "cryptography-defs")]
    others = [(f"http://cyclonedx.org/schema/{name}", DRAFT7.create_resource(schema(name))) for name in named]
    checker = Draft7Validator(schema("bom-1.6.SNAPSHOT.schema.json"), registry=Registry().with_resources(others))
    assert list(checker.iter_errors(told)) == []

    own = told["metadata"]["component"]
    assert (own["name"], own["components"][0]["hashes"][0]["content"]) == (
        "metacog-review",
        hashlib.sha256(b"wheel").hexdigest(),
    )
    found = {each["name"]: each for each in told["components"]}
    locked = release.locked(release.RUNTIME)
    assert locked.keys() | {"mcp", "Unicode CLDR", "OpenCC"} <= found.keys()
    assert not {"pytest", "mypy", "standardwebhooks", "metacog"} & found.keys()
    here = [name for name, (_version, marker) in locked.items() if not marker]
    assert [name for name in here if "licenses" not in found[name] or found[name]["scope"] != "required"] == []
    assert found["django"]["purl"] == f"pkg:pypi/django@{importlib.metadata.version('django')}"
    needs = {each["ref"]: each["dependsOn"] for each in told["dependencies"]}
    assert "pypi:django" in needs["metacog-review"]
    assert {"pypi:asgiref", "pypi:sqlparse"} <= set(needs["pypi:django"])


@pytest.mark.parametrize("entry", release.TAKEN, ids=lambda entry: entry["name"])
def test_what_was_taken_from_others_says_so_in_its_file(entry: dict[str, str]) -> None:
    head = (release.ROOT / entry["file"]).read_text()[:400]
    assert entry["name"].split()[-1] in head
    assert entry["version"] in head
