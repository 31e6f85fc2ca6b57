"""The pure rules: no clock, no I/O, no randomness; `now`, seeds and limits are arguments."""
