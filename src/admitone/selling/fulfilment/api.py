"""The door for verticals, beside the port: what became of what was paid."""

from admitone.selling.fulfilment.commands import fulfil
from admitone.selling.fulfilment.model import Operation, Scenario, State, Wanted
from admitone.selling.fulfilment.store import find_operations

__all__ = ("Operation", "Scenario", "State", "Wanted", "find_operations", "fulfil")
