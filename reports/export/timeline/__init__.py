"""What a cell measured, on one axis of time, for Perfetto."""
