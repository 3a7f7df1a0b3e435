"""A short run of the comparison with the seeds' own code; `differential.py` runs a long one."""

import importlib.util
import shutil
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("differential", Path(__file__).with_name("differential.py"))
assert spec is not None
assert spec.loader is not None
differential = importlib.util.module_from_spec(spec)
spec.loader.exec_module(differential)


@pytest.mark.skipif(shutil.which("node") is None, reason="the seeds' own code needs Node, and there is none on PATH")
def test_it_answers_as_the_seeds_own_code_does() -> None:
    compared, found = differential.differences(count=150, seed=20260216)
    assert found == []
    assert compared == {"score": 150, "markers": 150, "intent": 300}
