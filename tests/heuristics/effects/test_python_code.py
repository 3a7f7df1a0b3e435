"""Inline Python: what it does beside running, however the function was found."""

from metacog.heuristics.effects import python_code
from tests.tables import table

CODE = [
    ("print(1 + 1)", ""),
    ("import app\nprint(app.__version__, getattr(app, name))", ""),
    ("x = [3]; x.remove(3); 'a'.replace('a', 'b'); d.get('a'); print(open)", ""),
    ("import os; print(os.path.join('a', 'b'), os.getcwd())", ""),
    ("import platform; platform.system()", ""),
    ("import os; os.remove('a')", "delete:a"),
    ("from os import unlink as u; u('a')", "delete:a"),
    ("import shutil as s; f = s.rmtree; f('/srv')", "delete:/srv"),
    ("from shutil import *; rmtree('a')", "delete:a"),
    ("from pathlib import Path\nfor p in Path('b').glob('*.pyc'):\n    p.unlink()", "delete:b/*.pyc"),
    ("import os\nd = 'a'\nos.rmdir(os.path.join(d, f'b{x}'))", "delete:a/b$"),
    ("import os\nfor x in y: os.remove(x)", "delete:$x"),
    ("import os, tempfile\nf, n = tempfile.mkstemp('.a')\nos.remove(n)", "write delete:/tmp/tmp.XXXXXXXXXX"),
    ("import os, tempfile\nf, n = tempfile.mkstemp(dir='/a')\nos.remove(n)", "write delete:$n"),
    (
        "import tempfile, os\ntempfile.mkdtemp = f\nos.rmdir(tempfile.mkdtemp())",
        "unknown delete:/tmp/tmp.XXXXXXXXXX write",
    ),
    ("import os; os.chdir('/'); os.remove('a')", "delete:$PWD/a"),
    ("open('a', 'w').write('x'); open('b')", "write:a read:b"),
    ("from pathlib import Path; (Path.home() / 'x').write_text('')", "write:~/x"),
    ("import os; os.system('rm a')", "run:rm a"),
    ("import subprocess; subprocess.run(['rm', '-rf', x])", "run:rm -rf $word"),
    ("import subprocess; subprocess.run('rm a', shell=True)", "run:rm a"),
    ("import subprocess; subprocess.run(x, shell=True)", "unknown"),
    ("import sys, subprocess; subprocess.check_call([sys.executable, '-m', 'pip'])", "run:python -m pip"),
    ("import os; [f(x) for f in (os.remove,)]", "delete:$os.remove"),
    ("import os; f(os)", "unknown"),
    ("__import__('os').remove('a')", "delete:a"),
    ("getattr(__import__('os'), 're' + 'move')('a')", "delete:a"),
    ("__import__(x).remove('a')", "unknown"),
    ("import os; getattr(os, x)('a')", "unknown"),
    ("import os; os.__dict__['system']('a')", "unknown"),
    ("eval(x)", "unknown"),
    ("().__class__.__base__.__subclasses__()", "unknown"),
    ("import ｏｓ; ｏｓ.remove('a')", "delete:a"),
    ("import pickle; pickle.load(f)", "unknown"),
    ("import boto3", "unknown"),
    ("print 'a'; import os", "unknown"),
    ("import requests; requests.get('http://a/b')", "fetch:http://a/b"),
    ("import requests; requests.post('http://a', data=1)", "send:http://a"),
    ("import os; print(os.environ)", "secret:environment"),
    ("import os; print(os.environ['API_KEY'])", "secret:environment"),
    ("import os; print(os.environ['LANG'], os.environ.get('TZ'))", ""),
    ("User.objects.all().delete()", "delete"),
    ("import os; x = '" + "a" * 9_000 + "'", "unknown"),
    ("os" + "(" * 5_000, "unknown"),
]


@table(("code", "effects"), CODE)
def test_it_tells_what_code_does(code: str, effects: str) -> None:
    found = []
    for one in python_code.read(code):
        if one.command is not None:
            found.append(f"run:{one.command if isinstance(one.command, str) else ' '.join(one.command)}")
        else:
            found.append(one.effect + (f":{one.object}" if one.object else ""))
    assert " ".join(dict.fromkeys(found)) == effects


def test_effects_stand_in_code_points() -> None:
    code = "x = '食物🍜'\nimport os; y = '食'; os.remove('中文')"
    (found,) = python_code.read(code)
    assert code[found.start : found.end] == "'中文'"
