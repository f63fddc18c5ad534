"""The manifest of gateways."""

from admitone.finance.gateways.port import GATEWAYS
from admitone.finance.gateways.settings import KEYS
from admitone.kernel.manifest import Module

MODULE = Module(name="gateways", config=KEYS, ports=(GATEWAYS,))
