# ruff: noqa: RUF005, UP010, UP031
# Written so that any Python can read it, to be told in one sentence that it is too old.
"""Make .venv, install the locked dependencies, then become the command that was asked for.

    python3 scripts/bootstrap.py [--dev] SCRIPT [ARGUMENT...]

Only the standard library is used. What is installed is remembered in .venv/installed, so that the
next start takes no time.
"""

from __future__ import print_function

import hashlib
import os
import subprocess
import sys

SUPPORTED = ((3, 11), (3, 12), (3, 13), (3, 14))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, "installed")
LOG = os.path.join(VENV, "install.log")
UV_LOCK = os.path.join(ROOT, "scripts", "requirements-uv.txt")
RUNTIME_LOCK = os.path.join(ROOT, "requirements.txt")
DEV_LOCK = os.path.join(ROOT, "requirements-dev.txt")


def refuse(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(1)


def say(line):
    print(line)
    sys.stdout.flush()


def find_python():
    """Become a Python that fits, if this one does not and another is on the PATH."""
    if sys.version_info[:2] in SUPPORTED:
        return
    for version in reversed(SUPPORTED):
        name = "python%d.%d" % version
        try:
            # Asked first: pyenv puts commands on the PATH that only say they are not switched on.
            subprocess.check_output([name, "-c", "pass"], stderr=subprocess.STDOUT)
        except (OSError, subprocess.CalledProcessError):
            continue
        os.execvp(name, [name] + sys.argv)
    refuse(
        "This is Python %d.%d; metacog needs Python 3.11 to 3.14 (PYTHON=python3.12 make up names one)."
        % sys.version_info[:2]
    )


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def run(what, command):
    """Run a step of the installation; its output goes to a file, its failure into one sentence."""
    environment = dict(os.environ, UV_PYTHON_DOWNLOADS="never", PIP_DISABLE_PIP_VERSION_CHECK="1")
    environment.pop("PYTHONHOME", None)
    with open(LOG, "wb") as log:
        status = subprocess.call(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )
    if status:
        refuse("%s failed; is there a network and room on the disk? The whole story is in %s." % (what, LOG))


def install(dev):
    """Bring .venv to what the lock files say."""
    python = "Python %s" % sys.version.replace("\n", " ")
    wanted = "%s\n%s\n" % (python, digest(RUNTIME_LOCK))
    wanted_dev = wanted + digest(DEV_LOCK) + "\n"  # what the tests need holds all that runs needs
    try:
        with open(STAMP) as file:
            found = file.read()
    except OSError:
        found = ""
    if found == wanted_dev or (found == wanted and not dev):
        return
    folder = VENV if os.path.isdir(VENV) else ROOT
    if not os.access(folder, os.W_OK):
        refuse("The folder %s cannot be written, so nothing can be installed in it." % folder)
    try:
        import ensurepip  # noqa: F401 - Debian leaves it out, and says so only after half the work
        import venv
    except ImportError:
        refuse(
            "This Python cannot make virtual environments; on Debian: apt install python%d.%d-venv."
            % sys.version_info[:2]
        )
    if not found.startswith(python):
        say("Making .venv with Python %d.%d.%d." % sys.version_info[:3])
        try:
            venv.create(VENV, clear=True, with_pip=True, symlinks=True)
        except (OSError, subprocess.CalledProcessError) as error:
            reason = getattr(error, "strerror", None) or error
            refuse("The virtual environment %s cannot be made: %s." % (VENV, reason))
        say("Installing uv.")
        pip = [VENV_PYTHON, "-m", "pip", "install", "--quiet", "--no-input", "--only-binary=:all:"]
        run("Installing uv", pip + ["--require-hashes", "-r", UV_LOCK])
    elif os.path.exists(STAMP):
        os.remove(STAMP)
    say("Installing the %s." % ("dependencies and what the tests need" if dev else "dependencies"))
    uv = [os.path.join(VENV, "bin", "uv"), "pip", "sync", "--quiet", "--python", VENV_PYTHON]
    run("Installing the dependencies", uv + ["--require-hashes", DEV_LOCK if dev else RUNTIME_LOCK])
    with open(STAMP, "w") as file:
        file.write(wanted_dev if dev else wanted)


def main():
    find_python()
    import fcntl

    arguments = sys.argv[1:]
    dev = arguments[:1] == ["--dev"]
    # Two starts at once in one checkout: the second waits for the first one's installation.
    lock = os.open(ROOT, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    install(dev)
    os.close(lock)
    os.chdir(ROOT)
    os.execv(VENV_PYTHON, [VENV_PYTHON] + arguments[1 if dev else 0 :])


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
