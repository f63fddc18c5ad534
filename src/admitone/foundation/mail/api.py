"""The door of mail: post letters within your own transaction.

Promise: what is posted is sent if, and only if, the transaction commits. A letter whose template is given a value too
many or too few is a bug of whoever posts it, and raises here.

    letter = Letter(caller, address, Template.SIGN_IN_CODE, language, {"code": code, "minutes": 10})
    await mail.post(tx, [letter])
"""

from collections.abc import Sequence
from dataclasses import dataclass

from admitone.foundation.mail import store
from admitone.foundation.mail.handlers import Posted, deliver, deliver_at_leisure
from admitone.foundation.mail.model import AT_LEISURE, Content, Letter, LetterId, Template, is_address, on_the_wire
from admitone.foundation.mail.rendering import require_values
from admitone.foundation.mail.sealing import sealed
from admitone.kernel.db import Tx
from admitone.kernel.jobs import Job, enqueue

__all__ = ["Letter", "Template", "is_address", "on_the_wire", "post"]


@dataclass(frozen=True, slots=True)
class _Draft:
    row: store.NewLetter
    job: Job


async def post(tx: Tx, letters: Sequence[Letter]) -> int:
    """How many are new: the others were posted before, under their key, within the last half year."""
    drafts = [_draft(tx, letter) for letter in letters]
    keyed = [draft for draft, letter in zip(drafts, letters, strict=True) if letter.key is not None]
    fresh = [draft for draft, letter in zip(drafts, letters, strict=True) if letter.key is None]
    await enqueue(tx, [draft.job for draft in fresh])
    # One by one: a letter is written down only if its job is new, and of many nobody says which are.
    fresh += [draft for draft in keyed if await enqueue(tx, [draft.job])]
    await store.insert_letters(tx, [draft.row for draft in fresh])
    return len(fresh)


def _draft(tx: Tx, letter: Letter) -> _Draft:
    require_values(letter.template, letter.values)
    own = LetterId.new()
    kind = deliver_at_leisure if letter.template in AT_LEISURE else deliver
    envelope = sealed(Content(letter.to, dict(letter.values)), tx.scope.organization, own)
    return _Draft(
        store.NewLetter(own, letter.template, letter.language, envelope, tx.now),
        Job.of(kind, Posted(own), letter.caller, key=f"mail.deliver:{letter.key or own}"),
    )
