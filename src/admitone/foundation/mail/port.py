"""What mail needs from whoever starts it: the keys that seal letters, a way for them, and a postman for the worker."""

from admitone.foundation.mail.mailbox import Mailbox
from admitone.foundation.mail.postman import Postman
from admitone.foundation.mail.routes import mailbox_contracts
from admitone.foundation.mail.settings import is_private, server
from admitone.kernel.config import Config

__all__ = ["Mailbox", "Postman", "check_way", "is_private", "mailbox_contracts"]


def check_way(config: Config) -> None:
    """Raises `ConfigurationProblem` where letters could go nowhere."""
    if Mailbox.of(config) is None:
        server(config)
