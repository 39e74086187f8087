"""Claims of tenants that results are wrong: made and withdrawn by tenants (`request`), taken and answered by
operators (`answer`), corrected with the command that upholds them (`correction`).

Each step is one transaction with its audit row, the claim's alerts, and a row of the change log for the
tenant alone (`steps`). A transaction locks the match before the claim.
"""
