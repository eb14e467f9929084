#include "stoker/io/shards.h"

#include "stoker/base/testing.h"

namespace stoker::shards_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Shards, AreNamedByNumberAndCount) {
  EXPECT_EQ(ShardName("data/x", 3, 128), "data/x-00003-of-00128");
  EXPECT_EQ(ShardName("x", 100'000, 200'000, ".gz"), "x-100000-of-200000.gz");
}

TEST(Shards, OfASetAreAllItsFiles) {
  EXPECT_THAT(ShardsOf("d/x@2"), ElementsAre("d/x-00000-of-00002", "d/x-00001-of-00002"));
  EXPECT_THAT(ShardsOf("d/x@2.tfrecord.gz"),
              ElementsAre("d/x-00000-of-00002.tfrecord.gz", "d/x-00001-of-00002.tfrecord.gz"));
  for (const char* const none : {"", "x", "x@", "x@y", "x@2y", "x@2/y", "x@99999999"})
    EXPECT_THAT(ShardsOf(none), IsEmpty()) << none;
}

TEST(WithoutShardNumber, IsTheNameOfTheSet) {
  EXPECT_EQ(WithoutShardNumber("d/x-00001-of-00002.tfrecord.gz"), "d/x.tfrecord.gz");
  EXPECT_EQ(WithoutShardNumber("d/x-00001-of-00002"), "d/x");
  for (const char* const other : {"", "x", "x-1-of-2", "x-00001-of-00002/y"})
    EXPECT_EQ(WithoutShardNumber(other), other);
}

TEST(CheckShards, MissesOnlyWhatThePatternWouldMatch) {
  const std::vector<std::string> found = {"d/x-00000-of-00003", "d/x-00002-of-00003", "d/y"};
  for (const char* const pattern : {"d/*", "d/x-*", "d/x-0000?-of-00003"}) {
    EXPECT_THAT(CheckShards(pattern, found),
                FailsWith(StatusCode::kNotFound,
                          "d/x-00001-of-00003: this shard is missing, 2 of 3 are there"))
        << pattern;
  }
  STOKER_EXPECT_OK(CheckShards("d/x-0000[02]*", found));
  STOKER_EXPECT_OK(CheckShards("*", {"x", "x-1-of-3", "x-of-00003", "-00001-of-"}));
  STOKER_EXPECT_OK(CheckShards("x*", {ShardName("x", 0, 1)}));
}

}  // namespace stoker::shards_test
