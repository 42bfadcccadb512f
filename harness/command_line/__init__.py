"""Arguments and help of each subcommand of `rogue`; what it does stands in `rogue.harness.commands`."""
