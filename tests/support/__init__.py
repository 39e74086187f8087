"""What tests of every kind stand on: real servers, databases made in milliseconds, files beside the checkout."""
