#include "stoker/io/mapped_ranges.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "stoker/base/mutex.h"

namespace stoker {

struct MappedSlot {
  std::atomic<uintptr_t> start{0};  // 0: free
  std::atomic<size_t> size{0};
  std::atomic<const char*> path{nullptr};
};

namespace {

constexpr size_t kSlotsOfABlock = 256;

// Blocks are added and never taken away, so a signal handler can walk them at any time.
struct Block {
  std::array<MappedSlot, kSlotsOfABlock> slots;
  std::atomic<Block*> next{nullptr};
};

static_assert(std::atomic<uintptr_t>::is_always_lock_free &&
                  std::atomic<const char*>::is_always_lock_free &&
                  std::atomic<Block*>::is_always_lock_free,
              "used in signal handlers");

constinit Block first_block;
constinit Mutex adding;  // held while a slot is taken or freed

MappedSlot& FreeSlot() {
  for (Block* block = &first_block;; block = block->next.load(std::memory_order_relaxed)) {
    for (MappedSlot& slot : block->slots) {
      if (slot.path.load(std::memory_order_relaxed) == nullptr) return slot;
    }
    if (block->next.load(std::memory_order_relaxed) == nullptr) {
      block->next.store(new Block, std::memory_order_release);
    }
  }
}

}  // namespace

MappedRange::MappedRange(const void* start, size_t size, const std::string& path) {
  auto name = std::make_unique<char[]>(path.size() + 1);
  path.copy(name.get(), path.size());
  const MutexLock lock(adding);
  slot_ = &FreeSlot();
  slot_->path.store(name.release(), std::memory_order_relaxed);
  slot_->size.store(size, std::memory_order_relaxed);
  slot_->start.store(reinterpret_cast<uintptr_t>(start), std::memory_order_release);
}

MappedRange::~MappedRange() {
  const MutexLock lock(adding);
  slot_->start.store(0, std::memory_order_relaxed);
  delete[] slot_->path.exchange(nullptr, std::memory_order_relaxed);
}

MappedByte FindMappedByte(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  for (const Block* block = &first_block; block != nullptr;
       block = block->next.load(std::memory_order_acquire)) {
    for (const MappedSlot& slot : block->slots) {
      const uintptr_t start = slot.start.load(std::memory_order_acquire);
      const size_t size = slot.size.load(std::memory_order_relaxed);
      if (start == 0 || wanted < start || wanted - start >= size) continue;
      return {slot.path.load(std::memory_order_relaxed), wanted - start, size};
    }
  }
  return {};
}

}  // namespace stoker
