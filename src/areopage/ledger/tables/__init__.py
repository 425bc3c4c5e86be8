"""Tables, records and rows of the ledger, its chains and connections."""
