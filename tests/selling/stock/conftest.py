"""Every test of stock has a market of its own."""

from tests.selling.stock.market import market as market
