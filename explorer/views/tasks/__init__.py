"""What are they used for? Pictures."""
