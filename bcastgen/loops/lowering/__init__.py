"""From a typed expression to loop nests."""
