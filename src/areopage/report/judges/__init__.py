"""What is known of judges: exams, audits, agreement with people, and what a jury is worth."""
