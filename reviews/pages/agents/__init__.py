"""Parts of the agent's page that know what its agent posted."""
