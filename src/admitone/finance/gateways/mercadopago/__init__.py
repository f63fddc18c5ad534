"""Mercado Pago: PIX charges by its payments API (`/v1/payments`), for money that is the platform's.

Words: a *payment* is their word for what we call a charge; a *notice* is what they post to us, which says which payment
to ask for and nothing that is believed besides.
"""
