"""The AsyncAPI document: what is pushed over AMQP and WebSocket. `document` joins what each channel says of
itself, `page` shows it to people and fetches nothing.

Imported by `channels.rest`; imports `http` alone.
"""
