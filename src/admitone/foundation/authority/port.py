"""What authority needs and does not have: somebody who keeps the keys."""

from admitone.kernel.crypto import KeyRing
from admitone.kernel.ports import Port

SAFE = Port[KeyRing]("authority.safe")
