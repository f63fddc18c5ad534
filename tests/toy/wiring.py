"""Who gives the toy, and mail beside it, what they need, as an entry point would say it. To import it is to wire it, once per process."""

from admitone.foundation.mail import port as mail
from admitone.kernel.crypto import KeyRing
from tests.toy.port import SAFE

TOY_KEY = b"a key for toys, known to everybody"
"""The same in every process: what a killed server sealed, the next one opens."""

SAFE.wire(KeyRing({1: TOY_KEY}))
mail.SAFE.wire(KeyRing({1: TOY_KEY}))
