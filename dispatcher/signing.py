"""Standard Webhooks signatures: v1, HMAC-SHA256 over `id.timestamp.body`.

The `standardwebhooks` library signs, so that what receivers verify with is what we sign with;
its 4 µs a call are small beside a post.
Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import binascii
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from standardwebhooks import Webhook

from scheduling.limits import SECRET_BYTES_MAX, SECRET_BYTES_MIN

_PREFIX: Final = "whsec_"


def signatures(
    signing_secrets: Sequence[str], message_id: str, *, timestamp_s: int, content: bytes
) -> str:
    """The `webhook-signature` header: one signature per secret, so that receivers can rotate.

    signing_secrets: `whsec_` texts, the current one first; content: UTF-8.
    """
    text = content.decode()
    moment = datetime.fromtimestamp(timestamp_s, UTC)
    return " ".join(
        _webhook_of(secret).sign(message_id, moment, text) for secret in signing_secrets
    )


def new_secret() -> str:
    """A fresh signing secret in the form that Standard Webhooks libraries take."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


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


@lru_cache(maxsize=1_024)
def _webhook_of(secret: str) -> Webhook:
    problem = check_secret(secret)
    if problem is not None:
        raise ValueError(problem)
    return Webhook(secret)
