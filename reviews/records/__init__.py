"""What every part of reviews reads and writes along the way: reasons, events for webhooks, spans of traces."""
