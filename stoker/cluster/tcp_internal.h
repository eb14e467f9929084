// TCP sockets of the ranks' meeting place and of their monitor.
#pragma once

#include <netdb.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace stoker {

// A descriptor of a socket, which it closes.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(other.Release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  bool valid() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

// Looks `host` up; `error` is one of getaddrinfo's, 0 for success.
AddressList FindAddresses(const std::string& host, int64_t port, int& error);

// Listens on the first of `addresses` that can be listened on. Returns 0 or an errno. Port 0: the
// system chooses one.
int ListenOn(const AddressList& addresses, Socket& socket);

// Connects. Returns 0 or an errno: ETIMEDOUT after `longest`, ECANCELED if the thread was asked to
// stop (StopScope). The socket then does not block.
int ConnectTo(const addrinfo& address, std::chrono::milliseconds longest, Socket& socket);

// The numeric address of this side of a socket, and its port; empty and 0 if there is none.
struct SocketPlace {
  std::string address;
  int64_t port = 0;
};
SocketPlace OwnPlace(const Socket& socket);

}  // namespace stoker
