"""The authority: goals with their canonical todos, leases and receipts, and every decision about them. Pure."""
