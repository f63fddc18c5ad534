"""Codes that somebody who is signed in was sent, and what they answered.

Promise: a code is worth one use, by the person to whom it was sent and for what it was sent. Each wrong answer costs an
attempt of its challenge, whoever gives it; who has used up all of them is told of (IDN-018).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from admitone.foundation.authority.facts import Alarm, SecurityAlert
from admitone.foundation.identity.model import Challenge, ChallengeId, Purpose
from admitone.foundation.identity.policy import comes_back
from admitone.foundation.identity.store import challenges
from admitone.kernel.db import PeopleTx
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller


class Answer(Protocol):
    """What came back, and from whom."""

    @property
    def caller(self) -> Caller: ...
    @property
    def identity(self) -> IdentityId: ...
    @property
    def challenge(self) -> ChallengeId | None: ...
    @property
    def digests(self) -> tuple[bytes, ...]: ...


@dataclass
class Answers:
    """Decides one after another: the second use of a code in a batch sees the first."""

    tx: PeopleTx
    purpose: Purpose
    sent: dict[ChallengeId, Challenge]
    used: dict[ChallengeId, Challenge] = field(default_factory=dict)
    missed: dict[ChallengeId, list[Answer]] = field(default_factory=dict)

    @classmethod
    async def to(cls, tx: PeopleTx, purpose: Purpose, answers: Sequence[Answer]) -> Self:
        asked = [each.challenge for each in answers if each.challenge]
        return cls(tx, purpose, await challenges.lock_codes(tx, asked))

    def right(self, answer: Answer) -> Challenge | None:
        """The challenge that this answers, if it does."""
        challenge = self.sent.get(answer.challenge) if answer.challenge else None
        if challenge is None or challenge.id in self.used:
            return None
        left = challenge.attempts_left - len(self.missed.get(challenge.id, ()))
        theirs = challenge.identity == answer.identity
        if left > 0 and theirs and comes_back(challenge, answer.digests, frozenset({self.purpose}), self.tx.now):
            return challenge
        self.missed.setdefault(challenge.id, []).append(answer)
        return None

    def use(self, challenge: Challenge) -> None:
        self.used[challenge.id] = challenge

    async def settle(self) -> None:
        """Write down what was used and what was missed."""
        await challenges.use(self.tx, list(self.used))
        await challenges.miss(self.tx, sorted((each, len(answers)) for each, answers in self.missed.items()))
        for each, answers in self.missed.items():
            challenge = self.sent[each]
            if challenge.identity and 0 < challenge.attempts_left <= len(answers):
                alert = SecurityAlert(identity_id=challenge.identity, alarm=Alarm.CODE_GUESSED)
                self.tx.publish(answers[-1].caller, alert)
