"""Start a Dask cluster in its own process: a scheduler and some workers, until its input ends.

As a script it prints the scheduler's address; its workers can load what tests define.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parent.parent


@contextmanager
def dask_cluster(workers: int) -> Iterator[str]:
    """Yield the address of a scheduler with this number of workers of one thread each."""
    command = [sys.executable, __file__, str(workers)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.wait()


def main(workers: int) -> None:
    """Serve until standard input is closed."""
    from distributed import LocalCluster

    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    quiet = {"processes": False, "dashboard_address": None, "protocol": "tcp", "host": "127.0.0.1"}
    with LocalCluster(n_workers=workers, threads_per_worker=1, **quiet) as cluster:
        sys.stdout.write(f"{cluster.scheduler_address}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]))
