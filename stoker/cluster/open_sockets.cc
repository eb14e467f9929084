#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>

#include "stoker/cluster/open_sockets_internal.h"

namespace stoker {
namespace {

std::optional<ino_t> NumberOfSocket(int descriptor) {
  struct stat found = {};
  if (::fstat(descriptor, &found) != 0 || !S_ISSOCK(found.st_mode)) return std::nullopt;
  return found.st_ino;
}

bool IsConnectedOverTcp(int descriptor) {
  sockaddr_storage peer = {};
  socklen_t length = sizeof peer;
  return ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
         (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

}  // namespace

Result<SocketList> OpenSockets() {
  static constexpr const char* kDescriptors = "/proc/self/fd";
  SocketList sockets;
  std::error_code error;
  for (std::filesystem::directory_iterator each(kDescriptors, error), end; !error && each != end;
       each.increment(error)) {
    const int descriptor = std::stoi(each->path().filename().string());
    if (const auto number = NumberOfSocket(descriptor)) sockets[descriptor] = *number;
  }
  if (error)
    return ErrnoStatus(error.value(), fmt::format("{}: finding the sockets", kDescriptors));
  return sockets;
}

Result<SocketList> OpenedSince(const SocketList& before) {
  STOKER_ASSIGN_OR_RETURN(SocketList opened, OpenSockets());
  std::erase_if(opened, [&](const auto& socket) {
    const auto known = before.find(socket.first);
    return (known != before.end() && known->second == socket.second) ||
           !IsConnectedOverTcp(socket.first);
  });
  return opened;
}

void ShutDown(const SocketList& sockets) {
  for (const auto& [descriptor, number] : sockets) {
    if (NumberOfSocket(descriptor) == number) ::shutdown(descriptor, SHUT_RDWR);
  }
}

}  // namespace stoker
