"""Summaries as a hostile peer makes them: any header, any payload, a checksum that fits (docs/format.md)."""
import ctypes
import ctypes.util
import struct

xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash"))
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

RAW, ADAPTIVE, RANGE, GAPS = 0, 1, 2, 4


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7f | 0x80])
        number >>= 7
    return out + bytes([number])


def checksum(data):
    return xxhash.XXH3_64bits(data, len(data)) & 0xffffffff


def message(bits, payload, generation, codec=RAW, hashes=1, items=0):
    """A filter: layout spread, hash xxh3, no plan."""
    head = bytes([1, 1, hashes]) + varint(bits) + varint(0) + varint(0) + varint(items + 2) + varint(0) + varint(generation) + \
        varint(0) + varint(len(payload))
    size = 8 + len(head)
    if codec == RAW:
        size = (size + 63) // 64 * 64
    whole = b"POSY" + bytes([1, 1, codec, size]) + head
    whole = whole.ljust(size, b"\0") + payload
    return whole + struct.pack("<I", checksum(whole))


def bits_checksum(payload):
    """Of a raw payload: what the tag of its generation ends with."""
    return checksum(payload)


def tag(generation, payload):
    return f'"{generation:x}-{bits_checksum(payload):08x}"'
