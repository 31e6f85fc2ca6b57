"""The smallest smear that would flatten a peak: from averages, with room for chance. Pure.

A smear of w seconds spreads a second's fires over the w that follow, evenly but by chance. So a
second can expect the mean of the w seconds up to it; chance adds to that, and four standard
deviations are exceeded in one of 30,000 seconds.
"""

from itertools import accumulate
from math import sqrt
from typing import Final, NamedTuple

from control_api.answers.hot_load import HotLoad, Seconds, count_seconds
from scheduling.limits import SMEAR_S_MAX

_DEVIATIONS: Final = 4
_TENTH: Final = 10  # suggested where no level is given: a tenth of the peak, or what is possible
# A smear never reaches a trigger's next instant; spans in between count as the next smaller.
_SPANS_S: Final = (1, 2, 5, 10, 15, 20, 30, 45, 60, 120, 300, 600, 900, 1_800, SMEAR_S_MAX)


class SmearAdvice(NamedTuple):
    """What smear on all of these triggers brings the busiest second down to `level` fires.

    smear_s:   0 where the peak is low enough, None where no smear of an hour suffices; triggers
               with a longer smear of their own keep it
    expected:  fires in the busiest second then, chance included; of the longest smear for None
    """

    level: int
    smear_s: int | None
    expected: int


class _Class(NamedTuple):
    """Triggers that a smear spreads alike: counts up to each second, and the bounds of a span."""

    totals: list[int]
    own_s: int
    gap_s: int

    def span_s(self, smear_s: int) -> int:
        return max(1, min(max(smear_s, self.own_s), self.gap_s))


def advise_smear(load: HotLoad, *, peak: int, level: int | None = None) -> SmearAdvice:
    """The advice for a level of fires a second, or for a tenth of the present peak if possible.

    peak:  fires in the busiest second as it is. Costs some 70 passes over the window at most.
    """
    if level is not None and peak <= level:
        return SmearAdvice(level, 0, peak)
    classes = _classes(load)
    least = expected_peak(classes, SMEAR_S_MAX)
    wanted = max(-(-peak // _TENTH), least) if level is None else level
    if peak <= wanted:
        return SmearAdvice(wanted, 0, peak)
    if least > wanted:
        return SmearAdvice(wanted, None, least)
    smear_s = _smallest(classes, wanted)
    return SmearAdvice(wanted, smear_s, expected_peak(classes, smear_s))


def expected_peak(classes: list[_Class], smear_s: int) -> int:
    """Fires in the busiest second under a smear, chance included."""
    means: list[float] = []
    variances: list[float] = []
    for each in classes:
        span_s = each.span_s(smear_s)
        totals = each.totals
        sums = [*totals[1 : span_s + 1]]
        sums += [
            late - early for late, early in zip(totals[span_s + 1 :], totals[1:], strict=False)
        ]
        spread = 1 - 1 / span_s
        own = [total / span_s for total in sums]
        means = own if not means else [a + b for a, b in zip(means, own, strict=True)]
        noise = [mean * spread for mean in own]
        variances = (
            noise if not variances else [a + b for a, b in zip(variances, noise, strict=True)]
        )
    highest = max(
        (mean + _DEVIATIONS * sqrt(noise) for mean, noise in zip(means, variances, strict=True)),
        default=0.0,
    )
    return -int(-highest // 1)


def _smallest(classes: list[_Class], level: int) -> int:
    """Steps of a tenth up to the first smear that suffices, then the least of its last step."""
    failed, tried = 0, 1
    while tried < SMEAR_S_MAX and expected_peak(classes, tried) > level:
        failed, tried = tried, max(tried + 1, tried * 11 // 10)
    tried = min(tried, SMEAR_S_MAX)
    while tried - failed > 1:
        middle = (failed + tried) // 2
        if expected_peak(classes, middle) > level:
            failed = middle
        else:
            tried = middle
    return tried


def _classes(load: HotLoad) -> list[_Class]:
    members: dict[tuple[int, int], list[Seconds]] = {}
    for each in load.loads:
        key = (_span_below(each.smear_s) if each.smear_s else 0, _span_below(each.schedule.gap_s))
        members.setdefault(key, []).append(each.schedule.seconds)
    classes = []
    for key, lists in members.items():
        counts = count_seconds(lists, load.window_s)
        per_second = map(counts.__getitem__, range(load.window_s))
        classes.append(_Class(list(accumulate(per_second, initial=0)), *key))
    return classes


def _span_below(span_s: int) -> int:
    return max((each for each in _SPANS_S if each <= span_s), default=1)
