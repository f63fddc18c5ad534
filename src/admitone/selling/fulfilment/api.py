"""The door for verticals, beside the port: what became of what was paid."""

from admitone.selling.fulfilment.model import Operation, Scenario, State
from admitone.selling.fulfilment.store import find_operations

__all__ = ("Operation", "Scenario", "State", "find_operations")
