"""Shapes at the edges: named SQL and migrations per store, the manifest, events."""
