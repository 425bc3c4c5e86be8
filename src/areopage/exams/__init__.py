"""Exams and audits of judges, and their canaries. An extension."""
