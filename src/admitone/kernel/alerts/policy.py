"""Whether a threshold is breached, by the samples alone. Pure: no clock but the instants that stand in them.

Promise (OPS-002): *above* means above; what is exactly at the limit is within it. A window is over when it has passed
to its last instant: above zero for ten minutes is breached at ten minutes, and not a moment before.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from admitone.kernel.alerts.model import Above, Level, Sample, ShareAbove, Tally, Threshold

FINENESS: Final = 500
"""Into how many steps a window is divided at most."""


def breached(threshold: Threshold, samples: Sequence[Sample]) -> bool:
    """Samples of one thing, the oldest first; none of them says nothing."""
    if not samples:
        return False
    match threshold:
        case Above():
            return _stays_above(threshold, [each for each in samples if isinstance(each, Level)])
        case ShareAbove():
            return _share_is_above(threshold, [each for each in samples if isinstance(each, Tally)])


def _stays_above(threshold: Above, levels: Sequence[Level]) -> bool:
    since = None
    for level in reversed(levels):
        if level.value <= threshold.limit:
            break
        since = level.at
    return since is not None and levels[-1].at - since >= timedelta(seconds=threshold.seconds)


def _share_is_above(threshold: ShareAbove, tallies: Sequence[Tally]) -> bool:
    if not tallies:
        return False
    latest, base = tallies[-1], still_needed(threshold, tallies)[0]
    assert isinstance(base, Tally)
    counted, bad = latest.all - base.all, latest.bad - base.bad
    # Not as a quotient: 3 of 100 is exactly 3 %, and must not be above it by the last bit of a float.
    return counted >= threshold.fewest and bad * 100 > threshold.percent * counted


def still_needed(threshold: Threshold, samples: Sequence[Sample]) -> Sequence[Sample]:
    """Those within the window, and the last one before it: that is where the window began."""
    begins = samples[-1].at - timedelta(seconds=threshold.seconds)
    before = [position for position, sample in enumerate(samples) if sample.at <= begins]
    needed = samples[before[-1] :] if before else samples
    return _thinned(threshold, needed) if isinstance(threshold, ShareAbove) else needed


def _thinned(threshold: ShareAbove, samples: Sequence[Sample]) -> Sequence[Sample]:
    """Of tallies that lie close together, as seen over the whole window, the one between is needed by nobody: days are
    remembered by as much as an hour is."""
    closest = timedelta(seconds=threshold.seconds) / FINENESS
    if len(samples) > 2 and samples[-1].at - samples[-3].at < closest:
        return [*samples[:-2], samples[-1]]
    return samples
