// A client for tests of the server: raw bytes over a socket, so that it can misbehave.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "stoker/base/clock.h"
#include "stoker/io/descriptor.h"

namespace stoker {

class RawClient {
 public:
  explicit RawClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ =
        ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  bool connected() const { return connected_; }
  int descriptor() const { return socket_.get(); }

  // Returns false if the server has closed the connection.
  bool Send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // Returns what comes until the connection ends, `wanted` is in it, or for so long.
  std::string Receive(std::string_view wanted = {}, double seconds = 60) {
    const Stopwatch watch;
    while (wanted.empty() || received_.find(wanted) == std::string::npos) {
      const double left = seconds - watch.ElapsedSeconds();
      pollfd waiting = {socket_.get(), POLLIN, 0};
      if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(1 + left * 1e3)) <= 0) break;
      char bytes[4096];
      const ssize_t got = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      if (got <= 0) {
        ended_ = true;
        break;
      }
      received_.append(bytes, static_cast<size_t>(got));
    }
    return received_;
  }

  // Whether the server has ended the connection, which Receive has noticed.
  bool ended() const { return ended_; }
  void Forget() { received_.clear(); }

 private:
  Descriptor socket_;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

}  // namespace stoker
