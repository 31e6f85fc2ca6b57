"""Cursors that nobody was given: as somebody would make one who knows how they are written."""

import base64
import json


def forged(*parts: object) -> str:
    """The text of a cursor; the first part says of which list it is."""
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


__all__ = ["forged"]
