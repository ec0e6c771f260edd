"""Side-by-side timings against peers, each printed as figures with their targets."""
