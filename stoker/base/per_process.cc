#include "stoker/base/per_process.h"

#include <pthread.h>

namespace stoker {
namespace {

std::atomic<uint64_t> generation{0};

}  // namespace

uint64_t ForkGeneration() {
  // In a process that never asked there is nothing that a child could find.
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1); });
  return generation.load(std::memory_order_acquire);
}

}  // namespace stoker
