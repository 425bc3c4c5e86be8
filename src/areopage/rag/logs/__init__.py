"""The files beside the ledger, and logs that other systems left."""
