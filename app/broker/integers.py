"""The types of the integers in AMQP headers."""

from pamqp import encode


def signed_only() -> None:
    """From now on, have this process write integers as signed types only: `b`, `s`, `I` and `l` by size.

    The library that marshals for us and for FastStream writes 32768..65535 as `u` and 2^31..2^32-1 as `i`,
    which many clients cannot read: some end their connection over it. Its switch for old brokers, which know
    no unsigned types either, is for the whole process.
    """
    encode.support_deprecated_rabbitmq()
