"""Alerts: what a human must know, once, with everything needed to act.

Promise: a rule is a value in a manifest, with class, threshold, owner and runbook; what breaches it is raised once,
however many processes see it, told as `ops.alert`, and resolved when it is over.

    model      rules, thresholds, samples, alerts
    policy     whether a threshold is breached (pure)
    rules      the kernel's own
    runbooks   every rule has a complete page
    commands   raising and resolving, for many; `facts` is what they tell
    store      the statements, also of what is measured
    figures    one look at jobs, letters, outbox and metrics; `gauges` shows it to Prometheus
    sights     what other packages look at, and how quick their contracts promise to be
    watch      looks every few seconds, raises and resolves
    routes     what operations can ask
"""

from admitone.kernel.alerts.commands import raise_alerts, resolve_alerts
from admitone.kernel.alerts.facts import AlertRaised, AlertResolved
from admitone.kernel.alerts.figures import Reading
from admitone.kernel.alerts.model import ALERTS, Above, Alert, AlertClass, AlertRule, Level, Resolution, ShareAbove
from admitone.kernel.alerts.runbooks import check_rules
from admitone.kernel.alerts.sights import Gauged, Pace, Sight, Sighting, Uptime
from admitone.kernel.alerts.watch import Watch

__all__ = [
    "ALERTS",
    "Above",
    "Alert",
    "AlertClass",
    "AlertRaised",
    "AlertResolved",
    "AlertRule",
    "Gauged",
    "Level",
    "Pace",
    "Reading",
    "Resolution",
    "ShareAbove",
    "Sight",
    "Sighting",
    "Uptime",
    "Watch",
    "check_rules",
    "raise_alerts",
    "resolve_alerts",
]
