"""What gateways ask before they let something through: read into one question, answered by a post of the agent's."""
