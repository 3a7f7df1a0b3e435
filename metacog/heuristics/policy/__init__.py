"""The settings of an agent's policy, checked."""
