"""What becomes of tool calls that wait, beside what people decide about them."""
