"""The run directory: tables, manifest, checksums."""
