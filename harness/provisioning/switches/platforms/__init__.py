"""One file per vendor: what it calls things, in which units, and how its command line talks."""
