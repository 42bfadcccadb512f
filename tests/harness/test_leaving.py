"""The end of a process with and without threads that nobody waits for."""

import subprocess
import sys

FORGETFUL = """
import atexit, threading
from rogue.harness.leaving import leave, start_forgotten
atexit.register(print, "tidied up")
at_work = threading.Event()
def work():
    at_work.set()
    threading.Event().wait()
start_forgotten(work)
at_work.wait()
try:
    leave(130)
finally:
    print("torn down")
"""


def test_a_forgotten_thread_is_left_alone_and_all_else_is_tidied_up() -> None:
    done = subprocess.run([sys.executable, "-c", FORGETFUL], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "tidied up\n", "")


def test_it_ends_with_its_code_also_if_nobody_reads_what_it_says() -> None:
    deaf = FORGETFUL.replace("try:", "import sys\nsys.stdout = open('/dev/full', 'w')\ntry:")
    done = subprocess.run([sys.executable, "-c", deaf], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_without_one_the_interpreter_ends_as_usual() -> None:
    usual = FORGETFUL.replace("start_forgotten(work)\nat_work.wait()\n", "")
    done = subprocess.run([sys.executable, "-c", usual], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "torn down\ntidied up\n", "")


def test_a_forgotten_thread_that_has_ended_is_none() -> None:
    ended = FORGETFUL.replace("    threading.Event().wait()\n", "").replace(
        "at_work.wait()\n", "[each.join() for each in threading.enumerate() if each.daemon]\n"
    )
    done = subprocess.run([sys.executable, "-c", ended], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "torn down\ntidied up\n")
