"""Lifecycles: what is not in the table cannot happen."""

from enum import StrEnum

import pytest

from admitone.kernel.states import IllegalMove, Lifecycle, diagram, render_all, write_all


class Door(StrEnum):
    CLOSED = "CLOSED"
    OPEN = "OPEN"
    BRICKED_UP = "BRICKED_UP"


class Window(StrEnum):
    SHUT = "SHUT"


DOOR = Lifecycle(
    "door", initial=Door.CLOSED, moves={Door.CLOSED: (Door.OPEN, Door.BRICKED_UP), Door.OPEN: (Door.CLOSED,)}
)


def test_a_move_in_the_table_may_happen_and_no_other():
    allowed = {(state, to) for state in Door for to in Door if DOOR.may(state, to)}
    assert allowed == {(Door.CLOSED, Door.OPEN), (Door.CLOSED, Door.BRICKED_UP), (Door.OPEN, Door.CLOSED)}
    assert allowed == set(DOOR.moves())


def test_an_illegal_move_is_refused_with_both_states():
    DOOR.check(Door.CLOSED, Door.OPEN)
    with pytest.raises(IllegalMove) as refused:
        DOOR.check(Door.BRICKED_UP, Door.OPEN)
    assert refused.value.stated() == {"lifecycle": "door", "fromState": "BRICKED_UP", "toState": "OPEN"}


def test_the_update_is_told_which_states_it_may_leave():
    assert DOOR.leaving(Door.CLOSED) == (Door.OPEN,)
    assert DOOR.leaving(Door.BRICKED_UP) == (Door.CLOSED,)


def test_a_state_that_nothing_leaves_is_final():
    assert DOOR.terminal() == (Door.BRICKED_UP,)


def test_the_constraint_names_every_state():
    assert DOOR.constraint() == "status IN ('CLOSED', 'OPEN', 'BRICKED_UP')"
    assert DOOR.constraint("state").startswith("state IN")


def test_a_state_that_no_way_leads_to_is_refused():
    with pytest.raises(ValueError, match="BRICKED_UP"):
        Lifecycle("door", initial=Door.CLOSED, moves={Door.CLOSED: (Door.OPEN,), Door.BRICKED_UP: (Door.OPEN,)})


@pytest.mark.parametrize("moves", [{Door.CLOSED: (Window.SHUT, *Door)}, {Door.CLOSED: tuple(Door), Window.SHUT: ()}])
def test_a_state_of_something_else_is_refused(moves):
    with pytest.raises(ValueError, match="SHUT"):
        Lifecycle("door", initial=Door.CLOSED, moves=moves)


@pytest.mark.parametrize("odd", ["it's", "a b", "", "a-->b", "é", "1st", "x\n"])
def test_states_and_names_are_plain_words(odd):
    with pytest.raises(ValueError, match="plain words"):
        Lifecycle(odd, initial=Window.SHUT, moves={})
    strange = StrEnum("Strange", {"ONLY": odd})
    with pytest.raises(ValueError, match="plain words"):
        Lifecycle("door", initial=strange.ONLY, moves={})


def test_the_diagram_is_drawn_from_the_table():
    assert diagram(DOOR).splitlines() == [
        "stateDiagram-v2",
        "    [*] --> CLOSED",
        "    CLOSED --> OPEN",
        "    CLOSED --> BRICKED_UP",
        "    OPEN --> CLOSED",
        "    BRICKED_UP --> [*]",
    ]


def test_the_pages_are_those_of_today(tmp_path):
    window = Lifecycle("window", initial=Window.SHUT, moves={})
    write_all([DOOR, window], tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == render_all([DOOR, window])
    write_all([window], tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["window.md"]


def test_two_lifecycles_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two lifecycles"):
        render_all([DOOR, Lifecycle("door", initial=Window.SHUT, moves={})])
