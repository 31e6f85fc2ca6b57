"""The smallest smear found that flattens a peak: by counting the due times it would bring. Pure.

Where a fire of a trigger falls under a smear is a hash, so nothing here is a matter of chance:
each smear that is tried is counted as the decider would smear it. A little more smear may be
worse, for the hash falls elsewhere: so what is advised is a smear that was counted itself.
"""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from control_api.answers.hot_load import HotLoad
from scheduling.instants import SECOND_US
from scheduling.limits import HOT_TRIED_MAX, SMEAR_S_MAX
from scheduling.smear import smear_hash

_TENTH: Final = 10  # suggested where no level is given: a tenth of the peak, or what is possible


class SmearAdvice(NamedTuple):
    """What smear on all of these triggers brings the busiest second down to `level` fires.

    smear_s:      0 where the peak is low enough, None where no smear that was tried suffices;
                  triggers with a longer smear of their own keep it
    expected:     fires in the busiest second then, as counted; for None the least that was counted
    is_complete:  False where it is too much to count for all of the window: then it was counted
                  for a stretch around the busiest second
    """

    level: int
    smear_s: int | None
    expected: int
    is_complete: bool = True


def advise_smear(load: HotLoad, after: Counter[int], *, level: int | None = None) -> SmearAdvice:
    """The advice for a level of fires a second, or for a tenth of the present peak if possible.

    after:  what `load.after()` counted
    """
    peak = max(after.values(), default=0)
    wanted = -(-peak // _TENTH) if level is None else level
    if peak <= wanted:
        return SmearAdvice(wanted, 0, peak)
    trials = _trials(load, busiest_s=min(after, key=lambda second: (-after[second], second)))
    smear_s = _search(trials, wanted)
    if smear_s is None and level is None:
        wanted = trials.least()
        if peak <= wanted:
            return SmearAdvice(peak, 0, peak, trials.is_complete)
        smear_s = _search(trials, wanted)
    expected = trials.least() if smear_s is None else trials.peak(smear_s)
    return SmearAdvice(wanted, smear_s, expected, trials.is_complete)


@dataclass(slots=True)
class _Group:
    """Instants that any smear spreads over the same span: their seconds, and their hashes."""

    seconds: "array[int]" = field(default_factory=lambda: array("i"))
    hashes: "array[int]" = field(default_factory=lambda: array("Q"))


@dataclass(slots=True)
class _Trials:
    """The instants of a stretch of the window, and the peaks under the smears tried on them.

    groups:  by the triggers' own smear, and how far their instants may be moved; in seconds
    """

    from_s: int
    until_s: int
    is_complete: bool
    groups: dict[tuple[int, int], _Group]
    peaks: dict[int, int] = field(default_factory=dict)

    def peak(self, smear_s: int) -> int:
        """Fires in the busiest second of the stretch under a smear."""
        found = self.peaks.get(smear_s)
        if found is None:
            found = self.peaks[smear_s] = self._counted(smear_s)
        return found

    def least(self) -> int:
        """The lowest peak of all smears that were tried."""
        return min(self.peaks.values())

    def size(self) -> int:
        return sum(len(group.seconds) for group in self.groups.values())

    def bound_s(self, level: int) -> int:
        """No smear below this reaches the level: so many of one second need as many seconds."""
        bound_s = 1
        for (own_s, reach_s), group in self.groups.items():
            crowd = max(Counter(group.seconds).values())
            needed_s = -(-crowd // level)
            if needed_s > reach_s:
                return SMEAR_S_MAX + 1
            if needed_s > own_s:
                bound_s = max(bound_s, needed_s)
        return bound_s

    def _counted(self, smear_s: int) -> int:
        counts: Counter[int] = Counter()
        for (own_s, reach_s), group in self.groups.items():
            span_us = min(max(smear_s, own_s), reach_s) * SECOND_US
            counts.update(
                [
                    second + hashed % span_us // SECOND_US
                    for second, hashed in zip(group.seconds, group.hashes, strict=True)
                ]
            )
        inside = (n for second, n in counts.items() if self.from_s <= second < self.until_s)
        return max(inside, default=0)


def _trials(load: HotLoad, *, busiest_s: int) -> _Trials:
    from_s, until_s = _stretch(load, busiest_s)
    groups: dict[tuple[int, int], _Group] = {}
    for each in load.loads:
        for second, reach_s in each.undecided(from_s, until_s):
            group = groups.setdefault((each.smear_s, reach_s), _Group())
            instant_us = load.start_us + second * SECOND_US
            group.seconds.append(second)
            group.hashes.append(smear_hash(each.tenant_id, each.trigger_id, instant_us))
    return _Trials(from_s, until_s, (from_s, until_s) == (0, load.window_s), groups)


def _stretch(load: HotLoad, busiest_s: int) -> tuple[int, int]:
    """The window, or the half, quarter, ... around its busiest second that is not too much."""
    before, window_s = load.before(), load.window_s
    totals = list(accumulate((before[second] for second in range(window_s)), initial=0))
    length_s = window_s
    while True:
        from_s = min(max(busiest_s - length_s // 4, 0), window_s - length_s)
        # Each trigger may have an instant that is moved into the stretch from before it.
        instants = len(load.loads) + totals[from_s + length_s] - totals[from_s]
        if instants <= load.bounds.advised or length_s == 1:
            return from_s, from_s + length_s
        length_s //= 2


def _search(trials: _Trials, level: int) -> int | None:
    """A smear under which the peak fits: halved down from the first that does, or any that does."""
    bound_s = trials.bound_s(level)
    failed, tried = min(bound_s, SMEAR_S_MAX) - 1, min(bound_s, SMEAR_S_MAX)
    while trials.peak(tried) > level and tried < SMEAR_S_MAX:
        failed, tried = tried, min(tried * 2, SMEAR_S_MAX)
    if trials.peak(tried) > level:
        return next((each for each in _others(trials, bound_s) if trials.peak(each) <= level), None)
    while tried - failed > 1:
        middle = (failed + tried) // 2
        if trials.peak(middle) > level:
            failed = middle
        else:
            tried = middle
    return tried


def _others(trials: _Trials, bound_s: int) -> Iterator[int]:
    """All smears that may do, or as many of them as may be tried, evenly spread."""
    count = max(1, HOT_TRIED_MAX // max(1, trials.size()))
    step_s = max(1, -(-(SMEAR_S_MAX - bound_s) // count))
    return iter(range(bound_s, SMEAR_S_MAX, step_s))
