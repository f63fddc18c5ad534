"""The door for others: what operators list and look at again."""

from admitone.finance.webhooks.commands.replaying import Replay, Replayed, replay_each
from admitone.finance.webhooks.model import PLATFORM, ReceiptId, ReceiptState
from admitone.finance.webhooks.store import list_receipts

__all__ = ("PLATFORM", "ReceiptId", "ReceiptState", "Replay", "Replayed", "list_receipts", "replay_each")
