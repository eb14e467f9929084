#include "stoker/base/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "stoker/base/control_group.h"
#include "stoker/base/mutex.h"

namespace stoker {
namespace {

size_t RoundUpToAlignment(size_t size) {
  return std::max(kBufferAlignment,
                  (size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment);
}

// From 32 MiB on (its largest mmap threshold) malloc takes every block fresh from the system, and
// each first touch of a page is a fault; pages of 2 MiB make that 512 times fewer (buffer_bench.cc:
// 8 times faster). Below, malloc mostly hands warm blocks back, and giving the advice each time
// costs more than it saves.
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kHugePagesFrom = size_t{32} << 20;

std::byte* AllocateAligned(size_t capacity) {
  const bool huge = capacity >= kHugePagesFrom;
  void* memory = nullptr;
  if (posix_memalign(&memory, huge ? kHugePage : kBufferAlignment, capacity) != 0) {
    throw std::bad_alloc();
  }
  // Only advice: where the kernel has no huge pages, or none to spare, small ones serve as well.
  if (huge) ::madvise(memory, capacity, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

// Blocks of this size and more that count against a budget are mapped one by one: malloc keeps what
// is freed, an arena for each thread, so that several times the budget stayed resident
// (budget_test.cc). The mapping costs little, since pools hand such blocks on.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kMappedFrom = SIZE_MAX;  // it watches only the edges of what malloc gives
#else
constexpr size_t kMappedFrom = size_t{512} << 10;
#endif

std::byte* Map(size_t capacity) {
  void* memory =
      ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (capacity >= kHugePagesFrom) ::madvise(memory, capacity, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

// Returns `capacity`. Throws std::bad_alloc if it is beyond the memory of the machine or its
// container: the system would give the block, since it promises memory before it is used, and kill
// the process as the block is filled.
size_t CheckedCapacity(size_t capacity) {
  if (capacity < kHugePagesFrom) return capacity;
  static const int64_t memory =
      std::min(MachineMemoryBytes(),
               ReadControlGroupLimits().memory_bytes.value_or(std::numeric_limits<int64_t>::max()));
  if (capacity > static_cast<size_t>(memory)) throw std::bad_alloc();
  return capacity;
}

class Shelf;

// Owns aligned memory and its charge.
class Block {
 public:
  Block(size_t capacity, std::shared_ptr<MemoryAccount> account)
      : mapped_(CheckedCapacity(capacity) >= kMappedFrom && account != nullptr),
        data_(mapped_ ? Map(capacity) : AllocateAligned(capacity)),
        capacity_(capacity),
        account_(std::move(account)) {
    if (account_) account_->Charge(static_cast<int64_t>(capacity_));
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (mapped_) {
      ::munmap(data_, capacity_);
    } else {
      std::free(data_);
    }
    if (account_) account_->Release(static_cast<int64_t>(capacity_));
  }

  std::byte* data() const { return data_; }
  size_t capacity() const { return capacity_; }

  // From here until ComeHome, the shelf that the block goes back to, which `keeper` keeps alive.
  void Leave(std::shared_ptr<void> keeper, Shelf& home) {
    keeper_ = std::move(keeper);
    home_ = &home;
  }
  static void ComeHome(Block* block);

  // Room for the counters of the Buffers that share the block while it is out.
  static constexpr size_t kCounterBytes = 64;
  void* counters() { return counters_.data(); }

 private:
  const bool mapped_;
  std::byte* const data_;
  const size_t capacity_;
  const std::shared_ptr<MemoryAccount> account_;
  std::shared_ptr<void> keeper_;
  Shelf* home_ = nullptr;
  alignas(std::max_align_t) std::array<std::byte, kCounterBytes> counters_;
};

}  // namespace

Buffer Buffer::Allocate(size_t size, std::shared_ptr<MemoryAccount> account) {
  const Kind kind = account ? Kind::kCharged : Kind::kUncharged;
  auto block = std::make_shared<Block>(RoundUpToAlignment(size), std::move(account));
  std::byte* const data = block->data();
  return {data, size, std::move(block), kind};
}

Buffer Buffer::Wrap(std::byte* data, size_t size, std::function<void()> release) {
  std::shared_ptr<void> owner(data, [release = std::move(release)](void*) {
    if (release) release();
  });
  return {data, size, std::move(owner), Kind::kWrapped};
}

bool Buffer::exclusive() const {
  if (kind_ == Kind::kWrapped || owner_.use_count() != 1) return false;
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer does not know fences; the counter's own increment says the same to it.
  (void)std::shared_ptr<void>(owner_);
#else
  // use_count() is a relaxed load. It saw what the last other copy's release stored, so a fence is
  // enough to order that copy's reads before the writes of our caller.
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return true;
}

namespace {

// Where sizes differ from one to the next, as those of files do, a block that is larger by this
// part serves too: one of each size would otherwise stay idle.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kSlack = 0;  // it watches only the edges of blocks
#else
constexpr double kSlack = 0.25;
#endif

// Blocks that are idle, of sizes that were used last.
class Shelf {
 public:
  void Limit(int64_t max_idle_bytes) {
    const MutexLock lock(mutex_);
    max_idle_bytes_ = max_idle_bytes;
  }

  // The smallest of this capacity or little more; null if there is none.
  std::unique_ptr<Block> Take(size_t capacity) {
    const size_t most = capacity + static_cast<size_t>(static_cast<double>(capacity) * kSlack);
    const MutexLock lock(mutex_);
    auto found = idle_.lower_bound(capacity);
    while (found != idle_.end() && found->second.blocks.empty()) ++found;
    if (found == idle_.end() || found->first > most) return nullptr;
    found->second.last_use = ++uses_;
    return PopFrom(found);
  }

  void PutBack(std::unique_ptr<Block> block) {
    std::vector<std::unique_ptr<Block>> freed;  // destroyed after the lock is gone
    const MutexLock lock(mutex_);
    const size_t capacity = block->capacity();
    MakeRoomFor(capacity, freed);
    if (idle_bytes_ + static_cast<int64_t>(capacity) > max_idle_bytes_) {
      freed.push_back(std::move(block));
      return;
    }
    Size& size = idle_[capacity];
    size.last_use = ++uses_;
    size.blocks.push_back(std::move(block));
    idle_bytes_ += static_cast<int64_t>(capacity);
  }

  // Frees what is idle; with `for_good`, nothing is kept from now on.
  void Empty(bool for_good) {
    Sizes freed;  // destroyed after the lock is gone
    const MutexLock lock(mutex_);
    freed.swap(idle_);
    idle_bytes_ = 0;
    if (for_good) max_idle_bytes_ = -1;
  }

 private:
  struct Size {
    std::vector<std::unique_ptr<Block>> blocks;
    uint64_t last_use = 0;
  };
  using Sizes = std::map<size_t, Size>;

  // Where there are few, a size stays when its last block goes, since it mostly comes back at once.
  static constexpr size_t kFewSizes = 16;
  // Where there are many, those used last are likely to be asked for again, and finding one is
  // quick.
  static constexpr size_t kManySizes = 64;
  std::unique_ptr<Block> PopFrom(Sizes::iterator found) STOKER_REQUIRES(mutex_) {
    if (found->second.blocks.empty()) return nullptr;
    std::unique_ptr<Block> block = std::move(found->second.blocks.back());
    found->second.blocks.pop_back();
    if (found->second.blocks.empty() && idle_.size() > kFewSizes) idle_.erase(found);
    idle_bytes_ -= static_cast<int64_t>(block->capacity());
    return block;
  }

  // Otherwise a stage whose blocks change in size would keep the old ones for ever, and take each
  // new one from the system.
  void MakeRoomFor(size_t capacity, std::vector<std::unique_ptr<Block>>& freed)
      STOKER_REQUIRES(mutex_) {
    const auto full = [&]() STOKER_REQUIRES(mutex_) {
      return idle_bytes_ + static_cast<int64_t>(capacity) > max_idle_bytes_ ||
             idle_.size() > kManySizes;
    };
    while (full()) {
      const auto stalest = std::ranges::min_element(
          idle_, {}, [](const auto& size) { return size.second.last_use; });
      if (stalest == idle_.end() || stalest->first == capacity) return;
      if (auto block = PopFrom(stalest)) {
        freed.push_back(std::move(block));
      } else {
        idle_.erase(stalest);
      }
    }
  }

  Mutex mutex_;
  int64_t max_idle_bytes_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t idle_bytes_ STOKER_GUARDED_BY(mutex_) = 0;
  uint64_t uses_ STOKER_GUARDED_BY(mutex_) = 0;
  Sizes idle_ STOKER_GUARDED_BY(mutex_);  // by capacity
};

void Block::ComeHome(Block* block) {
  const std::shared_ptr<void> keeper = std::move(block->keeper_);
  block->home_->PutBack(std::unique_ptr<Block>(block));
}

// Puts the counters of the Buffers that share a block into the block, which goes home once they
// are no longer used: were they allocated, every array would be an allocation by the thread that
// makes it and a release by the one that uses it up, and both meet at a lock of malloc's.
template <typename T>
struct InTheBlock {
  using value_type = T;

  explicit InTheBlock(Block* of) : block(of) {}
  template <typename U>
  explicit InTheBlock(const InTheBlock<U>& other) : block(other.block) {}

  T* allocate(size_t) {
    static_assert(sizeof(T) <= Block::kCounterBytes && alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(block->counters());
  }
  void deallocate(T*, size_t) { Block::ComeHome(block); }

  template <typename U>
  bool operator==(const InTheBlock<U>& other) const {
    return block == other.block;
  }

  Block* block;
};

// Threads that make an array for each small record would meet at the lock of one shelf.
constexpr size_t kSmallBlock = size_t{16} << 10;
constexpr size_t kSmallShelves = 8;
constexpr int64_t kShareOfSmall = 4;  // of what may be idle

size_t NumberOfThisThread() {
  static std::atomic<size_t> threads = 0;
  thread_local const size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

// Shared with the blocks that are out: the last of them may come home after the pool has gone.
struct BufferPool::Shelves {
  Shelves(std::shared_ptr<MemoryAccount> of_account, int64_t max_idle_bytes)
      : account(std::move(of_account)) {
    const int64_t for_small = max_idle_bytes / kShareOfSmall;
    large.Limit(max_idle_bytes - for_small);
    for (auto& padded : small) padded.shelf.Limit(for_small / int64_t{kSmallShelves});
  }

  // Where blocks come from that this thread gets, and go back to.
  Shelf& ShelfFor(size_t capacity) {
    return capacity > kSmallBlock ? large : small[NumberOfThisThread() % kSmallShelves].shelf;
  }

  void Empty(bool for_good) {
    large.Empty(for_good);
    for (auto& padded : small) padded.shelf.Empty(for_good);
  }

  struct alignas(64) OnItsOwnCacheLines {
    Shelf shelf;
  };

  const std::shared_ptr<MemoryAccount> account;
  Shelf large;
  std::array<OnItsOwnCacheLines, kSmallShelves> small;
};

BufferPool::BufferPool(std::shared_ptr<MemoryAccount> account, int64_t max_idle_bytes)
    : shelves_(std::make_shared<Shelves>(std::move(account), max_idle_bytes)) {}

BufferPool::~BufferPool() { shelves_->Empty(/*for_good=*/true); }

Buffer BufferPool::Get(size_t size) {
  const size_t capacity = RoundUpToAlignment(size);
  Shelf& home = shelves_->ShelfFor(capacity);
  std::unique_ptr<Block> block = home.Take(capacity);
  if (!block) block = std::make_unique<Block>(capacity, shelves_->account);
  std::byte* const data = block->data();
  block->Leave(shelves_, home);
  Block* const out = block.release();
  std::shared_ptr<void> owner(
      out, [](Block*) {}, InTheBlock<Block>(out));
  return {data, size, std::move(owner),
          shelves_->account ? Buffer::Kind::kCharged : Buffer::Kind::kUncharged};
}

void BufferPool::Trim() { shelves_->Empty(/*for_good=*/false); }

}  // namespace stoker
