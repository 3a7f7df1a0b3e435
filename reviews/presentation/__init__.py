"""How verdicts, texts and figures are put before people. Nothing here writes a row."""
