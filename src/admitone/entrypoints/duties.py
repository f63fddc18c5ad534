"""What the manifests say together: who hears of what, and what a worker does."""

from collections.abc import Sequence

from admitone.kernel.jobs.relay import Subscriptions
from admitone.kernel.jobs.worker import Duties
from admitone.kernel.manifest import Module


def subscriptions_of(modules: Sequence[Module]) -> Subscriptions:
    facts = [fact for module in modules for fact in module.facts]
    return Subscriptions.of(facts, [each for module in modules for each in module.subscriptions])


def duties_of(modules: Sequence[Module]) -> Duties:
    """What the manifests say; a kind that is subscribed or scheduled must be among the jobs of its package."""
    kinds = [kind for module in modules for kind in module.jobs]
    named = [each.kind for module in modules for each in module.subscriptions]
    named += [each.kind for module in modules for each in module.schedules]
    strangers = sorted({kind.name for kind in named if kind not in kinds})
    twins = sorted({kind.name for kind in kinds if [each.name for each in kinds].count(kind.name) > 1})
    if strangers or twins:
        raise TypeError(f"jobs that no manifest lists: {strangers}; jobs of the same name: {twins}")
    return Duties(kinds, subscriptions_of(modules), [each for module in modules for each in module.schedules])
