#include "stoker/io/unfinished_file.h"

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <utility>

namespace stoker {

struct UnfinishedFile::Path {
  const std::string text;
  const pid_t process;  // a child of fork() has no part in it
};

namespace {

// A path is taken out of its place by one atomic exchange: by its owner, which then frees it, or by
// the signal handler, which unlinks the file and ends the process.
template <typename Path>
std::array<std::atomic<Path*>, 64>& Places() {
  static_assert(std::atomic<Path*>::is_always_lock_free, "used in signal handlers");
  static constinit std::array<std::atomic<Path*>, 64> places{};
  return places;
}

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& path) : path_(nullptr) {
  auto kept = std::make_unique<Path>(Path{path, ::getpid()});
  for (std::atomic<Path*>& place : Places<Path>()) {
    Path* none = nullptr;
    if (!place.compare_exchange_strong(none, kept.get())) continue;
    path_ = kept.release();
    return;
  }
}

UnfinishedFile::UnfinishedFile(UnfinishedFile&& other) noexcept
    : path_(std::exchange(other.path_, nullptr)) {}

UnfinishedFile::~UnfinishedFile() {
  if (path_ == nullptr) return;
  for (std::atomic<Path*>& place : Places<Path>()) {
    Path* mine = path_;
    if (place.compare_exchange_strong(mine, nullptr)) {
      delete path_;
      return;
    }
  }
}

void UnfinishedFile::RemoveAll() {
  for (std::atomic<Path*>& place : Places<Path>()) {
    const Path* const path = place.exchange(nullptr);
    if (path != nullptr && path->process == ::getpid()) ::unlink(path->text.c_str());
  }
}

void RemoveUnfinishedFiles() { UnfinishedFile::RemoveAll(); }

}  // namespace stoker
