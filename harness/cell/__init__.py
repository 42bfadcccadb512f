"""What one cell asks for, worked out for whoever runs it."""
