"""One finished cell: its tables, and what several measures derive from them."""
