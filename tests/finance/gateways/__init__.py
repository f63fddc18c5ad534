"""Tests of gateways: one suite for every provider, and what is the sandbox's own."""
