"""The bodies of the control API, as pydantic models."""
