"""How Statistics puts its figures before people: changes, charts, tables, and a sentence for each."""
