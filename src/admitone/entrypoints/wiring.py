"""Who gives the packages what they need and do not have. Once per process, before anything is built."""

from admitone.foundation.mail.port import SAFE
from admitone.kernel.config import Config


def wire(config: Config) -> None:
    SAFE.wire(config.keyring)
