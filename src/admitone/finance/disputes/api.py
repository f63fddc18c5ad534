"""The door of disputes."""

from admitone.finance.disputes.model import DisputeId

__all__ = ("DisputeId",)
