"""SQL files, read as package data."""
