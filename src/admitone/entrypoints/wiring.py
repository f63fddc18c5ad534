"""Who gives the packages what they need and do not have. Once per process, before anything is built."""

from admitone.kernel.config import Config
from admitone.kernel.crypto import KEYRING


def wire(config: Config) -> None:
    KEYRING.wire(config.keyring)
