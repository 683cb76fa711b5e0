"""Our JSON Schema validator and the jsonschema package decide alike."""
import pytest

from schemas import compare, generated


@pytest.fixture
def probe(mcpreel):
    return mcpreel.parent / "tests/json/schema-probe"


def test_generated_schemas_give_the_results_of_jsonschema(probe, record_property):
    pairs = list(generated(seed=1, schemas=4000, values_each=5))
    tally, wrong = compare(probe, pairs)
    record_property("shown", f"{len(pairs)} pairs: {tally}")
    assert not wrong, f"{len(wrong)} differences, the first:\n" + "\n".join(wrong[:5])
    # A run with hardly any of a kind would prove nothing.
    assert min(tally["valid"], tally["invalid"]) > len(pairs) // 5, tally
    assert min(tally["undecided"], tally["decided in spite of it"]) > len(pairs) // 100, tally
