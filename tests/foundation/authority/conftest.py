"""The shop, for all tests of authority."""

from tests.foundation.authority.shop import street  # noqa: F401, a fixture
