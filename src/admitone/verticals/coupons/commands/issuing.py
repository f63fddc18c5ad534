"""Giving tokens to people.

Promise (CPN-020, CPN-021): whoever asks while they have a live one is given that one again; nobody has two of a
campaign. Its time is by the database's clock, and no second longer for asking again.
"""

from collections.abc import Sequence

import msgspec

from admitone.kernel.commands import command
from admitone.kernel.db import Overtaken, Tx
from admitone.kernel.errors import Refusal
from admitone.kernel.ids import IdentityId
from admitone.kernel.scope import Caller
from admitone.verticals.coupons import codes
from admitone.verticals.coupons.errors import CampaignNotActive, CampaignNotFound
from admitone.verticals.coupons.kinds import COUPON
from admitone.verticals.coupons.model import Campaign, CampaignId, Token, TokenId, TokenStatus, Whose
from admitone.verticals.coupons.policy import is_active
from admitone.verticals.coupons.store import campaigns as store
from admitone.verticals.coupons.store import tokens as token_store


class Issuing(msgspec.Struct, frozen=True):
    caller: Caller
    campaign: CampaignId
    holder: IdentityId

    @property
    def whose(self) -> Whose:
        return Whose(self.campaign.uuid, self.holder.uuid)


@command(keyed_by=lambda issuing: issuing.campaign)
async def issue(tx: Tx, asked: Sequence[Issuing]) -> list[Token | Refusal]:
    known = await store.find_campaigns(tx, {each.campaign for each in asked})
    refused = [_why_not(known.get(each.campaign), tx) for each in asked]
    wanted = {each.whose: each for each, why in zip(asked, refused, strict=True) if why is None}
    had = await token_store.find_generated(tx, wanted) if wanted else {}
    live = {whose: each for whose, each in had.items() if tx.now < each.expires_at}
    await token_store.expire(tx, [each.id for whose, each in had.items() if whose not in live])
    fresh = {whose: _token(tx, each) for whose, each in wanted.items() if whose not in live}
    if len(await token_store.insert_tokens(tx, [*fresh.values()])) != len(fresh):
        raise Overtaken  # The same person asked somewhere else this instant.
    given = live | fresh
    return [why or given[each.whose] for each, why in zip(asked, refused, strict=True)]


def _why_not(campaign: Campaign | None, tx: Tx) -> Refusal | None:
    if campaign is None:
        return CampaignNotFound()
    return None if is_active(campaign, tx.now) else CampaignNotActive()


def _token(tx: Tx, asked: Issuing) -> Token:
    own = TokenId.new()
    version, digest = codes.fresh(own)
    return Token(
        own, asked.campaign, asked.holder, digest, version, TokenStatus.GENERATED, tx.now, tx.now + COUPON.life
    )
