"""How far judges can be believed: their exams, audits, and what people's labels correct."""
