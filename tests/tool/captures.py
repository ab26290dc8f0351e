"""Packets and capture files, written byte by byte."""
import socket
import struct


def ipv4(source, destination, identification=1, payload=b"12345678", ttl=64, tos=0, protocol=17):
    header = struct.pack(">BBHHHBBH4s4s", 0x45, tos, 20 + len(payload), identification, 0, ttl, protocol, 0,
                         socket.inet_aton(source), socket.inet_aton(destination))
    return header + payload


def udp(source_port, destination_port, data):
    return struct.pack(">HHHH", source_port, destination_port, 8 + len(data), 0) + data


def pcap(packets, snap=65535, link=101):
    """Of (time in seconds, bytes) each; link 101 is IP without a link header, 1 Ethernet."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, link)
    for time, packet in packets:
        kept = packet[:snap]
        out += struct.pack("<IIII", int(time), round(time % 1 * 1e6), len(kept), len(packet)) + kept
    return out
