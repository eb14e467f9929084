#include "stoker/data/sources/chunk_cache_internal.h"

#include <atomic>
#include <thread>

#include "stoker/base/testing.h"

namespace stoker {
namespace {

// Chunks of 100 bytes, each made anew whenever it is read; those from 8 on are damaged.
class Counted final : public ChunkedArray {
 public:
  Counted() : ChunkedArray({.name = "x", .shape = {1000}, .chunk_shape = {100}}) {}
  Result<StoredChunk> ReadChunk(int64_t number) const override {
    ++reads;
    if (number >= 8) return DataLoss("chunk {} is damaged", number);
    StoredChunk chunk{.owner = Buffer::Allocate(100), .shape = {100}};
    chunk.data = chunk.owner.data();
    return chunk;
  }
  Result<std::vector<int64_t>> WrittenChunks() const override { return std::vector<int64_t>(); }

  mutable std::atomic<int> reads = 0;
};

TEST(ChunkCache, KeepsThoseUsedLastAsFarAsThereIsRoom) {
  const Counted array;
  ChunkCache cache(250);  // two
  for (const int64_t number : {0, 1, 0, 2, 0}) STOKER_ASSERT_OK(cache.Get(array, number));
  EXPECT_EQ(array.reads, 3) << "0 was used between the others, so it stayed";
  STOKER_ASSERT_OK(cache.Get(array, 1));
  EXPECT_EQ(array.reads, 4);
}

TEST(ChunkCache, KeepsTheOneUsedLastWhereThereIsNoRoomAtAll) {
  const Counted array;
  ChunkCache cache(0);
  for (const int64_t number : {0, 0, 1, 1, 0}) STOKER_ASSERT_OK(cache.Get(array, number));
  EXPECT_EQ(array.reads, 3);
}

TEST(ChunkCache, DoesNotKeepErrors) {
  const Counted array;
  ChunkCache cache(1000);
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(cache.Get(array, 9), FailsWith(StatusCode::kDataLoss, "chunk 9 is damaged"));
  EXPECT_EQ(array.reads, 2);
}

TEST(ChunkCache, ReadsAChunkOnceForAllThreadsThatWantIt) {
  const Counted array;
  ChunkCache cache(10000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int64_t number = 0; number < 8; ++number) EXPECT_TRUE(cache.Get(array, number).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(array.reads, 8);
}

}  // namespace
}  // namespace stoker
