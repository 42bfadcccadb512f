"""`rogue` with the fake testbed: a script, so that a test meets the real command line and processes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from helpers.fake_testbed import FakeTestbed

from harness.cli import main
from harness.testbeds import TESTBEDS

if __name__ == "__main__":
    TESTBEDS["fake"] = FakeTestbed
    main()
