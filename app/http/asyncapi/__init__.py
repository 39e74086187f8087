"""The AsyncAPI document: what is published over AMQP and WebSocket. `document` joins the parts that the
channels provide, `page` renders it as HTML without external resources.
"""
