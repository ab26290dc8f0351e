"""A relay that counts the bytes that pass, in both directions together."""
import socket
import threading


class Relay:
    """Listens on a port of its own, and sends what comes to another."""

    def __init__(self, port):
        self.target, self.bytes, self.lock = port, 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.connect, args=(near, far), daemon=True).start()

    def connect(self, near, far):
        for side in (near, far):  # what is small is not kept back
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with near, far:
            back = threading.Thread(target=self.pump, args=(far, near), daemon=True)
            back.start()
            self.pump(near, far)
            back.join()

    def pump(self, source, target):
        try:
            while data := source.recv(1 << 20):
                with self.lock:
                    self.bytes += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def taken(self):
        """The bytes since it was last asked."""
        with self.lock:
            count, self.bytes = self.bytes, 0
        return count

    def close(self):
        self.listener.close()
