"""The page: input bar, tabs, links and the words the reader sees."""
