"""Small HDF5 and N5 files, made from the formats' descriptions."""
import json
import struct


def hdf5(datasets):
    """A file of {group: {name: (shape, values of uint8)}}, without checksums: formats/hdf5/README.md."""
    def header(*messages):
        padded = [(kind, data.ljust((len(data) + 7) // 8 * 8, b"\0")) for kind, data in messages]
        body = b"".join(struct.pack("<HHB3x", kind, len(data), 0) + data for kind, data in padded)
        return struct.pack("<BxHII4x", 1, len(padded), 1, len(body)) + body

    def group(links):
        none = 2**64 - 1
        return header((2, struct.pack("<BBQQ", 0, 0, none, none)),
                      *((6, struct.pack("<BBB", 1, 0, len(name)) + name.encode() + struct.pack("<Q", at)) for name, at in links))

    content, groups = bytes(96), []

    def add(part):
        nonlocal content
        content += part
        return len(content) - len(part)
    for group_name, members in datasets.items():
        links = []
        for name, (shape, values) in members.items():
            at = add(bytes(values))
            links.append((name, add(header((1, struct.pack(f"<BB6x{len(shape)}Q", 1, len(shape), *shape)),
                                           (3, struct.pack("<B3xIHH", 0x10, 1, 0, 8)),
                                           (8, struct.pack("<BBQQ", 3, 1, at, len(values)))))))
        groups.append((group_name, add(group(links))))
    root = add(group(groups))
    start = b"\x89HDF\r\n\x1a\n" + bytes([0, 0, 0, 0, 0, 8, 8, 0]) + struct.pack("<HHI", 4, 16, 0)
    return start + struct.pack("<QQQQQQ24x", 0, 2**64 - 1, len(content), 2**64 - 1, 0, root) + content[96:]


def n5(dimensions, values):
    """(attributes.json, the one block) of a dataset of uint8."""
    attributes = {"dimensions": dimensions, "blockSize": dimensions, "dataType": "uint8", "compression": {"type": "raw"}}
    return json.dumps(attributes), struct.pack(f">HH{len(dimensions)}I", 0, len(dimensions), *dimensions) + bytes(values)
