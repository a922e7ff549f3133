"""Where does every head of the three models look? The numbers."""
