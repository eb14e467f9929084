// For tests: a server that from some moment on makes its readers wait.
#pragma once

#include <atomic>
#include <ostream>
#include <string>

#include "stoker/data/testing/testing.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker::stop_waits_test {

// How the server treats a reader from the moment on at which it is switched.
struct Wait {
  const char* name;
  LoopbackAnswer (*answer)();
};

inline void PrintTo(const Wait& wait, std::ostream* out) { *out << wait.name; }

inline const Wait kWaits[] = {
    {"ForTheAnswer", [] { return LoopbackAnswer{.silent = true}; }},
    {"ForTheBody",
     [] {
       return LoopbackAnswer{.status = 206,
                             .headers = {"ETag: \"v1\"", "Content-Range: bytes 0-1999999/2000000",
                                         "Content-Length: 2000000"},
                             .body = ""};
     }},
    {"ForEachByte",
     [] {
       return LoopbackAnswer{.status = 206,
                             .headers = {"ETag: \"v1\"", "Content-Range: bytes 0-1999999/2000000"},
                             .body = std::string(2'000'000, 'x'),
                             .drips = true};
     }},
    {"ForTheNextTry",
     [] { return LoopbackAnswer{.status = 503, .headers = {"Retry-After: 120"}}; }},
};

class StallingServer {
 public:
  explicit StallingServer(const Wait& wait)
      : stalling_(wait.answer()), server_([this](const LoopbackRequest& request, int) {
          if (!stalls_) return ServeContent(request, content_);
          ++stalled_;
          return stalling_;
        }) {}
  std::string root() const { return server_.root(); }
  void Stall() { stalls_ = true; }
  bool HasStalled() const { return stalled_ > 0; }
  int stalled() const { return stalled_; }

 private:
  const LoopbackAnswer stalling_;
  const std::string content_ = NumberedBytes(2'000'000);
  std::atomic<bool> stalls_{false};
  std::atomic<int> stalled_{0};
  const LoopbackServer server_;
};

}  // namespace stoker::stop_waits_test
