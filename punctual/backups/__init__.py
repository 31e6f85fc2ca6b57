"""A data folder as one file, and back."""
