// Ownership of an open file descriptor.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace stoker {

// Closes its descriptor when destroyed and ignores errors of that: fsync first what must reach the
// disk.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  // Returns it, and closes it no more.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// open(2), once more where a signal interrupted it, as happens on network file systems. Returns an
// invalid descriptor with errno if it fails. What may be waited for longer has RetryPassingTrouble
// (local_retry.h).
inline Descriptor OpenUninterrupted(const char* path, int flags, mode_t mode = 0666) {
  while (true) {
    Descriptor file(::open(path, flags, mode));
    if (file.valid() || errno != EINTR) return file;
  }
}

}  // namespace stoker
