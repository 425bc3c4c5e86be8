"""What only the question says: does an answer affirm it?"""
