import subprocess

import pytest
from npm_project import PROGRAM, Project, make_modules, make_packages


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    return make_packages(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="session")
def modules(packages, tmp_path_factory):
    return make_modules(tmp_path_factory.mktemp("vitest-4"), "js", packages)


@pytest.fixture
def project(tmp_path, modules):
    return lambda source: Project(tmp_path, modules, source)


@pytest.fixture
def recording(tmp_path):
    """A recording of the demo session in the folder of the project."""
    path = tmp_path / "demo.jsonl"
    subprocess.run([PROGRAM, "-q", "demo", "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path
