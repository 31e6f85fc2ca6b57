"""Signing secrets in the form of Standard Webhooks: `whsec_` and base64.

Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import binascii
import secrets
from typing import Final

from scheduling.limits import SECRET_BYTES_MAX, SECRET_BYTES_MIN

_PREFIX: Final = "whsec_"
_NEW_BYTES: Final = 32


def new_secret() -> str:
    """A fresh signing secret in the form that Standard Webhooks libraries take."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_NEW_BYTES)).decode()


def check_secret(secret: str) -> str | None:
    """What is wrong with a signing secret and the remedy, without repeating it; None when fine."""
    try:
        encoded = secret.removeprefix(_PREFIX)
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if secret.startswith(_PREFIX) and SECRET_BYTES_MIN <= len(key) <= SECRET_BYTES_MAX:
        return None
    return (
        f"signing secret: write whsec_ and the base64 of {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX}"
        " random bytes"
    )
