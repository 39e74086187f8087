"""The AsyncAPI document: what is pushed over AMQP and WebSocket, joined from what each channel says of
itself, and as a page for people that fetches nothing.

Pure; imported by `channels.rest` and `main`.
"""
