// Makes the process unable to open more files. Only tests include it.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace stoker {

// While one lives, opening more than `spare` files fails with EMFILE; Lift ends that earlier. Open
// files stay open. Lift may be called from another thread.
class NoMoreFiles {
 public:
  explicit NoMoreFiles(int spare = 0) {
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (next < 0 || ::getrlimit(RLIMIT_NOFILE, &before_) != 0) std::abort();
    ::close(next);
    const rlimit none{static_cast<rlim_t>(next + spare), before_.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &none) != 0) std::abort();
  }
  ~NoMoreFiles() { Lift(); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

  void Lift() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace stoker
