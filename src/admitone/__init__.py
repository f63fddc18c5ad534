"""Admit One sells access and accounts for every cent."""
