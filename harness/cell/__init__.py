"""What one cell asks for, worked out for every testbed."""
