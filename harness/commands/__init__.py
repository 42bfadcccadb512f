"""The subcommands of `rogue`; each module is imported only when one of its commands is called."""
