"""The rules of one version, as the decision reads them, and the spans that say when they apply."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from scheduling.limits import GRACE_MAX_US, GRACE_MIN_US
from scheduling.smear import smear_us
from scheduling.vocabulary import MissedPolicy, OverlapPolicy, ResumeRule, SpanKind


class Enumerator(Protocol):
    """The integer face of a compiled recurrence; the one enumerator of the whole service."""

    def next_after_us(self, instant_us: int, /) -> int | None: ...
    def previous_before_us(self, instant_us: int, /) -> int | None: ...
    def between_us(self, after_us: int, through_us: int, limit: int, /) -> list[int]: ...
    def count_between_us(self, after_us: int, through_us: int, /) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a decision needs of one immutable version. Durations in microseconds."""

    tenant_id: str
    trigger_id: str
    version: int
    recurrence: Enumerator
    missed_policy: MissedPolicy
    overlap_policy: OverlapPolicy
    horizon_us: int
    horizon_source: str  # `default`, or `chosen by <actor>`
    smear_us: int = 0
    max_fires: int | None = None


class Span(NamedTuple):
    """From when which version applies, or is paused: covers instants after `from_us`.

    A span ends, inclusively, where the next one begins. `resume_rule` stands on the live span
    that ended a pause and says what becomes of the paused instants.
    """

    from_us: int
    kind: SpanKind
    version: int
    resume_rule: ResumeRule | None = None


class Segment(NamedTuple):
    """The undecided part of one span: after exclusive, through inclusive, None = still open."""

    after_us: int
    through_us: int | None
    span: Span
    resume_rule: ResumeRule | None


class Undecided(NamedTuple):
    instant_us: int
    due_us: int
    version: int


def due_us(rules: Rules, instant_us: int, next_us: int | None) -> int:
    """Scheduled instant plus its smear, which never reaches the next instant."""
    if not rules.smear_us:
        return instant_us
    window_us = rules.smear_us if next_us is None else min(rules.smear_us, next_us - instant_us)
    return instant_us + smear_us(
        rules.tenant_id, rules.trigger_id, instant_us=instant_us, window_us=window_us
    )


def due_of(rules: Rules, instant_us: int) -> int:
    """`due_us` of an instant, looking up the next one itself."""
    if not rules.smear_us:
        return instant_us
    return due_us(rules, instant_us, rules.recurrence.next_after_us(instant_us))


def grace_us(instant_us: int, next_us: int | None) -> int:
    """How long an instant is late rather than missed: the distance to the next, 5 to 60 s."""
    if next_us is None:
        return GRACE_MAX_US
    return min(max(next_us - instant_us, GRACE_MIN_US), GRACE_MAX_US)


def segments(spans: Sequence[Span], cursor_us: int) -> Iterator[Segment]:
    """The parts of the spans that lie after the cursor, in order.

    A pause is edited but not ended by another paused span: it stays open until the span that
    ends it, whose resume rule then holds for all of it.
    """
    for index, span in enumerate(spans):
        following = spans[index + 1] if index + 1 < len(spans) else None
        ending = following
        if span.kind is SpanKind.PAUSED:
            ending = next((s for s in spans[index + 1 :] if s.kind is not SpanKind.PAUSED), None)
        after_us = max(cursor_us, span.from_us)
        if following is not None and following.from_us <= after_us:
            continue
        through_us = None if following is None or ending is None else following.from_us
        yield Segment(after_us, through_us, span, ending.resume_rule if ending else None)


def first_undecided(
    spans: Sequence[Span], versions: Mapping[int, Rules], cursor_us: int
) -> Undecided | None:
    """The first instant after the cursor that still needs a decision, or None.

    Serves the commit, the change transaction and the rebuild alike. An open pause, a quarantine
    and a deletion have none: the open span itself is the cover.
    """
    for after_us, through_us, span, _ in segments(spans, cursor_us):
        if span.kind is not SpanKind.LIVE and through_us is None:
            return None
        rules = versions[span.version]
        instant_us = rules.recurrence.next_after_us(after_us)
        if instant_us is None or (through_us is not None and instant_us > through_us):
            continue
        return Undecided(instant_us, due_of(rules, instant_us), span.version)
    return None
