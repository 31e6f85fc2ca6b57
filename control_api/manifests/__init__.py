"""Manifests: read with line numbers, checked whole, turned into changes."""
