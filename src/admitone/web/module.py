"""The manifest of the pages."""

from typing import Final

from admitone.kernel.manifest import Module
from admitone.web import accents, assets, language, unsent
from admitone.web.account import contracts as account
from admitone.web.checkout import contracts as checkout
from admitone.web.console import contracts as console
from admitone.web.door import contracts as door
from admitone.web.ops import contracts as ops
from admitone.web.proof import pages as proof
from admitone.web.storefront import contracts as storefront
from admitone.web.storefront.operator import KEYS, OPERATOR
from admitone.web.wallet import contracts as wallet

MODULE: Final = Module(
    name="web",
    config=KEYS,
    ports=(OPERATOR,),
    contracts=(
        *assets.CONTRACTS,
        *accents.CONTRACTS,
        *language.CONTRACTS,
        *unsent.CONTRACTS,
        *storefront.CONTRACTS,
        *checkout.CONTRACTS,
        *wallet.CONTRACTS,
        *account.CONTRACTS,
        *door.CONTRACTS,
        *console.CONTRACTS,
        *ops.CONTRACTS,
        *proof.CONTRACTS,
    ),
)
