"""Records that carry something secret: their repr, which any log line may hold, does not."""

from typing import Final

import pytest

from ports.changes import CreateToken, PutTarget, PutTrigger, RunTrigger
from ports.records import ClaimedFire, TargetRecord
from scheduling.keys import FireKey
from scheduling.vocabulary import Lane, Origin
from tests.support.definitions import a_definition

SECRET: Final = "whsec_S3cret"
PAYLOAD: Final = SECRET.encode()
_TARGET: Final = TargetRecord(
    tenant_id="acme", target_id="shop", endpoint="https://x/", timeout_s=1, secret=SECRET
)
_FIRE: Final = ClaimedFire(
    key=FireKey("acme", "t1", 1, 0),
    n=1,
    trigger_name="digest",
    version=1,
    origin=Origin.SCHED,
    lane=Lane.ON_TIME,
    due_us=1,
    claimed_until_us=2,
    tzdata_version="2026a",
    endpoint="https://x/",
    timeout_s=1,
    signing_secrets=(SECRET,),
    is_target_usable=True,
    payload=PAYLOAD,
    trace_parent="",
)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(_TARGET, id="target"),
        pytest.param(PutTarget(target=_TARGET), id="put_target"),
        pytest.param(a_definition(payload=PAYLOAD), id="definition"),
        pytest.param(
            PutTrigger(tenant_id="acme", name="digest", definition=a_definition(payload=PAYLOAD)),
            id="put_trigger",
        ),
        pytest.param(RunTrigger(tenant_id="acme", name="digest", payload=PAYLOAD), id="run"),
        pytest.param(CreateToken(principal_id="ci", token_id="k1", token_hash=SECRET), id="token"),
        pytest.param(_FIRE, id="claimed_fire"),
    ],
)
def test_repr_holds_no_secret(record: object) -> None:
    assert "acme" in repr(record) or "ci" in repr(record) or "UTC" in repr(record)
    assert SECRET not in repr(record)
