"""The rules of one version, as the decision reads them, and the spans that say when they apply."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from scheduling.limits import GRACE_MAX_US, GRACE_MIN_US
from scheduling.smear import smear_us, smear_window_us
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
    """The undecided part of one span: after exclusive, through inclusive, None = still open.

    `ended_us` is when a pause, a quarantine or a deletion was over, None = it is not. A pause
    may consist of several spans (an edit inside it starts a new one): it ends for all of them
    at its resume, whose `resume_rule` holds for the whole of it. `is_quarantined` says that a
    quarantine followed or is the span, so that its rule may be one that cannot be evaluated.
    """

    after_us: int
    through_us: int | None
    span: Span
    resume_rule: ResumeRule | None
    ended_us: int | None
    is_quarantined: bool


class Undecided(NamedTuple):
    """An instant that needs a decision; `due_us` is when, the pause's end for a paused one."""

    instant_us: int
    due_us: int
    version: int


def due_us(rules: Rules, instant_us: int, next_us: int | None) -> int:
    """Scheduled instant plus its smear, which never reaches the next instant."""
    if not rules.smear_us:
        return instant_us
    window_us = smear_window_us(rules.smear_us, instant_us, next_us=next_us)
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
    """The parts of the spans that lie after the cursor, in order."""
    for index, span in enumerate(spans):
        through_us = spans[index + 1].from_us if index + 1 < len(spans) else None
        after_us = max(cursor_us, span.from_us)
        if through_us is not None and through_us <= after_us:
            continue
        ended_by = _ended_by(spans, index)
        yield Segment(
            after_us,
            through_us,
            span,
            ended_by.resume_rule if ended_by else None,
            ended_by.from_us if ended_by else None,
            any(later.kind is SpanKind.QUARANTINED for later in spans[index:]),
        )


def first_undecided(
    spans: Sequence[Span],
    versions: Mapping[int, Rules],
    cursor_us: int,
    *,
    fired_count: int = 0,
) -> Undecided | None:
    """The first instant after the cursor that still needs a decision, or None.

    Serves the commit, the change transaction and the rebuild alike. An open pause, a quarantine
    and a deletion have none: the open span itself is the cover. Instants beyond `max_fires`
    have none either: with `fired_count` reached they are not due.
    """
    for segment in segments(spans, cursor_us):
        if segment.span.kind is not SpanKind.LIVE and segment.ended_us is None:
            return None
        try:
            found = first_in(segment, versions, fired_count=fired_count)
        except Exception:
            # What was quarantined may be the rule itself: its span is decided as a whole.
            if not segment.is_quarantined or segment.through_us is None:
                raise
            return Undecided(segment.through_us, segment.through_us, segment.span.version)
        if found is not None:
            return found
    return None


def first_in(
    segment: Segment, versions: Mapping[int, Rules], *, fired_count: int
) -> Undecided | None:
    """The first instant of one segment, None where it has none that is due at all."""
    version, through_us = segment.span.version, segment.through_us
    rules = versions[version]
    if rules.max_fires is not None and fired_count >= rules.max_fires:
        return None
    instant_us = rules.recurrence.next_after_us(segment.after_us)
    if instant_us is None or (through_us is not None and instant_us > through_us):
        return None
    if segment.span.kind is not SpanKind.LIVE and segment.ended_us is not None:
        return Undecided(instant_us, segment.ended_us, version)
    return Undecided(instant_us, due_of(rules, instant_us), version)


def _ended_by(spans: Sequence[Span], index: int) -> Span | None:
    """The span that ended this one; the spans of one pause share their end."""
    later = iter(spans[index + 1 :])
    if spans[index].kind is SpanKind.PAUSED:
        later = (span for span in later if span.kind is not SpanKind.PAUSED)
    return next(later, None)
