"""One attempt as it travels: the record, its JSON body and its headers."""

import base64
import json
import re
from dataclasses import dataclass, field
from typing import Final, NoReturn

from adapters.guarded_session import USER_AGENT
from dispatcher.signing import signatures
from scheduling.instants import to_text
from scheduling.limits import (
    ATTEMPT_BUDGET_MAX,
    PAYLOAD_BYTES_MAX,
    SIGNING_SECRETS_MAX,
    TARGET_TIMEOUT_S_MAX,
)
from scheduling.vocabulary import Lane, Origin
from schemas.signing_secrets import check_secret

_TRACE_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_HEADER_WORD = re.compile(r"[!-~]+")  # printable ASCII: the same bytes in every HTTP library


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Everything that one attempt needs; checked once, here. ValueError names field and remedy.

    `payload` is what the trigger's version holds, at most 64 KiB; `signing_secrets` are the
    current `whsec_` secret and, while a rotation lasts, the previous one. The repr holds none of
    payload, secrets, token and endpoint (its path or query may be a secret).
    """

    tenant_id: str
    trigger_id: str
    trigger_name: str
    version: int
    fire_key: str
    scheduled_instant_us: int
    due_at_us: int
    sequence: int
    origin: Origin
    lane: Lane
    attempt: int
    tzdata_version: str
    endpoint: str = field(repr=False)
    timeout_s: float
    signing_secrets: tuple[str, ...] = field(repr=False)
    payload: bytes | None = field(default=None, repr=False)
    trace_parent: str | None = None
    token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _HEADER_WORD.fullmatch(self.fire_key):
            raise ValueError("fire_key: printable ASCII only: it travels as webhook-id")
        if not 1 <= self.attempt <= ATTEMPT_BUDGET_MAX:
            raise ValueError(f"attempt: {self.attempt}: from 1 to {ATTEMPT_BUDGET_MAX}")
        if not 0 < self.timeout_s <= TARGET_TIMEOUT_S_MAX:
            raise ValueError(
                f"timeout_s: {self.timeout_s}: more than 0, at most {TARGET_TIMEOUT_S_MAX}"
            )
        if self.payload is not None and len(self.payload) > PAYLOAD_BYTES_MAX:
            raise ValueError(f"payload: {len(self.payload)} bytes, at most {PAYLOAD_BYTES_MAX}")
        if self.trace_parent is not None and not _TRACE_PARENT.fullmatch(self.trace_parent):
            raise ValueError("trace_parent: not a W3C traceparent: leave it out")
        if self.token is not None and not _HEADER_WORD.fullmatch(self.token):
            raise ValueError("token: printable ASCII without spaces only")
        self._check_secrets()

    def _check_secrets(self) -> None:
        if not 1 <= len(self.signing_secrets) <= SIGNING_SECRETS_MAX:
            raise ValueError(
                f"signing_secrets: {len(self.signing_secrets)} of them: give the current one and,"
                f" while rotating, older ones, at most {SIGNING_SECRETS_MAX}"
            )
        for secret in self.signing_secrets:
            problem = check_secret(secret)
            if problem is not None:
                raise ValueError(f"signing_secrets: {problem}")


def body(delivery: Delivery) -> bytes:
    """The JSON body in UTF-8.

    A payload that is JSON is copied as it stands, so that no number or key order changes on the
    way; other UTF-8 travels as a JSON string, other bytes as the JSON string of their base64.
    """
    facts = {
        "fire_key": delivery.fire_key,
        "tenant": delivery.tenant_id,
        "trigger": delivery.trigger_name,
        "version": delivery.version,
        "scheduled_instant": to_text(delivery.scheduled_instant_us),
        "due_at": to_text(delivery.due_at_us),
        "sequence": delivery.sequence,
        "origin": delivery.origin,
        "lane": delivery.lane,
        "attempt": delivery.attempt,
        "tzdata_version": delivery.tzdata_version,
    }
    head = _FACTS.encode(facts).removesuffix("}")
    return f'{head},"payload":{_payload_json(delivery.payload)}}}'.encode()


def headers(delivery: Delivery, content: bytes, *, timestamp_s: int) -> dict[str, str]:
    """The request headers for this body; `timestamp_s` is the attempt's own time, which
    receivers hold against their clock."""
    fields = {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": delivery.fire_key,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": signatures(
            delivery.signing_secrets, delivery.fire_key, timestamp_s=timestamp_s, content=content
        ),
    }
    if delivery.trace_parent is not None:
        fields["traceparent"] = delivery.trace_parent
    if delivery.token is not None:
        fields["authorization"] = f"Bearer {delivery.token}"
    return fields


def _payload_json(payload: bytes | None) -> str:
    if payload is None:
        return "null"
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return json.dumps(base64.b64encode(payload).decode())
    return text.strip() if _is_json(text) else json.dumps(text, ensure_ascii=False)


def _is_json(text: str) -> bool:
    try:
        _PAYLOAD.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Made once: the json module's functions make one of these at every call with options.
_FACTS: Final = json.JSONEncoder(separators=(",", ":"))
# Numbers stay text: their value does not matter here, and a long one would cost time.
_PAYLOAD: Final = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse_constant)
