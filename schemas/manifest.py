"""A manifest as records: tenants, their targets and triggers, defaults filled in, no storage terms.

The models read the keys that people write (`missed`, `run_timeout: 1h`) and hold the product's
own words and units (`missed_policy`, `run_timeout_s`). There is one way to make one: validation.
"""

import json
import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)

from scheduling import InvalidRecurrence, compile_recurrence
from scheduling.calendars import calendar_dates
from scheduling.durations import duration_text
from scheduling.instants import from_text
from scheduling.limits import (
    ATTEMPT_BUDGET_DEFAULT,
    ATTEMPT_BUDGET_MAX,
    HORIZON_S_MAX,
    MAX_FIRES_MAX,
    NOTE_CHARS_MAX,
    OUTCOME_WINDOW_S_DEFAULT,
    OUTCOME_WINDOW_S_MAX,
    QUOTA_DISPATCH_PER_S_MAX,
    QUOTA_INFLIGHT_MAX,
    QUOTA_TRIGGERS_MAX,
    RETRY_WINDOW_S_DEFAULT,
    RETRY_WINDOW_S_MAX,
    RUN_TIMEOUT_S_DEFAULT,
    RUN_TIMEOUT_S_MAX,
    SMEAR_S_MAX,
    TARGET_TIMEOUT_S_DEFAULT,
    TARGET_TIMEOUT_S_MAX,
    TARGET_URL_CHARS_MAX,
    YEAR_MIN,
)
from scheduling.vocabulary import FoldRule, GapRule, MissedPolicy, OverlapPolicy, ResumeRule
from schemas.manifest_fields import (
    YEARS_TEXT,
    CalendarNames,
    CalendarRules,
    Duration,
    ExcludedDates,
    Payload,
    Schedule,
    instant_us,
    refusal,
)

_LOCAL_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?")
_BEFORE_ALL_US: Final = from_text(f"{YEAR_MIN}-01-01T00:00:00Z") - 1
_HOW_TO_WRITE: Final = (
    "write a local time as 2026-12-24T18:00, or an instant as 2026-12-24T17:00:00Z"
)


def local_or_utc_us(value: object, info: ValidationInfo) -> int | None:
    """The instant of an RFC 3339 text, or of a local time in the zone of the same trigger."""
    if value is None:
        return None
    if isinstance(value, str) and _LOCAL_TIME.fullmatch(value):
        return _local_us(value, info.data.get("zone", "UTC"))
    if not isinstance(value, str):
        raise refusal(_HOW_TO_WRITE)
    return instant_us(value, remedy=_HOW_TO_WRITE)


@lru_cache(maxsize=1024)
def _local_us(text: str, zone: str) -> int | None:
    """The `at` form answers, so that a skipped or repeated hour is read by the one rule."""
    try:
        found_us = compile_recurrence(f"at {text}", zone).next_after_us(_BEFORE_ALL_US)
    except InvalidRecurrence as error:
        if error.field == "zone":
            return None  # told once, at the zone
        raise refusal(f"{error.reason}") from None
    if found_us is None:  # the year's first hours, or its last: in UTC they are of another
        raise refusal(YEARS_TEXT)
    return found_us


LocalOrUtc = Annotated[
    int | None,
    BeforeValidator(local_or_utc_us),
    WithJsonSchema(
        {
            "type": ["string", "null"],
            "description": "a local time of the zone as 2026-12-24T18:00, or an instant as "
            "2026-12-24T17:00:00Z",
        }
    ),
]


def _written_default(default_s: int) -> dict[str, JsonValue]:
    """The default as people would write it, for the JSON schema."""
    return {"default": duration_text(default_s)}


class _Spec(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TargetSpec(_Spec):
    """Where fires go: the shape only; address and secret are judged where they will be used.

    At most one source of the signing secret; none means: have one made.
    """

    url: str = Field(min_length=1, max_length=TARGET_URL_CHARS_MAX)
    timeout_s: int = Field(default=TARGET_TIMEOUT_S_DEFAULT, ge=1, le=TARGET_TIMEOUT_S_MAX)
    secret: str | None = Field(default=None, repr=False)
    secret_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")
    secret_file: str | None = Field(default=None, min_length=1, max_length=1024)

    @model_validator(mode="after")
    def _has_one_secret(self) -> Self:
        sources = [self.secret, self.secret_env, self.secret_file]
        if sum(source is not None for source in sources) > 1:
            raise refusal("give one of secret, secret_env and secret_file, not several")
        return self


class CalendarSpec(_Spec):
    """Dates on which the triggers that name the calendar are not due.

    rules:  RFC 5545 texts: DTSTART with an RRULE, or EXDATEs
    """

    rules: CalendarRules = ()
    dates: ExcludedDates = ()

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        self.all_dates()
        return self

    def all_dates(self) -> tuple[date, ...]:
        """Those of the rules and its own, sorted and each once."""
        try:
            return calendar_dates(self.rules, self.dates)
        except InvalidRecurrence as error:
            raise refusal(str(error)) from None


class RetrySpec(_Spec):
    attempts: int = Field(default=ATTEMPT_BUDGET_DEFAULT, ge=1, le=ATTEMPT_BUDGET_MAX)
    window_s: Duration = Field(
        default=RETRY_WINDOW_S_DEFAULT,
        alias="window",
        ge=1,
        le=RETRY_WINDOW_S_MAX,
        json_schema_extra=_written_default(RETRY_WINDOW_S_DEFAULT),
    )


class TriggerSpec(_Spec):
    """One version of a trigger, and whether it is paused.

    payload_json:  canonical JSON of the payload, `null` where there is none
    horizon_s:     None = as it is; the default for a new one
    smear_s:       None = the tenant's
    paused:        None = as it is; the manifest neither pauses nor resumes
    """

    schedule: Schedule
    zone: str = Field(min_length=1)
    target: str
    payload_json: Payload = Field("null", alias="payload", json_schema_extra={"default": None})
    missed_policy: MissedPolicy = Field(
        default=MissedPolicy.FIRE_ONCE_NOW, alias="missed", strict=False
    )
    overlap_policy: OverlapPolicy = Field(
        default=OverlapPolicy.ALLOW, alias="overlap", strict=False
    )
    gap_rule: GapRule = Field(default=GapRule.SHIFT_FORWARD, alias="gap", strict=False)
    fold_rule: FoldRule = Field(default=FoldRule.FIRST, alias="fold", strict=False)
    starts_at_us: LocalOrUtc = Field(default=None, alias="starts_at")
    ends_at_us: LocalOrUtc = Field(default=None, alias="ends_at")
    excluded_on: ExcludedDates = Field(default=(), alias="exclude")
    calendars: CalendarNames = ()
    max_fires: int | None = Field(default=None, ge=1, le=MAX_FIRES_MAX)
    smear_s: int | None = Field(default=None, ge=0, le=SMEAR_S_MAX)
    horizon_s: Duration | None = Field(default=None, alias="horizon", ge=1, le=HORIZON_S_MAX)
    retry: RetrySpec = Field(default=RetrySpec(), json_schema_extra={"default": {}})
    run_timeout_s: Duration = Field(
        default=RUN_TIMEOUT_S_DEFAULT,
        alias="run_timeout",
        ge=1,
        le=RUN_TIMEOUT_S_MAX,
        json_schema_extra=_written_default(RUN_TIMEOUT_S_DEFAULT),
    )
    outcome_window_s: Duration = Field(
        default=OUTCOME_WINDOW_S_DEFAULT,
        alias="outcome_window",
        ge=1,
        le=OUTCOME_WINDOW_S_MAX,
        json_schema_extra=_written_default(OUTCOME_WINDOW_S_DEFAULT),
    )
    response_is_outcome: bool = False
    paused: bool | None = None
    pause_note: str | None = Field(default=None, min_length=1, max_length=NOTE_CHARS_MAX)
    resume_rule: ResumeRule = Field(default=ResumeRule.DROP, alias="resume", strict=False)

    @model_validator(mode="after")
    def _is_coherent(self) -> Self:
        if self.pause_note is not None and not self.paused:
            raise refusal("pause_note says why a trigger is paused: add paused: true")
        starts_at_us, ends_at_us = self.starts_at_us, self.ends_at_us
        if starts_at_us is not None and ends_at_us is not None and ends_at_us < starts_at_us:
            raise refusal("ends_at lies before starts_at: exchange them")
        return self

    @property
    def payload(self) -> Any:
        return json.loads(self.payload_json)


class QuotaSpec(_Spec):
    """A tenant's quotas and its default smear; None = as it is, or the service's default."""

    quota_triggers: int | None = Field(default=None, ge=1, le=QUOTA_TRIGGERS_MAX)
    quota_dispatch_per_s: int | None = Field(default=None, ge=1, le=QUOTA_DISPATCH_PER_S_MAX)
    quota_inflight: int | None = Field(default=None, ge=1, le=QUOTA_INFLIGHT_MAX)
    catchup_rate_pct: int | None = Field(default=None, ge=1, le=100)
    smear_s: int | None = Field(default=None, ge=0, le=SMEAR_S_MAX)


class TenantSpec(QuotaSpec):
    """Calendars, targets and triggers by name."""

    calendars: Mapping[str, CalendarSpec] = Field(default_factory=dict)
    targets: Mapping[str, TargetSpec] = Field(default_factory=dict)
    triggers: Mapping[str, TriggerSpec] = Field(default_factory=dict)


class Manifest(_Spec):
    """Tenants by name."""

    tenants: Mapping[str, TenantSpec]
    name: str = Field(default="", exclude=True)

    def __eq__(self, other: object) -> bool:
        """Equal content; where it was read from is no part of it."""
        return isinstance(other, Manifest) and self.tenants == other.tenants
