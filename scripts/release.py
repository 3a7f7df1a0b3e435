"""Build a release into dist/: the wheel, the source, and a list of all that is in it (CycloneDX 1.6, JSON).

    make release

The list names what `pip install` brings with the locked release and license of each, optional where an extra brings it,
and what was taken from others into the code. The same commit gives the same list to the byte, on one Python and system.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RUNTIME, WITH_EXTRAS = ROOT / "requirements.txt", ROOT / "deploy" / "requirements.txt"
OWN = "metacog-review"
UV = Path(sys.executable).with_name("uv")

Installed = importlib.metadata.Distribution

# Data of others that stand in our code, made by the script that is named in the file.
TAKEN: tuple[dict[str, Any], ...] = (
    {
        "name": "Unicode CLDR", "version": "", "licenses": [{"license": {"id": "Unicode-3.0"}}],
        "file": "metacog/accounts/times/cities.py", "url": "https://cldr.unicode.org",
    },
    {
        "name": "OpenCC", "version": "1.4.2", "licenses": [{"license": {"id": "Apache-2.0"}}],
        "file": "metacog/heuristics/lexicon/simplified.py", "url": "https://github.com/BYVoid/OpenCC",
    },
    {
        "name": "zxcvbn", "version": "4.5.0", "licenses": [{"license": {"id": "MIT"}}],
        "file": "metacog/heuristics/lexicon/everyday.py", "url": "https://github.com/dwolfhub/zxcvbn-python",
    },
    {
        "name": "jieba", "version": "0.42.1", "licenses": [{"license": {"id": "MIT"}}],
        "file": "metacog/heuristics/lexicon/everyday.py", "url": "https://github.com/fxsjy/jieba",
    },
)  # fmt: skip


def main() -> int:
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob(f"{OWN.replace('-', '_')}-*"):
        old.unlink()
    subprocess.run([UV, "build", "--quiet", "--out-dir", DIST, ROOT], check=True)
    built = sorted(DIST.glob(f"{OWN.replace('-', '_')}-*"))
    listed = DIST / f"{OWN.replace('-', '_')}-{PROJECT['version']}.cdx.json"
    with tempfile.TemporaryDirectory(prefix="metacog-release-") as folder:
        install: list[Any] = ["--target", folder, "--no-deps", "--require-hashes", "--requirement", WITH_EXTRAS]
        subprocess.run([UV, "pip", "install", "--quiet", "--python", sys.executable, *install], check=True)
        told = bill(built, importlib.metadata.distributions(path=[folder]))
    listed.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    print(*(path.relative_to(ROOT) for path in [*built, listed]), sep="\n")
    return 0


def bill(built: Sequence[Path], installed: Iterable[Installed]) -> dict[str, Any]:
    """Return the list: the digests of what was built, and what packages, as they are installed, say of themselves."""
    packages: dict[str, Installed] = {canonicalize_name(each.name): each for each in installed}
    runtime, all_of_them = locked(RUNTIME), locked(WITH_EXTRAS)
    components = [
        package(name, *all_of_them[name], name in runtime, packages.get(name)) for name in sorted(all_of_them)
    ]
    direct = sorted(canonicalize_name(Requirement(each).name) for each in PROJECT["dependencies"])
    document: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": committed_at(),
            "component": {
                "type": "application",
                "bom-ref": OWN,
                "name": OWN,
                "version": PROJECT["version"],
                "description": PROJECT["description"],
                "licenses": [{"license": {"id": PROJECT["license"]}}],
                "components": [file_of(path) for path in built],
            },
        },
        "components": [*components, *vendored(), *map(taken, TAKEN)],
        "dependencies": [
            {"ref": OWN, "dependsOn": [ref(name) for name in direct]},
            *(
                {"ref": ref(name), "dependsOn": [*map(ref, needs(packages.get(name), all_of_them))]}
                for name in sorted(all_of_them)
            ),
        ],
    }
    known = json.dumps(document, sort_keys=True)
    return {**document, "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, known)}"}


def committed_at() -> str:
    command = ["git", "log", "-1", "--format=%cI"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def locked(path: Path) -> dict[str, tuple[str, str]]:
    """Read a lock file: the version of each package, and the marker of where it is installed."""
    lines = re.findall(r"^([\w.-]+)==([^ \\;]+)(?: ; ([^\\\n]+))?", path.read_text(), re.MULTILINE)
    found: dict[str, tuple[str, str]] = {}
    for name, version, marker in lines:  # of several versions, that of this Python
        if name not in found or (marker and Marker(marker).evaluate()):
            found[canonicalize_name(name)] = (version, marker.strip())
    return found


def ref(name: str) -> str:
    return f"pypi:{name}"


def package(name: str, version: str, marker: str, is_runtime: bool, installed: Installed | None) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": ref(name),
        "name": name,
        "version": version,
        "scope": "required" if is_runtime and not marker else "optional",
        "purl": f"pkg:pypi/{name}@{version}",
    }
    if installed and (licenses := licenses_of(installed)):  # else it is for another system
        component["licenses"] = licenses
    if marker:
        component["properties"] = [{"name": "metacog:marker", "value": marker}]
    return component


def licenses_of(installed: Installed) -> list[dict[str, Any]]:
    """Return what a package says of its license."""
    told = installed.metadata
    if "License-Expression" in told:
        return [{"expression": told["License-Expression"]}]
    named = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier", []) if line.startswith("License ::")]
    named = named or [each.strip().partition("\n")[0] for each in told.get_all("License", [])]
    return [{"license": {"name": each}} for each in named if each]


def needs(installed: Installed | None, known: Mapping[str, Any]) -> list[str]:
    """Return which of the listed packages a package needs here."""
    told = map(Requirement, (installed.requires if installed else None) or [])
    wanted = {canonicalize_name(each.name) for each in told if not each.marker or each.marker.evaluate({"extra": ""})}
    return sorted(wanted & known.keys())


def file_of(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"type": "file", "name": path.name, "hashes": [{"alg": "SHA-256", "content": digest}]}


def vendored() -> Iterator[dict[str, Any]]:
    """Give the files of others that are served as they are: scripts/check.py holds them to this list."""
    listing = ROOT / "static" / "vendor" / "VENDORED.json"
    for name, entry in json.loads(listing.read_text()).items() if listing.exists() else ():
        text = (listing.parent / entry["licence"]).read_text()
        yield {
            "type": "file",
            "bom-ref": f"file:static/vendor/{name}",
            "name": entry["package"],
            "version": entry["version"],
            "licenses": [{"license": {"name": text.strip().partition("\n")[0]}}],
        }


def taken(entry: dict[str, Any]) -> dict[str, Any]:
    component = {"type": "data", "bom-ref": f"file:{entry['file']}", "name": entry["name"]}
    component |= {"version": entry["version"]} if entry["version"] else {}
    return component | {
        "licenses": entry["licenses"],
        "externalReferences": [{"type": "website", "url": entry["url"]}],
        "properties": [{"name": "metacog:file", "value": entry["file"]}],
    }


if __name__ == "__main__":
    sys.exit(main())
