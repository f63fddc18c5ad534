"""Where an organisation is run: sales, events, orders, money, team."""
