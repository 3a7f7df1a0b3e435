"""The hesitation score: the seed's four signals, the `aware` profile, patterns, thresholds, fitted weights."""
