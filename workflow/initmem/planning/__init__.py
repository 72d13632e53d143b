"""What a study will cost, how far it is, and what it shows so far."""
