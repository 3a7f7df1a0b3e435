"""Every accepted post is on the disk before it is answered."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from pathlib import Path

from tests.faults import site as sites
from tests.faults.away import post
from tests.faults.servers import Missing, fail, until

POSTS = 50


def on_sqlite(folder: Path) -> str:
    """Count the syncs of the web server's processes while posts come one after the other."""
    if not shutil.which("strace"):
        raise Missing("no strace on the PATH (on Debian: apt install strace)")
    with sites.running(folder / "data") as site:
        agent = site.create_agent()
        assert post(site, agent, "warm").status == 201
        trace = folder / "trace"
        attach = [argument for process in site.processes("metacog.web") for argument in ("-p", str(process.pid))]
        command = ["strace", "-f", "-qq", "-y", "-e", "trace=fsync,fdatasync", "-o", str(trace), *attach]
        strace = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            until(lambda: trace.exists() or strace.poll() is not None, 10, "strace starts")
            if strace.poll() is not None:
                raise Missing("strace may not look at processes here")
            time.sleep(1)
            least = POSTS
            for number in range(POSTS):
                before = syncs(trace)
                assert post(site, agent, f"post-{number}").status == 201
                least = min(least, syncs(trace) - before)
            total = syncs(trace)
        finally:
            strace.send_signal(signal.SIGINT)
            strace.wait()
    fail("" if least >= 1 else "a post was answered without a sync")
    return f"{POSTS} posts, {total} syncs of the database's log, at least {least} before each answer"


def syncs(trace: Path) -> int:
    return trace.read_text().count("metacog.sqlite3-wal>")
