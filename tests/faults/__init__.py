"""What a dying process, a failing disk or a damaged ledger does to memories. Each campaign counts what it tried."""
