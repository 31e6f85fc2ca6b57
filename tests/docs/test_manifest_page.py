"""docs/manifest.md: every key of the models stands in its tables with its limits, and no other."""

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, Final, NamedTuple, get_args

import pytest
from annotated_types import Ge, Le, MaxLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scheduling import limits
from scheduling.durations import duration_text
from schemas.manifest import CalendarSpec, RetrySpec, TargetSpec, TenantSpec, TriggerSpec
from tests.support.repository import ROOT

PAGE: Final = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
SECTIONS: Final[dict[str, type[BaseModel]]] = {
    "A tenant": TenantSpec,
    "A calendar": CalendarSpec,
    "A target": TargetSpec,
    "A trigger": TriggerSpec,
}
# The reader knows it: it is spread over the triggers before the models see them.
READ_EARLIER: Final = {("A tenant", "defaults")}
# Limits and kinds that are checked by functions of their own, and what says them.
BY_FUNCTION: Final = {
    ("A trigger", "schedule"): f"at most {limits.UNION_MEMBERS_MAX}",
    ("A trigger", "payload"): f"at most {limits.PAYLOAD_BYTES_MAX // 1024} KiB",
    ("A trigger", "exclude"): f"at most {limits.EXCLUSION_DATES_MAX:,}",
    ("A trigger", "calendars"): f"at most {limits.CALENDARS_PER_TRIGGER_MAX}",
    ("A calendar", "rules"): f"at most {limits.CALENDAR_RULES_MAX}",
}
NEW_TENANT: Final = {
    "quota_triggers": limits.QUOTA_TRIGGERS_DEFAULT,
    "quota_dispatch_per_s": limits.QUOTA_DISPATCH_PER_S_DEFAULT,
    "quota_inflight": limits.QUOTA_INFLIGHT_DEFAULT,
    "catchup_rate_pct": limits.CATCHUP_RATE_PCT_DEFAULT,
}


class Row(NamedTuple):
    """A line of a table; a line may name several keys."""

    meaning: str
    left_out: str


def rows(section: str) -> dict[str, Row]:
    """Every key of a section's table."""
    text = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (own,) = [each for each in text if each.startswith(f"{section}\n")]
    found: dict[str, Row] = {}
    for line in own.splitlines():
        if line.startswith("| `"):
            keys, meaning, left_out = (cell.strip() for cell in line.strip("|").split(" | "))
            found |= dict.fromkeys(re.findall(r"`([^`]+)`", keys), Row(meaning, left_out))
    return found


def fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every key as people write it, those of a nested mapping with a dot."""
    for name, field in model.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        if field.annotation is RetrySpec:
            yield from fields(RetrySpec, f"{key}.")
        else:
            yield key, field


def bound(field: FieldInfo, kind: type) -> Any:
    """The value of one constraint, or None; those of an optional type too."""
    found = [each for each in field.metadata if isinstance(each, kind)]
    values = [getattr(each, {Ge: "ge", Le: "le", MaxLen: "max_length"}[kind]) for each in found]
    return values[0] if values else None


def is_duration(field: FieldInfo) -> bool:
    return "BeforeValidator(func=<function duration_s" in repr((field.metadata, field.annotation))


def words_of(field: FieldInfo) -> list[str]:
    """What the meaning of a key has to say."""
    kinds = [field.annotation, *get_args(field.annotation)]
    words = [f"`{each}`" for kind in kinds if _is_enum(kind) for each in kind]
    least, most, length = (bound(field, kind) for kind in (Ge, Le, MaxLen))
    if most is not None:
        words.append(
            f"to `{duration_text(most)}`" if is_duration(field) else f"{least:,} to {most:,}"
        )
    return words if length is None else [*words, f"{length:,} characters"]


def default_of(field: FieldInfo) -> str | None:
    """How the last column says a default; None where it has to be told in words."""
    value = field.default
    if field.is_required():
        return "refused"
    if value is None or value == () or field.default_factory is not None:
        return None
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, int):
        return f"`{duration_text(value)}`" if is_duration(field) else f"{value:,}"
    return f"`{value}`"


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Enum)


KEYS: Final = [
    pytest.param(section, key, field, id=f"{model.__name__}.{key}")
    for section, model in SECTIONS.items()
    for key, field in fields(model)
]


@pytest.mark.parametrize("section", SECTIONS)
def test_manifest_page_has_every_key_and_no_other(section: str) -> None:
    known = {key for key, _ in fields(SECTIONS[section])}
    known |= {key for where, key in READ_EARLIER if where == section}
    assert set(rows(section)) == known


@pytest.mark.parametrize(("section", "key", "field"), KEYS)
def test_manifest_page_tells_the_limits_of_a_key(section: str, key: str, field: FieldInfo) -> None:
    meaning = rows(section)[key].meaning
    wanted = [*words_of(field), BY_FUNCTION.get((section, key), "")]
    assert [word for word in wanted if word not in meaning] == []


@pytest.mark.parametrize(("section", "key", "field"), KEYS)
def test_manifest_page_tells_what_a_key_is_when_it_is_left_out(
    section: str, key: str, field: FieldInfo
) -> None:
    left_out, default = rows(section)[key].left_out, default_of(field)
    if default is None:
        assert re.match(
            r"as it is|as above|none|no bound|nothing|one is made|the tenant's", left_out
        )
    else:
        assert left_out.split(":")[0] == default


def test_manifest_page_tells_what_a_new_tenant_and_a_new_trigger_have() -> None:
    told = {key: rows("A tenant")[key].left_out for key in NEW_TENANT}
    assert {key: int(re.sub(r"\D", "", text)) for key, text in told.items()} == NEW_TENANT
    horizon = duration_text(limits.HORIZON_S_DEFAULT)
    assert f"`{horizon}` for a new one" in rows("A trigger")["horizon"].left_out


def test_manifest_page_tells_of_a_key_only_what_is_so() -> None:
    """The checks above see a changed limit, a changed default and a missing word."""
    timeout = TargetSpec.model_fields["timeout_s"]
    assert (words_of(timeout), default_of(timeout)) == (["1 to 60"], "10")
    window = TriggerSpec.model_fields["outcome_window_s"]
    assert (words_of(window), default_of(window)) == (["to `7d`"], "`1d`")
    horizon = TriggerSpec.model_fields["horizon_s"]
    assert (words_of(horizon), default_of(horizon)) == (["to `7d`"], None)
    overlap = TriggerSpec.model_fields["overlap_policy"]
    assert words_of(overlap) == ["`allow`", "`skip`", "`buffer_one`", "`buffer_all`"]


def test_page_names_the_bounds_of_an_apply() -> None:
    assert f"an apply makes at most {limits.APPLY_CHANGES_MAX:,} changes" in PAGE.casefold()
    assert f"a request has at most {limits.APPLY_BODY_BYTES_MAX // 1024**2} MiB" in PAGE
