"""What a run says: its files, read with bounds, whoever made them."""
