import pytest

from halfulp_program import Halfulp


def pytest_addoption(parser):
    parser.addoption("--program", required=True, help="the halfulp program under test")


@pytest.fixture(scope="session")
def halfulp(request):
    return Halfulp(request.config.getoption("--program"))
