"""What each subcommand of `rogue` does; imported only when it is called, so that `--help` is instant."""
