"""The templates of all pages, and the style sheet."""
