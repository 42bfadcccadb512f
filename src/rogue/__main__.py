"""`python -m rogue` is `rogue`."""

from rogue.harness.cli import main

if __name__ == "__main__":
    main()
