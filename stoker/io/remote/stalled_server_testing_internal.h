// A server that stops answering, for tests of waits. Only tests include it.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker {

// A file of two million bytes whose server answers one request and no more until it is released.
class StalledServer {
 public:
  StalledServer()
      : content_(NumberedBytes(2'000'000)),
        server_([this](const LoopbackRequest& request, int number) {
          while (number > 0 && !released_)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          return ServeContent(request, content_);
        }) {}
  ~StalledServer() { Release(); }

  std::string url(const std::string& name) const { return server_.url(name); }
  void Release() { released_ = true; }

 private:
  const std::string content_;
  std::atomic<bool> released_ = false;
  const LoopbackServer server_;
};

}  // namespace stoker
