"""How a posted response becomes rows, in one transaction. Imports `learning`, `scoring`, not what decides."""
