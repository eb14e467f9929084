#include "stoker/data/sources/stoker.h"

#include <cstring>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/shard/shard_writer.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker::stoker_test {

using testing::ElementsAre;

// {x: float32[3], label: int64[]}, where record i is {i, i, i} and i.
class StokerSourceTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, int64_t first, int64_t records,
                    uint64_t page_bytes = 100) {
    Result<ShardWriter> writer = ShardWriter::Create(
        dir_ / name,
        {.fields = {{"x", DType::kFloat32, {3}}, {"label", DType::kInt64, {}}}, .origin = ""},
        page_bytes);
    for (int64_t i = first; i < first + records; ++i) {
      const auto value = static_cast<float>(i);
      EXPECT_THAT(writer->Append(std::vector{Array::Of(std::vector<float>{value, value, value}),
                                             Array::Of(std::vector<int64_t>{i}).Reshaped({})}),
                  IsOk());
    }
    EXPECT_THAT(writer->Commit(), IsOk());
    return dir_ / name;
  }

  // Records of differing length: record i has i % 4 values i.
  std::string WriteRagged(const std::string& name, int64_t records) {
    Result<ShardWriter> writer = ShardWriter::Create(
        dir_ / name,
        {.fields = {{"x", DType::kInt32, {kUnknownDim}}, {"label", DType::kInt64, {}}},
         .origin = ""},
        100);
    for (int64_t i = 0; i < records; ++i) {
      EXPECT_THAT(
          writer->Append(std::vector{
              Array::Of(std::vector<int32_t>(static_cast<size_t>(i % 4), static_cast<int32_t>(i))),
              Array::Of(std::vector<int64_t>{i}).Reshaped({})}),
          IsOk());
    }
    EXPECT_THAT(writer->Commit(), IsOk());
    return dir_ / name;
  }

  const TempDir dir_;
};

TEST_F(StokerSourceTest, GivesTheRecordsOfAllFilesInOrder) {
  Write("b", 2, 20);
  Write("a", 0, 2);
  Write("c", 99, 0);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      FromRecipe(fmt::format("- stoker: {{files: [\"{}\", {}]}}\n", dir_ / "[ac]", dir_ / "b")));
  EXPECT_EQ(dataset.spec().ToString(), "{x: float32[3], label: int64[]}");
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(22));
  EXPECT_EQ(dataset.node().files().size(), 3u);
  const std::vector<Element> all = *ReadAll(dataset, Runtime::Inline());
  ASSERT_EQ(all.size(), 22u);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(Labels(all)[i], static_cast<int64_t>(i));
    EXPECT_EQ(all[i].arrays[0].values<float>()[2], static_cast<float>(i));
  }
}

TEST_F(StokerSourceTest, KeepsItsPromises) {
  Write("a", 0, 37);
  Write("b", 37, 5);
  const Result<Dataset> dataset = Source(Stoker{.files = dir_ / "?"});
  ExpectKeepsItsPromises(dataset);
  ExpectKeepsItsPromises(dataset | Batch{.size = 5});
  ExpectKeepsItsPromises(dataset | Shuffle{} | Batch{.size = 5} | Prefetch{});
  ExpectKeepsItsPromises(dataset | Shuffle{.window = 20, .page = 5} | Batch{.size = 4});
  WriteRagged("ragged", 30);
  const Result<Dataset> ragged = Source(Stoker{.files = dir_ / "ragged"});
  ExpectKeepsItsPromises(ragged);
  ExpectKeepsItsPromises(ragged | Shuffle{} | Prefetch{});
}

// Gathered rows against elements one by one, whatever the positions.
TEST_F(StokerSourceTest, RowsAreTheElementsOfTheirPositions) {
  Write("a", 0, 37);
  Write("b", 37, 50);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Stoker{.files = dir_ / "?"}));
  for (const Shuffle& order : {Shuffle{}, Shuffle{.window = 40, .page = 7}}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset shuffled, Result<Dataset>(dataset) | order);
    const std::vector<Element> apart = *ReadAll(shuffled, Runtime::Inline());
    const std::vector<Element> together =
        *ReadAll(*(Result<Dataset>(shuffled) | Batch{.size = 87}), Runtime::Inline());
    ASSERT_EQ(together.size(), 1u);
    for (size_t i = 0; i < apart.size(); ++i) {
      for (size_t f = 0; f < 2; ++f) {
        EXPECT_TRUE(
            SameBytes(apart[i].arrays[f], together[0].arrays[f].Row(static_cast<int64_t>(i))));
      }
    }
  }
}

TEST_F(StokerSourceTest, ADamagedBlockIsNamedAndTheRecordsInItCanBeLeftOut) {
  Write("a", 0, 40'000, 8 << 20);  // x: 480,000 bytes, label: 320,000
  STOKER_ASSERT_OK_AND_ASSIGN(std::string file, ReadTextFile(dir_ / "a"));
  file[270'000] ^= 1;  // block 1: x of records 21,800 to 39,999, and labels
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "a", file));
  EXPECT_THAT(ReadAll(*Source(Stoker{.files = dir_ / "a"}), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "/a: byte 262144: the block that begins here"));
  const QuietLog quiet;
  const std::vector<Element> rest = *ReadAll(
      *(Source(Stoker{.files = dir_ / "a"}) | IgnoreErrors{.share = 1}), Runtime::Inline());
  EXPECT_GT(rest.size(), 0u);
  EXPECT_LT(rest.size(), 22'000u);
  EXPECT_EQ(
      ReadAll(*Source(Stoker{.files = dir_ / "a", .verify = false}), Runtime::Inline())->size(),
      40'000u);
}

TEST_F(StokerSourceTest, FilesOfDifferentFieldsAreRefused) {
  Write("a", 0, 3);
  WriteRagged("b", 3);
  EXPECT_THAT(Source(Stoker{.files = dir_ / "?"}),
              FailsWith(StatusCode::kInvalidArgument, "must have the same"));
  EXPECT_THAT(Source(Stoker{.files = dir_ / "none"}), FailsWith(StatusCode::kNotFound, "none"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "c", "hello"));
  EXPECT_THAT(Source(Stoker{.files = dir_ / "c"}), FailsWith(StatusCode::kDataLoss, "byte 0"));
}

}  // namespace stoker::stoker_test
