#include "stoker/data/sources/chunk_cache_internal.h"

#include <atomic>
#include <thread>

#include "stoker/base/stop_scope.h"
#include "stoker/base/testing.h"

namespace stoker::chunk_cache_internal_test {

// Chunks of 100 bytes, each made anew whenever it is read; those from 8 on are damaged.
class Counted final : public ChunkedArray {
 public:
  Counted() : ChunkedArray({.name = "x", .shape = {1000}, .chunk_shape = {100}}) {}
  Result<StoredChunk> DoReadChunk(int64_t number,
                                  const std::shared_ptr<MemoryAccount>& account) const override {
    ++reads;
    if (number >= 8) return DataLoss("chunk {} is damaged", number);
    StoredChunk chunk{.owner = Buffer::Allocate(100, account), .shape = {100}};
    chunk.data = chunk.owner.data();
    return chunk;
  }
  Result<std::vector<int64_t>> WrittenChunks() const override { return std::vector<int64_t>(); }

  mutable std::atomic<int> reads = 0;
};

constexpr uint64_t kPlenty = 1 << 20;

Result<StoredChunk> Get(ChunkCache& cache, const ChunkedArray& array, int64_t number) {
  return ChunkCache::Use(cache, array).Get(number);
}

TEST(ChunkCache, KeepsThoseUsedLastAsFarAsThereIsRoom) {
  const Counted array;
  ChunkCache cache(250, kPlenty);  // two
  for (const int64_t number : {0, 1, 0, 2, 0}) STOKER_ASSERT_OK(Get(cache, array, number));
  EXPECT_EQ(array.reads, 3) << "0 was used between the others, so it stayed";
  STOKER_ASSERT_OK(Get(cache, array, 1));
  EXPECT_EQ(array.reads, 4);
}

TEST(ChunkCache, KeepsTheOneUsedLastWhereThereIsNoRoomAtAll) {
  const Counted array;
  ChunkCache cache(0, kPlenty);
  for (const int64_t number : {0, 0, 1, 1, 0}) STOKER_ASSERT_OK(Get(cache, array, number));
  EXPECT_EQ(array.reads, 3);
}

TEST(ChunkCache, DoesNotKeepErrors) {
  const Counted array;
  ChunkCache cache(1000, kPlenty);
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(Get(cache, array, 9), FailsWith(StatusCode::kDataLoss, "chunk 9 is damaged"));
  EXPECT_EQ(array.reads, 2);
}

TEST(ChunkCache, ReadsAChunkOnceForAllThreadsThatWantIt) {
  const Counted array;
  ChunkCache cache(10000, kPlenty);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int64_t number = 0; number < 8; ++number) EXPECT_TRUE(Get(cache, array, number).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(array.reads, 8);
}

TEST(ChunkCache, HoldsNoMoreThanItsLimitHoweverManyThreadsUseIt) {
  const Counted array;
  const auto account = Ledger::Create(kPlenty)->OpenAccount("chunks");
  ChunkCache cache(10000, /*limit=*/400, account);  // two chunks, and what reading them takes
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 200; ++i) {
        // Outlives the chunk, which counts as long as it is held.
        ChunkCache::Use use(cache, array);
        EXPECT_TRUE(use.Get((i * (t + 1)) % 8).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(array.reads, 8);
  EXPECT_LE(account->peak_bytes(), 4 * 128) << "blocks are a multiple of 64 bytes";
}

TEST(ChunkCache, LetsARowOfChunksThatIsLargerThanItsLimitThroughAlone) {
  const Counted array;
  ChunkCache cache(0, /*limit=*/1);
  std::atomic<bool> stop = false;
  ChunkCache::Use first(cache, array);
  STOKER_ASSERT_OK(first.Get(0));
  std::thread waiting([&] {
    const StopScope scope([&] { return stop.load(); });
    ChunkCache::Use second(cache, array);
    EXPECT_THAT(second.Get(1), FailsWith(StatusCode::kCancelled, "x: asked to stop"));
  });
  stop = true;
  waiting.join();
  STOKER_ASSERT_OK(first.Get(1)) << "its own chunk makes room";
}

}  // namespace stoker::chunk_cache_internal_test
