#include "stoker/base/buffer.h"

#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "stoker/base/control_group.h"
#include "stoker/base/testing.h"
#include "stoker/base/worker_group.h"

namespace stoker::buffer_test {

std::shared_ptr<MemoryAccount> NewAccount() {
  return Ledger::Create(int64_t{1} << 30)->OpenAccount("test");
}

TEST(Buffer, IsAlignedWritableAndChargedWhileACopyLives) {
  const auto account = NewAccount();
  for (const size_t size : {0, 1, 63, 64, 65, 4 << 20, (33 << 20) + 5}) {
    Buffer copy;
    {
      const Buffer buffer = Buffer::Allocate(size, account);
      ASSERT_NE(buffer.data(), nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % kBufferAlignment, 0u);
      EXPECT_EQ(buffer.size(), size);
      EXPECT_TRUE(buffer.exclusive());
      EXPECT_TRUE(buffer.charged());
      std::memset(buffer.data(), 7, size);
      copy = buffer;
      EXPECT_FALSE(buffer.exclusive());
    }
    EXPECT_GE(account->bytes(), static_cast<int64_t>(size));
    EXPECT_TRUE(copy.exclusive());
    copy = Buffer();
    EXPECT_EQ(account->bytes(), 0) << size;
  }
}

TEST(Buffer, OfMoreThanTheMachineHasIsRefused) {
  const auto account = NewAccount();
  const auto beyond = static_cast<size_t>(MachineMemoryBytes()) + (size_t{1} << 20);
  EXPECT_THROW(Buffer::Allocate(beyond), std::bad_alloc);
  EXPECT_THROW(Buffer::Allocate(beyond, account), std::bad_alloc);
}

TEST(Buffer, ADefaultOneHoldsNothing) {
  const Buffer buffer;
  EXPECT_FALSE(buffer);
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_TRUE(Buffer::Allocate(0));
}

TEST(Buffer, WrappedMemoryIsReleasedOnceWithTheLastCopy) {
  std::byte memory[8];
  int released = 0;
  {
    const Buffer buffer = Buffer::Wrap(memory, sizeof(memory), [&] { ++released; });
    const Buffer copy = buffer;
    EXPECT_EQ(copy.data(), memory);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Buffer, WrappedMemoryIsNeverExclusive) {
  std::byte memory[8];
  const Buffer only_copy = Buffer::Wrap(memory, sizeof(memory), nullptr);
  EXPECT_FALSE(only_copy.exclusive());
  EXPECT_FALSE(only_copy.charged());
}

// Under ThreadSanitizer: the other thread's last read must happen before our write.
TEST(Buffer, BecomesExclusiveOnlyAfterTheLastReadOfAnotherThread) {
  for (int round = 0; round < 100; ++round) {
    Buffer buffer = Buffer::Allocate(8);
    std::memset(buffer.data(), 1, 8);
    int read = 0;
    std::thread reader([&read, copy = buffer]() mutable {
      read = std::to_integer<int>(copy.data()[0]);
      copy = Buffer();
    });
    while (!buffer.exclusive()) std::this_thread::yield();
    buffer.data()[0] = std::byte{2};  // not memset: small ones escape the sanitizer
    reader.join();
    EXPECT_EQ(read, 1);
  }
}

TEST(BufferPool, HandsOutTheSameBlockAgainAndKeepsItCharged) {
  const auto account = NewAccount();
  BufferPool pool(account, /*max_idle_bytes=*/1 << 20);
  const std::byte* first = pool.Get(1000).data();
  EXPECT_EQ(account->bytes(), 1024);
  const Buffer again = pool.Get(1001);  // the same block: both are rounded up to 1024
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(again.size(), 1001u);
  EXPECT_EQ(account->bytes(), 1024);
  EXPECT_NE(pool.Get(1000).data(), first);
}

// As those of files, of which a pool once kept one each.
TEST(BufferPool, KeepsFewBlocksWhereAllSizesDiffer) {
  const auto account = NewAccount();
  BufferPool pool(account, /*max_idle_bytes=*/1 << 30);
  for (size_t i = 0; i < 5000; ++i) {
    const size_t size = 10'000 + i * 7919 % 50'000;
    const Buffer first = pool.Get(size), second = pool.Get(size / 2);
    EXPECT_EQ(first.size(), size);
  }
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer watches blocks of the exact sizes";
#endif
  EXPECT_LT(account->bytes(), 4 << 20);  // of 220 MB
}

TEST(BufferPool, KeepsNoMoreIdleThanAllowed) {
  const auto account = NewAccount();
  BufferPool pool(account, /*max_idle_bytes=*/4 << 20);
  {
    std::vector<Buffer> buffers;
    for (int i = 0; i < 5; ++i) buffers.push_back(pool.Get(1 << 20));
    for (int i = 0; i < 5000; ++i) buffers.push_back(pool.Get(1024));
    EXPECT_EQ(account->bytes(), 5 * (1 << 20) + 5000 * 1024);
  }
  EXPECT_GE(account->bytes(), 3 << 20);
  EXPECT_LE(account->bytes(), 4 << 20);
  pool.Trim();
  EXPECT_EQ(account->bytes(), 0);
}

TEST(BufferPool, FreesIdleBlocksOfSizesNoLongerUsedForThoseOfTheSizeInUse) {
  const auto account = NewAccount();
  BufferPool pool(account, /*max_idle_bytes=*/8 << 20);
  constexpr size_t kMiB = 1 << 20;
  for (const size_t mib : {1, 3, 5}) (void)pool.Get(mib * kMiB);
  EXPECT_EQ(account->bytes(), 5 << 20);  // the others have made room for it
  const std::byte* kept = pool.Get(5 * kMiB).data();
  (void)pool.Get(kMiB);
  EXPECT_EQ(account->bytes(), 6 << 20);
  EXPECT_EQ(pool.Get(5 * kMiB).data(), kept);
}

TEST(BufferPool, BlocksMayOutliveIt) {
  const auto account = NewAccount();
  Buffer survivor;
  {
    BufferPool pool(account, 1 << 20);
    survivor = pool.Get(64);
    (void)pool.Get(128);  // idle when the pool goes
  }
  std::memset(survivor.data(), 1, survivor.size());
  EXPECT_EQ(account->bytes(), 64);
  survivor = Buffer();
  EXPECT_EQ(account->bytes(), 0);
}

TEST(BufferPool, ServesManyThreadsAtOnceWithoutSharingABlock) {
  const auto account = NewAccount();
  {
    BufferPool pool(account, 1 << 20);
    WorkerGroup workers = *WorkerGroup::Start(4, "pool", [&](int worker) {
      for (int i = 0; i < 2000; ++i) {
        const Buffer buffer = pool.Get(256 << (i % 3));
        std::memset(buffer.data(), worker, buffer.size());
        for (size_t at = 0; at < buffer.size(); ++at) {
          ASSERT_EQ(std::to_integer<int>(buffer.data()[at]), worker);
        }
      }
    });
    workers.Join();
  }
  EXPECT_EQ(account->bytes(), 0);
}

}  // namespace stoker::buffer_test
