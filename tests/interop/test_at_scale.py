"""The queries of docs/at-scale.md give the numbers of stats, in DuckDB and in ClickHouse (chdb). tests/endurance has Spark."""
import pytest

from databases import RECORDINGS, ROWS, assert_recordings, assert_rows, commands, make_folders, queries, result_of, stats_of

pytestmark = pytest.mark.interop

DATABASES = ["DuckDB", "ClickHouse"]


@pytest.fixture(scope="module")
def folder(mcpreel, tmp_path_factory):
    """Made by the commands of the page."""
    where = tmp_path_factory.mktemp("fleet")
    make_folders(mcpreel, where, commands())
    return where


@pytest.fixture(scope="module")
def stats(mcpreel, folder):
    return stats_of(mcpreel, sorted(folder.glob("recordings/*.jsonl")))


@pytest.mark.parametrize("database", [*DATABASES, "Spark"])
def test_the_page_has_two_queries_for_each_database(database):
    assert len(queries(database)) == 2


@pytest.mark.parametrize("database", DATABASES)
def test_rows_give_the_numbers_of_stats(database, peer_home, folder, stats):
    assert_rows(result_of(peer_home("tables"), folder, database, queries(database)[ROWS]), stats)


@pytest.mark.parametrize("database", DATABASES)
def test_recordings_as_they_are_give_the_numbers_of_stats(database, peer_home, folder, stats):
    assert_recordings(result_of(peer_home("tables"), folder, database, queries(database)[RECORDINGS]), stats)
