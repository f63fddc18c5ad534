"""OpenPix (Woovi): PIX charges by its API (`/api/v1/charge`), for money that is the platform's.

Words: a *correlation id* is the name that we give a charge or a refund: the key of our order; a *transaction id* is the
name that they give a charge, and nobody else can.
"""
