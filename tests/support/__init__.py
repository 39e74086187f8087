"""What tests stand on: real servers, databases made in milliseconds, files beside the checkout."""
