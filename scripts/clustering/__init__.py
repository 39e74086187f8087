"""What a fault between hosts costs a bookmaker: `drill` tries each, `failovers` those of the database."""
