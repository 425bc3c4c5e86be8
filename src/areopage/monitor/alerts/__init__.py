"""Alerts: rules that turn figures into decisions, their texts, and their delivery."""
