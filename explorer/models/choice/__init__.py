"""Choice of the models to compare, their sizes, and the networks kept in memory."""
