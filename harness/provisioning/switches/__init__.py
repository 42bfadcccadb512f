"""Hardware switches: their marks, pauses and buffers, set, read back and undone alike on every platform."""
