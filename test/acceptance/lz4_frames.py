"""
Prints frames that Python's lz4 writes, as JSON lines {frame, content} in base64:
`python lz4_frames.py [--count N] [--seed S]`. With `--fixtures`, prints the few of test/unit/cli/import-wyvern/frames.jsonl, one for each option of the format.
"""

import argparse
import base64
import hashlib
import json
import random

import lz4.frame as lz4

WORDS = ["brand", "product", "price", "Größe", "鞋", "😀", "0.5", "null", '"', "\\", "a" * 40]
BLOCKS = [lz4.BLOCKSIZE_MAX64KB, lz4.BLOCKSIZE_MAX256KB, lz4.BLOCKSIZE_MAX1MB, lz4.BLOCKSIZE_MAX4MB]


def content(choice):
    kind = choice.random()
    if kind < 0.1:
        return b""
    if kind < 0.25:
        return choice.randbytes(choice.randrange(1, 3000))
    if kind < 0.3:
        return bytes([choice.randrange(256)]) * choice.randrange(1, 300_000)
    words = [choice.choice(WORDS) for _ in range(choice.choice([1, 5, 50, 500, 30_000]))]
    return json.dumps({"product_id": str(choice.randrange(10**6)), "text": " ".join(words)}, ensure_ascii=False).encode()


def frame(choice, data):
    options = dict(
        block_size=choice.choice(BLOCKS),
        block_linked=choice.random() < 0.5,
        compression_level=choice.choice([-5, 0, 1, 9, 16]),
        content_checksum=choice.random() < 0.5,
        block_checksum=choice.random() < 0.5,
        store_size=choice.random() < 0.5,
    )
    if choice.random() < 0.2 and data:
        middle = len(data) // 2
        return lz4.compress(data[:middle], **options) + lz4.compress(data[middle:])
    return lz4.compress(data, **options)


def show(data, packed):
    print(json.dumps({"frame": base64.b64encode(packed).decode(), "content": base64.b64encode(data).decode()}))


def show_hash(data, packed):
    print(json.dumps({"frame": base64.b64encode(packed).decode(), "sha256": hashlib.sha256(data).hexdigest()}))


def fixtures():
    text = json.dumps({"product_id": "p1", "title": "road runner " * 12, "price": 12.5}).encode()
    long = b"".join(b"%d," % (i % 97) for i in range(50_000))
    for data, options in [
        (b"", {}),
        (text, {}),
        (text, {"content_checksum": True, "block_checksum": True, "store_size": False}),
        (long, {"block_size": lz4.BLOCKSIZE_MAX64KB, "block_linked": True, "content_checksum": True}),
        (long, {"block_size": lz4.BLOCKSIZE_MAX64KB, "block_linked": False, "compression_level": 9}),
        (bytes(range(256)), {"block_checksum": True}),
    ]:
        show_hash(data, lz4.compress(data, **options))
    show_hash(text + text, lz4.compress(text) + lz4.compress(text))


parser = argparse.ArgumentParser()
parser.add_argument("--fixtures", action="store_true")
parser.add_argument("--count", type=int, default=300)
parser.add_argument("--seed", type=int, default=1)
flags = parser.parse_args()
if flags.fixtures:
    fixtures()
else:
    choice = random.Random(flags.seed)
    for _ in range(flags.count):
        data = content(choice)
        show(data, frame(choice, data))
