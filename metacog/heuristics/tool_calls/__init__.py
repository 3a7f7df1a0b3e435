"""What an agent is about to do: rules are applied, edited arguments checked, secrets kept out of sight."""
