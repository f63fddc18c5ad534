"""The sandbox's own books, in a SQLite file outside of our cluster.

Promise: objects, events and movements are only ever added; an object is its last version. What was answered is in the
file when the process that uses it is killed: a commit has been handed to the system before anybody is told. Several
processes may use one file. Only queues change: webhooks to be delivered, things to be done at a time, and the answers
that are kept for a day under their keys.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS object (
        sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, version INTEGER NOT NULL, born TEXT, key TEXT,
        body BLOB NOT NULL);
    CREATE UNIQUE INDEX IF NOT EXISTS object_by_id ON object (id, version);
    CREATE INDEX IF NOT EXISTS object_by_key ON object (key) WHERE key IS NOT NULL;
    CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, within TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS event (
        sequence INTEGER PRIMARY KEY, about TEXT NOT NULL, type TEXT NOT NULL, account TEXT,
        created INTEGER NOT NULL, body BLOB NOT NULL);
    CREATE INDEX IF NOT EXISTS event_by_creation ON event (created, sequence);
    CREATE TABLE IF NOT EXISTS movement (
        sequence INTEGER PRIMARY KEY, organization TEXT, body BLOB NOT NULL);
    CREATE INDEX IF NOT EXISTS movement_by_organization ON movement (organization, sequence);
    CREATE TABLE IF NOT EXISTS delivery (
        id INTEGER PRIMARY KEY, event INTEGER NOT NULL, due_at INTEGER NOT NULL, attempt INTEGER NOT NULL,
        forgery TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS delivery_by_time ON delivery (due_at);
    CREATE TABLE IF NOT EXISTS timer (due_at INTEGER NOT NULL, deed TEXT NOT NULL, id TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS timer_by_time ON timer (due_at);
    CREATE TABLE IF NOT EXISTS answer (
        key TEXT PRIMARY KEY, digest BLOB NOT NULL, status INTEGER NOT NULL, body BLOB NOT NULL, at INTEGER NOT NULL)
        WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS answer_by_time ON answer (at);
"""
APPEND_ONLY: Final = """
    CREATE TRIGGER IF NOT EXISTS {table}_{verb} BEFORE {verb} ON {table}
    BEGIN SELECT RAISE(ABORT, 'the books are only added to'); END;
"""
LAST: Final = 2**63 - 1
TRIES: Final = 200
PAUSE: Final = timedelta(milliseconds=50)
BOOKS: Final = ("object", "part", "event", "movement")

FIND_OBJECT: Final = "SELECT body FROM object WHERE id = ? AND version <= ? ORDER BY version DESC LIMIT 1"
FIND_BY_KEY: Final = "SELECT id FROM object WHERE key = ? ORDER BY sequence LIMIT 2"
INSERT_OBJECT: Final = "INSERT INTO object (id, version, born, key, body) VALUES (?, ?, ?, ?, ?)"
INSERT_PART: Final = "INSERT INTO part (id, within) VALUES (?, ?)"
FIND_WHOLE: Final = "SELECT within FROM part WHERE id = ?"
LIST_NEWEST: Final = """
    SELECT id
      FROM object
     WHERE born = ? AND sequence > (SELECT max(sequence) FROM object) - 20000
     ORDER BY sequence DESC
     LIMIT ?
"""
INSERT_EVENT: Final = "INSERT INTO event (about, type, account, created, body) VALUES (?, ?, ?, ?, ?)"
# The inner one finds what need not be read; a clock that was set back by less than a minute leaves nothing out.
LIST_EVENTS: Final = """
    SELECT sequence, body
      FROM event
     WHERE sequence > max(?1, coalesce((SELECT sequence
                                          FROM event
                                         WHERE created < ?2 - 60
                                         ORDER BY created DESC, sequence DESC
                                         LIMIT 1), 0))
       AND created >= ?2
     ORDER BY sequence
     LIMIT ?3
"""
LIST_EVENTS_ABOUT: Final = """
    SELECT body
      FROM event
     WHERE about = ? AND sequence > (SELECT max(sequence) FROM event) - 20000
     ORDER BY sequence DESC
     LIMIT ?
"""
INSERT_MOVEMENT: Final = "INSERT INTO movement (organization, body) VALUES (?, ?)"
LIST_MOVEMENTS: Final = """
    SELECT sequence, body
      FROM movement
     WHERE organization = ?1
       AND sequence > ?2
       AND (?3 = 0 OR json_extract(CAST(body AS TEXT), '$.at') >= ?3)
     ORDER BY sequence
     LIMIT ?4
"""
INSERT_DELIVERY: Final = "INSERT INTO delivery (event, due_at, attempt, forgery) VALUES (?, ?, 0, ?)"
LIST_DELIVERIES: Final = """
    SELECT d.id, d.attempt, d.forgery, e.type, e.account, e.body
      FROM delivery AS d JOIN event AS e ON e.sequence = d.event
     WHERE d.due_at <= ?
     ORDER BY d.due_at, d.id
     LIMIT ?
"""
PUT_OFF_DELIVERY: Final = "UPDATE delivery SET due_at = ?, attempt = attempt + 1 WHERE id = ?"
DELETE_DELIVERY: Final = "DELETE FROM delivery WHERE id = ?"
COUNT_DELIVERIES: Final = "SELECT count(*) FROM delivery"
INSERT_TIMER: Final = "INSERT INTO timer (due_at, deed, id) VALUES (?, ?, ?)"
TAKE_TIMERS: Final = "DELETE FROM timer WHERE due_at <= ? RETURNING due_at, deed, id"
FIND_ANSWER: Final = "SELECT digest, status, body FROM answer WHERE key = ? AND at > ?"
FORGET_ANSWERS: Final = "DELETE FROM answer WHERE at <= ?"
KEEP_ANSWER: Final = "REPLACE INTO answer (key, digest, status, body, at) VALUES (?, ?, ?, ?, ?)"


class Waiting(NamedTuple):
    """A webhook that is due."""

    id: int
    attempt: int
    forgery: str
    type: str
    account: str | None
    body: bytes


class Journal:
    """The file, or memory when no file is named."""

    def __init__(self, file: Path | None = None) -> None:
        self._books = sqlite3.connect(
            file or ":memory:", isolation_level=None, check_same_thread=False, cached_statements=64
        )
        self._lock = threading.RLock()
        self._books.execute("PRAGMA busy_timeout = 10000")
        if file:
            # Without waiting for the disk: killing the process loses nothing, and cutting the power loses a game.
            self._write_ahead()
            self._books.execute("PRAGMA synchronous = OFF")
        guards = "".join(APPEND_ONLY.format(table=table, verb=verb) for table in BOOKS for verb in ("UPDATE", "DELETE"))
        with self._lock:
            self._books.executescript(f"BEGIN IMMEDIATE; {SCHEMA} {guards} COMMIT;")

    def _write_ahead(self) -> None:
        """Of several who open a new file at once one changes how it is written; SQLite does not let the others wait."""
        for _ in range(TRIES):
            try:
                self._books.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError:
                time.sleep(PAUSE.total_seconds())
        self._books.execute("PRAGMA journal_mode = WAL")

    def close(self) -> None:
        self._books.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction, alone in the file from its start: what is read in it is still so when it is written."""
        with self._lock:
            self._books.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._books.execute("ROLLBACK")
                raise
            self._books.execute("COMMIT")

    # -- The books

    def find(self, name: str, until: int | None = None) -> bytes | None:
        """Its last version, or what that was at a time."""
        row = self._books.execute(FIND_OBJECT, (name, LAST if until is None else until)).fetchone()
        return row[0] if row else None

    def find_by_key(self, key: str) -> list[str]:
        return [row[0] for row in self._books.execute(FIND_BY_KEY, (key,))]

    def create(self, kind: str, name: str, key: str | None, version: int, body: bytes) -> None:
        self._books.execute(INSERT_OBJECT, (name, version, kind, key, body))

    def change(self, name: str, version: int, body: bytes) -> None:
        """Versions are the times of change, which rise: a second writer of the same one is refused."""
        self._books.execute(INSERT_OBJECT, (name, version, None, None, body))

    def add_part(self, name: str, within: str) -> None:
        self._books.execute(INSERT_PART, (name, within))

    def find_whole(self, name: str) -> str | None:
        """The object in which it stands."""
        row = self._books.execute(FIND_WHOLE, (name,)).fetchone()
        return row[0] if row else None

    def list_newest(self, kind: str, limit: int) -> list[bytes]:
        ids = self._books.execute(LIST_NEWEST, (kind, limit)).fetchall()
        return [body for (name,) in ids if (body := self.find(name)) is not None]

    def append_event(self, about: str, kind: str, account: str | None, created: int, body: bytes) -> int:
        return int(self._books.execute(INSERT_EVENT, (about, kind, account, created, body)).lastrowid or 0)

    def list_events(self, after: int, since: int, limit: int) -> list[tuple[int, bytes]]:
        return self._books.execute(LIST_EVENTS, (after, since, limit)).fetchall()

    def list_events_about(self, name: str, limit: int) -> list[bytes]:
        return [row[0] for row in self._books.execute(LIST_EVENTS_ABOUT, (name, limit))]

    def append_movement(self, organization: str | None, body: bytes) -> None:
        self._books.execute(INSERT_MOVEMENT, (organization, body))

    def list_movements(self, organization: str, after: int, since: int, limit: int) -> list[tuple[int, bytes]]:
        return self._books.execute(LIST_MOVEMENTS, (organization, after, since, limit)).fetchall()

    # -- The queues

    def put_delivery(self, event: int, due_at: int, forgery: str) -> None:
        self._books.execute(INSERT_DELIVERY, (event, due_at, forgery))

    def list_deliveries(self, now: int, limit: int) -> list[Waiting]:
        return [Waiting(*row) for row in self._books.execute(LIST_DELIVERIES, (now, limit))]

    def put_off_deliveries(self, due: Sequence[tuple[int, int]]) -> None:
        self._books.executemany(PUT_OFF_DELIVERY, due)

    def remove_deliveries(self, ids: Sequence[int]) -> None:
        self._books.executemany(DELETE_DELIVERY, [(name,) for name in ids])

    def count_deliveries(self) -> int:
        return int(self._books.execute(COUNT_DELIVERIES).fetchone()[0])

    def put_timer(self, due_at: int, deed: str, name: str) -> None:
        self._books.execute(INSERT_TIMER, (due_at, deed, name))

    def take_timers(self, now: int) -> list[tuple[int, str, str]]:
        return sorted(self._books.execute(TAKE_TIMERS, (now,)).fetchall())

    def find_answer(self, key: str, since: int) -> tuple[bytes, int, bytes] | None:
        row: Any = self._books.execute(FIND_ANSWER, (key, since)).fetchone()
        return tuple(row) if row else None

    def forget_answers(self, until: int) -> None:
        self._books.execute(FORGET_ANSWERS, (until,))

    def keep_answer(self, key: str, digest: bytes, status: int, body: bytes, at: int) -> None:
        self._books.execute(KEEP_ANSWER, (key, digest, status, body, at))
