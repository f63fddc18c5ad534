"""The manifest of sources."""

from admitone.finance.sources.port import SHOPS
from admitone.kernel.manifest import Module

MODULE = Module(name="sources", ports=(SHOPS,))
