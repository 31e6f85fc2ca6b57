"""Generated triggers: any mix of spans, versions, cursors, counts and rules, in small numbers."""

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import settings
from hypothesis import strategies as st

from scheduling.draft import TriggerView
from scheduling.instants import SECOND_US
from scheduling.rules import Rules, Span
from scheduling.vocabulary import MissedPolicy, ResumeRule, SpanKind
from tests.support.builders import a_rules
from tests.support.enumerators import ListEnumerator

# Rules have many corners: three times what the profile asks for elsewhere.
EXAMPLES: Final = 3 * (settings.default or settings()).max_examples
DISTANCES_S = (1, 2, 4, 5, 6, 30, 59, 60, 61, 400)
SMEARS_S = (0, 0, 2, 7, 90)
HORIZONS_S = (0, 3, 60, 400, 3_600)
MAX_FIRES = (None, None, 1, 2, 3, 5, 12, 104)
# Of the spans that follow a given one: what can happen to a trigger.
FOLLOWING = {
    SpanKind.LIVE: (SpanKind.LIVE, SpanKind.PAUSED, SpanKind.QUARANTINED, SpanKind.DELETED),
    SpanKind.PAUSED: (SpanKind.LIVE, SpanKind.LIVE, SpanKind.PAUSED, SpanKind.DELETED),
    SpanKind.QUARANTINED: (SpanKind.LIVE, SpanKind.PAUSED, SpanKind.DELETED),
}


@st.composite
def recurrences(draw: st.DrawFn) -> ListEnumerator:
    """Blocks of equal distances, now and then one of more than a hundred instants."""
    lengths = st.one_of(st.integers(1, 6), st.sampled_from((1, 3, 100, 101, 130)))
    blocks = draw(
        st.lists(st.tuples(st.sampled_from(DISTANCES_S), lengths), min_size=0, max_size=5)
    )
    instants_us = [draw(st.sampled_from((0, 500_000, 1_000_000, 7_000_000)))]
    for distance_s, length in blocks:
        instants_us += [instants_us[-1] + distance_s * SECOND_US * n for n in range(1, length + 1)]
    return ListEnumerator(instants_us)


@st.composite
def rules(draw: st.DrawFn, /, *, version: int = 1, **changes: Any) -> Rules:
    """One version; `changes` fix what a test needs fixed."""
    drawn: dict[str, Any] = {
        "version": version,
        "recurrence": draw(recurrences()),
        "missed_policy": draw(st.sampled_from(MissedPolicy)),
        "horizon_us": draw(st.sampled_from(HORIZONS_S)) * SECOND_US,
        "smear_us": draw(st.sampled_from(SMEARS_S)) * SECOND_US,
        "max_fires": draw(st.sampled_from(MAX_FIRES)),
    }
    return a_rules(**{**drawn, **changes})


@st.composite
def views(draw: st.DrawFn, /, **changes: Any) -> TriggerView:
    """A trigger of one to six spans; `changes` apply to the rules of every version."""
    versions = {1: draw(rules(version=1, **changes))}
    spans = [Span(0, draw(st.sampled_from((SpanKind.LIVE, SpanKind.PAUSED))), 1)]
    for _ in range(draw(st.sampled_from((0, 0, 1, 2, 3, 5)))):
        if spans[-1].kind is SpanKind.DELETED:
            break
        version = spans[-1].version
        if draw(st.booleans()):
            version += 1
            versions[version] = draw(rules(version=version, **changes))
        kind = draw(st.sampled_from(FOLLOWING[spans[-1].kind]))
        resume_rule = None
        if kind is SpanKind.LIVE and spans[-1].kind is SpanKind.PAUSED:
            resume_rule = draw(st.sampled_from((None, *ResumeRule)))
        from_us = spans[-1].from_us + draw(st.sampled_from((0, *DISTANCES_S))) * SECOND_US
        spans.append(Span(from_us, kind, version, resume_rule))
    cursor_us = draw(st.one_of(st.just(0), moments(tuple(versions.values()))))
    fired_count = draw(st.sampled_from((0, 0, 1, 3)))
    return TriggerView(tuple(spans), versions, cursor_us, fired_count)


def moments(versions: Sequence[Rules]) -> st.SearchStrategy[int]:
    """Times that matter: on an instant or a little or far beyond one."""
    instants_us = sorted(
        {
            instant_us
            for each in versions
            if isinstance(each.recurrence, ListEnumerator)
            for instant_us in each.recurrence.instants_us
        }
    )
    beyond_s = st.sampled_from((0, 0, 1, 3, 5, 6, 20, 60, 61, 90, 300, 4_000))
    jitter_us = st.sampled_from((-1, 0, 0, 1))
    return st.builds(
        lambda instant_us, seconds, jitter: instant_us + seconds * SECOND_US + jitter,
        st.sampled_from(instants_us),
        beyond_s,
        jitter_us,
    )
