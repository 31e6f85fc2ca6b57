"""Crontabs: read as cron does, turned into a manifest."""
