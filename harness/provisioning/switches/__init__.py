"""Hardware switches: what marks, what pauses, which buffers; set, read back and undone alike everywhere."""
