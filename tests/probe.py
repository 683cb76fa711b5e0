"""Ask a process about texts: four bytes of length, then so many bytes, there and back."""
import struct
import sys
import threading


def ask(probe, texts):
    """The answers to a batch; the questions go out beside, lest both sides wait."""
    def send():
        probe.stdin.write(b"".join(struct.pack("<I", len(t)) + t for t in texts))
        probe.stdin.flush()

    sender = threading.Thread(target=send)
    sender.start()
    answers = []
    for text in texts:
        head = probe.stdout.read(4)
        if len(head) < 4:
            sys.exit(f"a probe died at or before {text!r}")
        answers.append(probe.stdout.read(struct.unpack("<I", head)[0]).decode())
    sender.join()
    return answers
