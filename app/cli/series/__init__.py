"""Series of games, as `kibitz match` shows and tells them."""
