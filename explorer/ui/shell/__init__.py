"""The page's skeleton: input bar, tabs, link, status and the event that fills them."""
