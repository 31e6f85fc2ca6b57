"""The record, body, headers and signature of an attempt (envelope.py, signing.py)."""

import json
import time
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from dispatcher.envelope import body, headers
from dispatcher.signing import signatures
from scheduling.vocabulary import Lane, Origin
from schemas.signing_secrets import check_secret, new_secret
from tests.dispatcher.targets import DUE_AT_US, PREVIOUS_SECRET, SECRET, a_delivery

TRACE_PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_body_holds_exactly_the_documented_fields() -> None:
    delivery = a_delivery(
        due_at_us=DUE_AT_US + 1_500_000,
        sequence=2,
        origin=Origin.BACKFILL,
        lane=Lane.CATCH_UP,
        attempt=4,
    )
    assert json.loads(body(delivery)) == {
        "fire_key": f"acme~t0123456789~{DUE_AT_US}~0",
        "tenant": "acme",
        "trigger": "nightly",
        "version": 3,
        "scheduled_instant": "2025-10-09T08:53:20Z",
        "due_at": "2025-10-09T08:53:21.500000Z",
        "sequence": 2,
        "origin": "backfill",
        "lane": "catch_up",
        "attempt": 4,
        "tzdata_version": "2025.2",
        "payload": {"amount": 1},
    }


PAYLOADS = {
    "none": (None, "null"),
    "object": (b'{"a": [1, 2]}', '{"a": [1, 2]}'),
    "number_kept_as_written": (b"1.000000000000000000001", "1.000000000000000000001"),
    "huge_number": (b"9" * 10_000, "9" * 10_000),
    "repeated_key_kept": (b'{"a":1,"a":2}', '{"a":1,"a":2}'),
    "blanks_around": (b' \n"x"\r\n', '"x"'),
    "null": (b"null", "null"),
    "text": (b"run it", '"run it"'),
    "text_not_ascii": ("Grüße".encode(), '"Grüße"'),
    "text_quotes": (b'say "hi"\n', '"say \\"hi\\"\\n"'),
    "empty": (b"", '""'),
    "nan_is_text": (b"NaN", '"NaN"'),
    "infinity_inside_is_text": (b"[-Infinity]", '"[-Infinity]"'),
    "two_values_are_text": (b"1 2", '"1 2"'),
    "injection_is_text": (b'1},"lane":"x"', '"1},\\"lane\\":\\"x\\""'),
    "too_deep_is_text": (b"[" * 60_000, '"' + "[" * 60_000 + '"'),
    "binary_is_base64": (b"\xff\x00", '"/wA="'),
}


@pytest.mark.parametrize(("payload", "written"), PAYLOADS.values(), ids=PAYLOADS)
def test_body_payload_is_written_as(payload: bytes | None, written: str) -> None:
    content = body(a_delivery(payload=payload)).decode()
    assert content.endswith(f',"payload":{written}}}')
    assert json.loads(content, parse_int=str)["lane"] == "on_time"


def test_body_odd_names_stay_json() -> None:
    content = body(a_delivery(trigger_name='a"b\n\ud800é'))
    assert json.loads(content)["trigger"] == 'a"b\n\ud800é'


def test_headers_are_the_documented_ones() -> None:
    delivery = a_delivery(trace_parent=TRACE_PARENT, token="abc.def-123")
    fields = headers(delivery, b"{}", timestamp_s=1_760_000_000)
    assert fields.pop("user-agent").startswith("punctual/")
    assert fields.pop("webhook-signature").startswith("v1,")
    assert fields == {
        "content-type": "application/json",
        "webhook-id": delivery.fire_key,
        "webhook-timestamp": "1760000000",
        "traceparent": TRACE_PARENT,
        "authorization": "Bearer abc.def-123",
    }


def test_headers_without_trace_and_token_leave_them_out() -> None:
    fields = headers(a_delivery(), b"{}", timestamp_s=1_760_000_000)
    assert {"traceparent", "authorization"}.isdisjoint(fields)


def test_signature_matches_the_published_example() -> None:
    # The example of the Standard Webhooks libraries' own test suites.
    signature = signatures(
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",),
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp_s=1_614_265_330,
        content=b'{"test": 2432232314}',
    )
    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("secret", [SECRET, PREVIOUS_SECRET], ids=["current", "previous"])
def test_signature_during_rotation_verifies_with_either_secret(secret: str) -> None:
    delivery = a_delivery(signing_secrets=(SECRET, PREVIOUS_SECRET), payload="é".encode())
    content = body(delivery)
    fields = headers(delivery, content, timestamp_s=int(time.time()))
    assert len(fields["webhook-signature"].split(" ")) == 2
    assert Webhook(secret).verify(content, fields)["fire_key"] == delivery.fire_key


TAMPERED: dict[str, tuple[dict[str, str], bytes]] = {
    "body": ({}, b" "),
    "id": ({"webhook-id": "acme~t0123456789~0~0"}, b""),
    "timestamp": ({"webhook-timestamp": str(int(time.time()) - 1)}, b""),
    "signature": ({"webhook-signature": "v1," + "A" * 43 + "="}, b""),
    "version": ({"webhook-signature": "v2,AAAA"}, b""),
}


@pytest.mark.parametrize(("changes", "added"), TAMPERED.values(), ids=TAMPERED)
def test_signature_after_tampering_is_refused(changes: dict[str, str], added: bytes) -> None:
    delivery = a_delivery()
    content = body(delivery)
    fields = headers(delivery, content, timestamp_s=int(time.time()) + 1)
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(content + added, fields | changes)


@pytest.mark.parametrize("age_s", [-301, 302], ids=["too_new", "too_old"])
def test_signature_far_from_the_clock_is_refused(age_s: int) -> None:
    delivery = a_delivery()
    content = body(delivery)
    fields = headers(delivery, content, timestamp_s=int(time.time()) - age_s + (age_s < 0))
    with pytest.raises(WebhookVerificationError, match="timestamp too"):
        Webhook(SECRET).verify(content, fields)


def test_new_secrets_differ_and_are_accepted() -> None:
    first, second = new_secret(), new_secret()
    assert first != second
    assert (check_secret(first), check_secret(second)) == (None, None)


BAD_SECRETS = {
    "no_prefix": SECRET.removeprefix("whsec_"),
    "not_base64": "whsec_!!!!",
    "short": "whsec_c2hvcnQ=",
    "long": "whsec_" + "A" * 88,
    "not_ascii": "whsec_é",
}


@pytest.mark.parametrize("secret", BAD_SECRETS.values(), ids=BAD_SECRETS)
def test_secret_bad_is_refused_without_repeating_it(secret: str) -> None:
    problem = check_secret(secret)
    assert problem is not None
    assert secret.removeprefix("whsec_") not in problem
    with pytest.raises(ValueError, match="signing_secrets: ") as caught:
        a_delivery(signing_secrets=(secret,))
    assert secret.removeprefix("whsec_") not in str(caught.value)


def test_secret_without_padding_is_accepted() -> None:
    assert check_secret("whsec_" + "A" * 34) is None


BAD_FIELDS: dict[str, dict[str, Any]] = {
    "fire_key": {"fire_key": "acme\r\nx-evil: 1"},
    "attempt": {"attempt": 0},
    "timeout_s": {"timeout_s": 60.1},
    "payload": {"payload": b"x" * 65_537},
    "trace_parent": {"trace_parent": "00-zz"},
    "token": {"token": "abc def"},
    "signing_secrets": {"signing_secrets": ()},
}


@pytest.mark.parametrize(("field", "changes"), BAD_FIELDS.items(), ids=BAD_FIELDS)
def test_delivery_bad_field_is_named(field: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{field}: "):
        a_delivery(**changes)


def test_delivery_repr_holds_nothing_secret() -> None:
    delivery = a_delivery(
        "https://example.com/T0KEN", payload=b"pay-me", token="t0ken", signing_secrets=(SECRET,)
    )
    for word in ("T0KEN", "pay-me", "t0ken", SECRET):
        assert word not in repr(delivery)
