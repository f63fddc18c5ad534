"""Taking tokens.

Promise (CPN-009, CPN-022, CPN-027): a token is redeemed once, whoever shows it how often where at once: whoever redeems
holds it and its campaign. The last redemption that a campaign has ends it in the same statement, and of two who are
about to take it one does. What is refused changes nothing.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from admitone.kernel.commands import command
from admitone.kernel.db import Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.scope import Caller
from admitone.verticals.coupons import policy
from admitone.verticals.coupons.facts import CampaignEnded
from admitone.verticals.coupons.model import Campaign, CampaignId, CampaignState, Token, TokenId, TokenStatus
from admitone.verticals.coupons.store import tokens as token_store


class Showing(msgspec.Struct, frozen=True):
    """Somebody shows a merchant a token."""

    caller: Caller
    digest: bytes


class Verdict(msgspec.Struct, frozen=True):
    """What the merchant is told. A refusal is an outcome here: it may be a strike, and that must be remembered."""

    at: datetime
    campaign: Campaign | None = None
    refusal: Refusal | None = None
    is_strike: bool = False


@command()
async def redeem(tx: Tx, shown: Sequence[Showing]) -> list[Verdict]:
    tokens, held = await token_store.lock_shown(tx, shown, lambda each: each.digest)
    strange = {each.digest for each in shown} - tokens.keys()
    till = Till(tokens, held, await token_store.find_known(tx, strange))
    verdicts = [till.decide(tx, each) for each in shown]
    changed = [each for each in till.standing.values() if each != held[each.id]]
    await token_store.redeem(tx, till.taken, [held[each.id] for each in changed], changed)
    for caller, campaign in till.ended:
        assert campaign.ended_for is not None
        tx.publish(
            caller,
            CampaignEnded(campaign_id=campaign.id, reason=campaign.ended_for.value, redeemed=campaign.redeemed),
        )
    return verdicts


@dataclass
class Till:
    """Decides one after another: the second who shows a token knows the first, and so do those after the last."""

    tokens: dict[bytes, Token]
    standing: dict[CampaignId, Campaign]
    elsewhere: Collection[bytes]
    """Tokens of other merchants."""
    taken: list[TokenId] = field(default_factory=list)
    ended: list[tuple[Caller, Campaign]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.standing = dict(self.standing)

    def decide(self, tx: Tx, shown: Showing) -> Verdict:
        token = self.tokens.get(shown.digest)
        campaign = self.standing.get(token.campaign) if token else None
        refusal = policy.why_not_redeem(token is not None or shown.digest in self.elsewhere, token, campaign, tx.now)
        if refusal is not None or token is None or campaign is None:
            return Verdict(tx.now, None, refusal, policy.is_strike(refusal, tx.now))
        self.tokens[shown.digest] = msgspec.structs.replace(token, status=TokenStatus.REDEEMED, redeemed_at=tx.now)
        self.taken.append(token.id)
        after = _after(campaign, tx.now)
        if after.state is CampaignState.ENDED:
            self.ended.append((shown.caller, after))
        self.standing[campaign.id] = after
        return Verdict(tx.now, after)


def _after(campaign: Campaign, now: datetime) -> Campaign:
    """One more was redeemed; what is left to be earned of one that ends by it is due now."""
    after = msgspec.structs.replace(campaign, redeemed=campaign.redeemed + 1)
    ended_for = policy.why_ended(after, now)
    if ended_for is None:
        return after
    return msgspec.structs.replace(after, state=CampaignState.ENDED, ended_at=now, ended_for=ended_for, due_at=now)
