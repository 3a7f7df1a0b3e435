"""Commands for the demo, replay, rescoring and fitted weights."""
