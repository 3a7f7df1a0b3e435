"""How texts are read: words, sentences, Markdown, tags, what is hidden. Imports nothing else of the heuristics
but the lexicon.
"""
