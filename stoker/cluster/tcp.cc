#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "stoker/base/stop_scope.h"
#include "stoker/cluster/tcp_internal.h"

namespace stoker {

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this == &other) return *this;
  if (valid()) ::close(descriptor_);
  descriptor_ = other.Release();
  return *this;
}

Socket::~Socket() {
  if (valid()) ::close(descriptor_);
}

AddressList FindAddresses(const std::string& host, int64_t port, int& error) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  return {error == 0 ? found : nullptr, &::freeaddrinfo};
}

int ListenOn(const AddressList& addresses, Socket& socket) {
  int error = EADDRNOTAVAIL;
  for (const addrinfo* each = addresses.get(); each != nullptr; each = each->ai_next) {
    Socket one(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    if (one.valid() && ::setsockopt(one.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(one.get(), each->ai_addr, each->ai_addrlen) == 0 &&
        ::listen(one.get(), SOMAXCONN) == 0) {
      socket = std::move(one);
      return 0;
    }
    error = errno;
    if (error == EADDRINUSE) break;
  }
  return error;
}

int ConnectTo(const addrinfo& address, std::chrono::milliseconds longest, Socket& socket) {
  using std::chrono::steady_clock;
  Socket one(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!one.valid()) return errno;
  if (::connect(one.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return errno;
    const auto until = steady_clock::now() + longest;
    pollfd writable = {.fd = one.get(), .events = POLLOUT, .revents = 0};
    while (::poll(&writable, 1, static_cast<int>(StopScope::Interval().count())) <= 0) {
      if (StopScope::Asked()) return ECANCELED;
      if (steady_clock::now() >= until) return ETIMEDOUT;
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(one.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error;
  }
  socket = std::move(one);
  return 0;
}

SocketPlace OwnPlace(const Socket& socket) {
  sockaddr_storage own = {};
  socklen_t length = sizeof own;
  char host[NI_MAXHOST] = {}, port[NI_MAXSERV] = {};
  auto* const address = reinterpret_cast<sockaddr*>(&own);
  if (::getsockname(socket.get(), address, &length) != 0 ||
      ::getnameinfo(address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  return {.address = host, .port = std::strtoll(port, nullptr, 10)};
}

}  // namespace stoker
