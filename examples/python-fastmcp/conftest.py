import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Tests with the mark anyio run on asyncio only."""
    return "asyncio"
