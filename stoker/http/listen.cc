#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>

#include "stoker/http/listen_internal.h"

namespace stoker {
namespace {

std::string TextOf(const HttpAddress& address) {
  return address.host.find(':') == std::string::npos
             ? fmt::format("{}:{}", address.host, address.port)
             : fmt::format("[{}]:{}", address.host, address.port);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<AddressList> Resolve(const HttpAddress& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) {
    return NotFound("{}: no address is known for '{}' ({}); give an IP address of this machine",
                    TextOf(address), address.host, ::gai_strerror(error));
  }
  return AddressList(found, &::freeaddrinfo);
}

std::string NumericHost(const sockaddr* address, socklen_t length) {
  char host[NI_MAXHOST] = {};
  if (::getnameinfo(address, length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return host;
}

Status CannotListen(const HttpAddress& address, int error) {
  const std::string where = TextOf(address);
  switch (error) {
    case EADDRINUSE:
      return Unavailable("{}: another program listens there; give another port, or 0 for any",
                         where);
    case EACCES:
      return PermissionDenied("{}: only root may listen there; give a port from 1024 on", where);
    case EADDRNOTAVAIL:
      return NotFound("{}: this machine has no such address; `ip address` lists those it has",
                      where);
    default: return ErrnoStatus(error, where);
  }
}

Result<ListeningSocket> Open(const HttpAddress& wanted, const addrinfo& found) {
  ListeningSocket socket;
  socket.six = found.ai_family == AF_INET6;
  socket.address = NumericHost(found.ai_addr, found.ai_addrlen);
  socket.descriptor =
      Descriptor(::socket(found.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.descriptor.valid()) return CannotListen(wanted, errno);
  const int descriptor = socket.descriptor.get(), yes = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(descriptor, found.ai_addr, found.ai_addrlen) != 0 ||
      ::listen(descriptor, SOMAXCONN) != 0) {
    return CannotListen(wanted, errno);
  }
  sockaddr_storage bound = {};
  socklen_t length = sizeof bound;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &length) != 0)
    return CannotListen(wanted, errno);
  socket.port = ntohs(socket.six ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                 : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  return socket;
}

}  // namespace

Result<ListeningSocket> ListenOn(const HttpAddress& address, bool with_token) {
  STOKER_ASSIGN_OR_RETURN(const AddressList list, Resolve(address));
  for (const addrinfo* each = list.get(); each != nullptr && !with_token; each = each->ai_next) {
    if (IsLoopback(NumericHost(each->ai_addr, each->ai_addrlen))) continue;
    return InvalidArgument(
        "{}: others can reach this address, so it needs a token that they must show (--token-file "
        "FILE, or STOKER_HTTP_TOKEN in the environment); 127.0.0.1:{} needs none",
        TextOf(address), address.port);
  }
  Status failed = NotFound("{}: no address is known for it", TextOf(address));
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    Result<ListeningSocket> socket = Open(address, *each);
    if (socket.ok()) return socket;
    failed = socket.status();
  }
  return failed;
}

}  // namespace stoker
