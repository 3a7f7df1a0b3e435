"""Error patterns: their life, their scorer, import and export, their forms."""
