"""What texts say: identifiers, things counted, citations, refusals, instructions and words that decide a meaning."""
