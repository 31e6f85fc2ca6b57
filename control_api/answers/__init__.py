"""What readers are told: one sentence, expanded ranges, odd nights, what was missed."""
