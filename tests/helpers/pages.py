"""Run the commands of a docs page, and list its anchors."""

import os
import re
import subprocess
import sys
from pathlib import Path

from helpers import command_line


def anchors(page: Path) -> set[str]:
    """What a page's headings are called in links, by GitHub's rule."""
    heads = [line.lstrip("# ") for line in page.read_text().splitlines() if line.startswith("#")]
    words = (re.sub(r"[^\w\- ]", "", head.lower()) for head in heads)
    return {head.replace(" ", "-") for head in words}


ROOT = Path(__file__).parents[2]
CHANNEL = "ROGUE_SERVER"
ROGUE = f"""\
#!{sys.executable} -IS
import json, os, socket, sys
server = socket.socket(fileno=os.dup(int(os.environ["{CHANNEL}"])))
call = {{"directory": os.getcwd(), "arguments": sys.argv[1:], "environment": dict(os.environ)}}
socket.send_fds(server, [json.dumps(call).encode()], [1, 2])
sys.exit(int(server.recv(16)) % 256)
"""


def text_of(page: str) -> str:
    return (ROOT / "docs" / page).read_text()


def blocks_of(text: str) -> list[str]:
    """The blocks that a reader may put into a shell."""
    return re.findall(r"```sh\n(.*?)```", text, re.DOTALL)


def run_script(script: str, directory: Path) -> str:
    """Run it in an empty directory and return what it printed; no command of it may fail."""
    programs = directory.with_name(f"{directory.name}-programs")
    programs.mkdir()
    (programs / "rogue").write_text(ROGUE)
    (programs / "rogue").chmod(0o755)
    server = command_line.server().fileno()
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    mine = {"PATH": path, "COLUMNS": "200", CHANNEL: str(server), "ROGUE_FAKE_REPORT": "real"}
    done = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{script}"],
        cwd=directory, env=os.environ | mine, pass_fds=[server], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout
