"""What mail needs from whoever starts it: the keys that seal letters, and a postman for the worker."""

from admitone.foundation.mail.mailbox import Mailbox
from admitone.foundation.mail.postman import Postman
from admitone.foundation.mail.routes import mailbox_contracts

__all__ = ["Mailbox", "Postman", "mailbox_contracts"]
