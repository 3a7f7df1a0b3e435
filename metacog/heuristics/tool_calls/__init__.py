"""What an agent is about to do: rules on tool calls are applied, edited arguments checked."""
