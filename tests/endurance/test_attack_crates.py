"""Validates OATF documents of mcpreel with the official crate, which `thoughtjack validate` calls, too."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))

from test_attack import random_session  # noqa: E402


def test_the_crate_accepts_generated_documents(mcpreel, peer_home, tmp_path):
    paths = []
    for seed in range(500):
        source = random_session(seed).save(tmp_path / "session.jsonl")
        for style in "simple", "phased":
            paths.append(tmp_path / f"{seed}-{style}.oatf.yaml")
            subprocess.run([mcpreel, "-q", "convert", source, "-o", paths[-1], "--style", style], check=True)
    ran = subprocess.run([peer_home("oatf") / "bin" / "oatf-peer", *paths], stdout=subprocess.PIPE, text=True)
    assert ran.returncode == 0, ran.stdout[:4000]


def test_the_crate_rejects_an_invalid_document(peer_home, tmp_path):
    (tmp_path / "a.yaml").write_text('oatf: "0.1"\nattack:\n  execution:\n    mode: mcp_server\n    state: {tools: [{name: "{{a"}]}\n')
    ran = subprocess.run([peer_home("oatf") / "bin" / "oatf-peer", tmp_path / "a.yaml"], stdout=subprocess.PIPE, text=True)
    assert ran.returncode == 1 and "V-016" in ran.stdout
