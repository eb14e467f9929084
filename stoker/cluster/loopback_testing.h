// Where ranks on this machine meet, for tests and benchmarks. Only these include it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "stoker/cluster/membership.h"

namespace stoker {

// A socket that listens on the loopback, which rank 0 takes over, and its port; 0: the system
// refuses one.
struct LoopbackListener {
  int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int64_t port = 0;

  LoopbackListener() {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    const bool listens =
        ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
        ::listen(descriptor, SOMAXCONN) == 0 &&
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0;
    if (listens) port = ntohs(address.sin_port);
  }
};

inline Membership MemberOf(const LoopbackListener& listener, int64_t rank, int64_t world) {
  Membership member;
  member.rank = member.local_rank = rank;
  member.world = member.local_world = world;
  member.host = "127.0.0.1";
  member.port = listener.port;
  if (rank == 0) member.listener = listener.descriptor;
  return member;
}

}  // namespace stoker
