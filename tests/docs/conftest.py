"""The tests of the documents share what starts processes with those of the real peers."""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "interop"))
