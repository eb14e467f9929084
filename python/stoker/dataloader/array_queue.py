"""A queue between processes for what DataLoader sends: batches whose arrays stay where the worker wrote them."""

import array
import collections
import errno
import multiprocessing
import os
import queue
import select
import socket
import struct
import threading
from multiprocessing import context, reduction, util

from . import array_pickle
from .shared_blocks import Reader

_HEAD = struct.Struct("=16sHB")  # key of the arena, number of blocks, whether the last of them holds the pickle
_BLOCK = struct.Struct("=IQQQ")  # index, offset, size, length
_LOOKS = 1.0  # seconds between two looks at whether somebody still reads
_MOST_INLINE = 16 << 10  # bytes of a pickle that travel in the message
_ROOM_FOR_DESCRIPTOR = socket.CMSG_LEN(array.array("i").itemsize)
# The blocks of a pickle, and one for the pickle itself.
_LONGEST = _HEAD.size + (array_pickle.MOST_BLOCKS + 1) * _BLOCK.size + _MOST_INLINE


class ArrayQueue:
    """What DataLoader uses of multiprocessing.Queue, with one process that reads.

    A message is one datagram of a pair of sockets: the pickle without its large arrays, and the blocks that these lie in. `put` never
    waits: what the socket does not take is sent by a thread, which is started only then.
    """

    def __init__(self):
        self._reading, self._writing = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._wait_without_limit()
        self._begin()

    def _wait_without_limit(self):
        """Whatever socket.setdefaulttimeout says: a batch takes as long as it takes."""
        for each in (self._reading, self._writing):
            each.setblocking(True)

    def _begin(self):
        """What each process has of its own."""
        self._owner, self._parent = os.getpid(), os.getppid()
        self._put_lock, self._get_lock = threading.Lock(), threading.Lock()
        self._known_arena = None  # the arena whose descriptor the reader has
        self._readers = {}
        self._watched = {}
        self._late = collections.deque()  # messages that the socket did not take
        self._sender = None
        self._waits_at_exit = True
        self._flush = None  # what waits for the sender when the process exits

    def _own(self):
        if self._owner != os.getpid():
            self._begin()

    # --- Writing.

    def put(self, value):
        self._own()
        with self._put_lock:
            message = self._message(value)
            if self._sender is not None:
                self._late.append(message)
                return
            try:
                self._send(message, socket.MSG_DONTWAIT)
            except BlockingIOError:
                self._late.append(message)
                self._start_sender()

    def _message(self, value):
        """The datagram, and the descriptor that goes with it, if any."""
        data, blocks = array_pickle.dumps(value)
        outside = len(data) > _MOST_INLINE
        if outside:
            block = array_pickle.arena().allocate(len(data))
            block.write(data)
            blocks.append(block)
            data = b""
        if not blocks:
            return b"".join((_HEAD.pack(b"", 0, False), data)), []
        arena = array_pickle.arena()
        for block in blocks:
            arena.send(block)
        places = [_BLOCK.pack(block.index, block.offset, block.size, block.length) for block in blocks]
        descriptors = [] if self._known_arena is arena else [arena.descriptor]
        self._known_arena = arena
        return b"".join((_HEAD.pack(arena.key, len(blocks), outside), *places, data)), descriptors

    def _send(self, message, flags=0):
        # Not socket.send_fds and recv_fds: some versions of Python leave the flags out.
        data, descriptors = message
        along = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        try:
            self._writing.sendmsg([data], along, flags)
        except (BrokenPipeError, ConnectionResetError):
            pass  # nobody reads any more

    def _start_sender(self):
        self._sender = threading.Thread(target=self._send_late, name="stoker-queue", daemon=True)
        self._sender.start()
        # As with the queues of multiprocessing: what was put arrives, even if the process ends now.
        if self._waits_at_exit:
            self._flush = util.Finalize(None, self._sender.join, exitpriority=-5)

    def _send_late(self):
        while True:
            with self._put_lock:
                if not self._late:
                    self._sender = None
                    self._cancel_flush()
                    return
                message = self._late[0]
            if self._is_sent(message):
                with self._put_lock:
                    self._late.popleft()
            elif self._is_orphan():
                with self._put_lock:
                    self._late.clear()

    def _is_sent(self, message):
        """Whether the socket took it, after a while at the latest."""
        if not _ready([self._writing.fileno()], _LOOKS, select.POLLOUT):
            return False
        try:
            self._send(message, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        return True

    def _is_orphan(self):
        """Whether nobody is left who would read. This process has the other end too, so that the end of its parent is no error of the
        socket; others that were forked may keep what `is_alive` looks at open."""
        parent = multiprocessing.parent_process()
        return parent is not None and (not parent.is_alive() or os.getppid() != self._parent)

    def cancel_join_thread(self):
        """From now on the process may exit although messages of its own are not yet sent."""
        self._own()
        with self._put_lock:
            self._waits_at_exit = False
            self._cancel_flush()

    def _cancel_flush(self):
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None

    # --- Reading.

    def watch(self, sentinels):
        """Descriptors that become readable when a process ends: then a `get` that waits raises queue.Empty, once for each."""
        self._own()
        self._watched = dict.fromkeys(sentinels)

    def get(self, block=True, timeout=None):
        self._own()
        with self._get_lock:
            received = self._receive() or self._wait(timeout if block else 0)
            return self._value(*received)

    def get_nowait(self):
        return self.get(block=False)

    def empty(self):
        return not _ready([self._reading.fileno()], 0)

    def _wait(self, timeout):
        ready = _ready([self._reading.fileno(), *self._watched], timeout)
        received = self._receive()
        if received is None:
            for each in ready:
                self._watched.pop(each, None)
            raise queue.Empty
        return received

    def _receive(self):
        try:
            data, along, flags, _ = self._reading.recvmsg(_LONGEST, _ROOM_FOR_DESCRIPTOR, socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return None
        if flags & socket.MSG_CTRUNC:
            raise OSError(errno.EMFILE, "the memory of a worker cannot be opened, for this process has as many files open as it may: close "
                          "some, or allow more (ulimit -n)")
        return data, array.array("i", along[0][2]) if along else ()

    def _value(self, data, descriptors):
        key, count, outside = _HEAD.unpack_from(data)
        if descriptors:
            self._readers[key] = Reader(descriptors[0])
        if count and key not in self._readers:
            raise RuntimeError(
                f"the memory that this message lies in is known to another process only, which has read from this queue before process "
                f"{os.getpid()}: an ArrayQueue has one reader. Make a queue for each process that reads, or take "
                "multiprocessing.Queue() here"
            )
        start = _HEAD.size + count * _BLOCK.size
        places = _BLOCK.iter_unpack(data[_HEAD.size:start])
        exporters = [self._readers[key].open(*place) for place in places]
        pickled = exporters.pop() if outside else memoryview(data)[start:]
        return array_pickle.loads(pickled, exporters)

    # --- Ends and copies.

    def close(self):
        self._reading.close()
        self._writing.close()

    def join_thread(self):
        sender = self._sender
        if sender is not None:
            sender.join()

    def __del__(self):
        self.close()

    def __getstate__(self):
        context.assert_spawning(self)
        return reduction.DupFd(self._reading.fileno()), reduction.DupFd(self._writing.fileno())

    def __setstate__(self, state):
        self._reading, self._writing = (socket.socket(fileno=each.detach()) for each in state)
        self._wait_without_limit()
        self._begin()


def _ready(descriptors, timeout, event=select.POLLIN):
    """Those that can be read, or written, without waiting, after `timeout` seconds at the latest; None: however long it takes."""
    poll = select.poll()
    for each in descriptors:
        poll.register(each, event)
    ready = poll.poll(None if timeout is None else max(0, timeout) * 1000)
    return [descriptor for descriptor, _ in ready]
