"""Write, read and verify the directory of a run: tables, manifest, checksums."""
