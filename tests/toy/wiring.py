"""Who gives the toy, and authority beside it, what they need, as an entry point would say it. To import it is to wire it, once per process."""

from admitone.foundation.authority import port as authority
from admitone.kernel.crypto import KeyRing
from tests.toy.port import SAFE

TOY_KEY = b"a key for toys, known to everybody"
"""The same in every process: what a killed server sealed, the next one opens."""

SAFE.wire(KeyRing({1: TOY_KEY}))
authority.SAFE.wire(KeyRing({1: TOY_KEY}))
