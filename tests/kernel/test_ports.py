"""A program with an unwired port does not start."""

import pytest

from admitone.kernel.ports import Port, Unwired, check_wired


def test_start_up_names_every_unwired_port() -> None:
    given, one, two = Port[str]("a.given"), Port[str]("b.one"), Port[str]("c.two")
    given.wire("here")
    with pytest.raises(Unwired, match=r"not wired: b\.one, c\.two"):
        check_wired([two, given, one])


def test_a_port_is_wired_once() -> None:
    port = Port[str]("a.port")
    port.wire("first")
    with pytest.raises(Unwired, match="twice"):
        port.wire("second")
    assert port() == "first"


def test_a_test_may_wire_a_port_for_its_own_length() -> None:
    port = Port[str]("a.port")
    with port.wired("for now"):
        assert port() == "for now"
    with pytest.raises(Unwired):
        port()
