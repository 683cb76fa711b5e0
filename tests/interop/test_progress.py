"""The official TypeScript client drops a call's progress handler with its answer: replay must not answer too fast."""
import json
import pathlib
import shutil

PEERS = pathlib.Path(__file__).resolve().parent.parent / "peers"


def test_replayed_progress_reaches_the_progress_handler(mcpreel, npm_peers, run, tmp_path):
    node = shutil.which("node")
    client = [node, PEERS / "ts-progress.mjs", npm_peers, "--"]
    server = [node, npm_peers / "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"]
    file = tmp_path / "session.jsonl"

    recorded = run([*client, mcpreel, "record", "-o", file, "--", *server])
    assert recorded.code == 0, str(recorded)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    sent = sum(line.get("msg", {}).get("method") == "notifications/progress" for line in lines)
    assert sent == 4

    for _ in range(5):
        replayed = run([*client, mcpreel, "replay", file])
        assert replayed.code == 0, str(replayed)
        assert int(replayed.out) == sent
