"""Whether this machine can run a composed system, found out before it is tried."""
