"""Tests of pricing."""
