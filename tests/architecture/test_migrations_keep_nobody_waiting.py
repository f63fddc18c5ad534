"""A file of migrations is one transaction: what it locks is locked until its end."""

import re
from typing import Final

from admitone.kernel.migrate import MIGRATIONS

RELEASED: Final = 43
"""Up to this one some look at their rows under the lock that adds the constraint; what was released does not change."""
VALIDATED: Final = re.compile(r"VALIDATE CONSTRAINT (\w+)")
ADDED: Final = re.compile(r"ADD CONSTRAINT (\w+)")


def test_rows_are_looked_at_by_a_later_file_than_the_one_that_adds_their_constraint():
    held_up = [
        (path.name, name)
        for path in sorted(MIGRATIONS.glob("*.sql"))
        if int(path.name[:4]) > RELEASED
        for name in {*VALIDATED.findall(path.read_text())} & {*ADDED.findall(path.read_text())}
    ]
    assert held_up == []
