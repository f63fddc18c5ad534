"""A contract may only rest on what its own package declares."""

import pytest

from admitone.kernel.manifest import Module, check_contracts
from tests.toy.module import MODULE
from tests.toy.routes import INCREMENT, PER_DEVICE, increment


def test_the_toys_contracts_rest_on_its_manifest() -> None:
    check_contracts([MODULE])


def test_a_misspelt_permission_and_a_forgotten_limit_stop_the_start() -> None:
    with pytest.raises(TypeError, match=r"permission toy\.increment is not in the manifest of toy"):
        check_contracts([Module("toy", contracts=(increment,), permissions=("toy.incremnt",), limits=(PER_DEVICE,))])
    with pytest.raises(TypeError, match=r"limit toy\.increments_per_device is not in the manifest of toy"):
        check_contracts([Module("toy", contracts=(increment,), permissions=(INCREMENT,))])
