"""What tests build on: real servers, databases created in milliseconds, files outside the checkout."""
