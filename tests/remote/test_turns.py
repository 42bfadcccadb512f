import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from rogue.remote.connection import LOGINS_AT_ONCE, Turns

PATIENCE_S = 30


def test_a_server_takes_twice_as_many() -> None:
    assert 2 * LOGINS_AT_ONCE <= 10, "MaxStartups 10:30:100"


def test_so_many_are_there_at_once_and_no_more() -> None:
    """All that may come meet there; a thirteenth would have to wait until they have gone."""
    turns, lock = Turns(3), threading.Lock()
    meeting = threading.Barrier(3, timeout=PATIENCE_S)
    there, most = 0, 0

    def visit(_: int) -> None:
        nonlocal there, most
        with turns.at("gate"):
            with lock:
                there += 1
                most = max(most, there)
            meeting.wait()
            with lock:
                there -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(visit, range(12)))
    assert most == 3


def test_places_do_not_wait_for_each_other() -> None:
    turns = Turns(1)
    with turns.at("gate"), turns.at("tor"):
        pass


def test_who_fails_leaves() -> None:
    turns = Turns(1)
    for _ in range(2):
        with suppress(OSError), turns.at("gate"):
            raise OSError
