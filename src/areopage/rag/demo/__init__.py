"""What the demo of the gate needs: the pages of an invented bank's help desk, questions, and an areopage.yml."""
