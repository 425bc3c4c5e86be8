"""What every view shows of nine seeded ledgers, frozen: a change of the code that moves it is seen."""
