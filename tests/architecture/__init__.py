"""Checks that bite: each is a function that returns violations as sentences, proved by a planted one."""
