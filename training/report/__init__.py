"""What has been learned: the held-out measures, the probe, and the cards that tell them?"""
