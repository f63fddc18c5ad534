"""Who gives the packages what they need and do not have. Once per process, before anything is built."""

from admitone.foundation.authority import port as authority
from admitone.kernel.config import Config


def wire(config: Config) -> None:
    authority.SAFE.wire(config.keyring)
