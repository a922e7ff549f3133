"""Skeleton of the page: input bar, tabs, link, status and the event that fills them."""
