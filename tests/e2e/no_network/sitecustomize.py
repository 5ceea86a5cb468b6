"""Put on the path of a process, this makes every attempt to reach a network an error."""

import socket


def _refuse(*arguments: object, **named: object) -> None:
    raise AssertionError(f"a socket was about to be used: {arguments}")


socket.socket.connect = _refuse  # type: ignore[method-assign,assignment]
socket.socket.connect_ex = _refuse  # type: ignore[method-assign,assignment]
socket.socket.sendto = _refuse  # type: ignore[method-assign,assignment]
socket.getaddrinfo = _refuse  # type: ignore[assignment]
socket.create_connection = _refuse  # type: ignore[assignment]
