"""The pages of what is sent: deliveries, and a team's webhooks. Imports what `pages` does."""
