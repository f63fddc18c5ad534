"""Tests of finance."""
