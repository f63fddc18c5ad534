"""What changes what authority knows, beside sessions: switches, and keys of programs and devices."""
