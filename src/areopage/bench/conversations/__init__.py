"""Conversations of simulated children with the target."""
