"""From the choice of tickets to owning them: kept, priced, paid, told what happened."""
