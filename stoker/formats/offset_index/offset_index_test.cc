#include "stoker/formats/offset_index/offset_index.h"

#include <chrono>
#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/file.h"

namespace stoker::offset_index_test {

using std::filesystem::exists;

class OffsetIndexTest : public testing::Test {
 protected:
  OffsetIndexTest() { EXPECT_THAT(WriteFileAtomically(data_, "0123456789"), IsOk()); }

  // Indexes the data file with `offsets`; counts scans.
  Result<OffsetIndex> Index(std::vector<uint64_t> offsets, uint64_t settings = 0,
                            IndexUse use = IndexUse::kStored) {
    return IndexFile(data_, "test", settings, use, [&]() -> Result<std::vector<uint64_t>> {
      ++scans_;
      return offsets;
    });
  }

  const TempDir dir_;
  const std::string data_ = dir_ / "data";
  const std::string index_ = dir_ / ".data.stoker-index";
  int scans_ = 0;
};

TEST_F(OffsetIndexTest, IsFoundByOneScanAndThenKept) {
  for (int run = 0; run < 3; ++run) {
    STOKER_ASSERT_OK_AND_ASSIGN(const OffsetIndex index, Index({0, 3, 3, 9}));
    EXPECT_EQ(index.size(), 3);
    EXPECT_EQ(index.begin(0), 0u);
    EXPECT_EQ(index.end(2), 9u);
    EXPECT_EQ(index.begin(2), 3u);
    EXPECT_EQ(index.longest(), 6u);
    EXPECT_EQ(scans_, 1);
  }
  EXPECT_EQ(IndexPathOf("a/b.x"), "a/.b.x.stoker-index");
}

TEST_F(OffsetIndexTest, IsNotUsedForOtherContentOrSettings) {
  STOKER_ASSERT_OK(Index({0, 3}).status());
  STOKER_ASSERT_OK(Index({0, 3}, /*settings=*/1).status());
  EXPECT_EQ(scans_, 2);
  std::filesystem::last_write_time(
      data_, std::filesystem::last_write_time(data_) + std::chrono::nanoseconds(1000));
  STOKER_ASSERT_OK(Index({0, 3}, 1).status());
  EXPECT_EQ(scans_, 3);
  STOKER_ASSERT_OK(WriteFileAtomically(data_, "01234567890"));
  STOKER_ASSERT_OK(Index({0, 3}, 1).status());
  EXPECT_EQ(scans_, 4);
}

TEST_F(OffsetIndexTest, ADamagedOneIsMadeAnew) {
  STOKER_ASSERT_OK(Index({0, 3, 10}).status());
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string good, ReadTextFile(index_));
  for (size_t size = 0; size < good.size(); ++size) {
    STOKER_ASSERT_OK(WriteFileAtomically(index_, std::string_view(good).substr(0, size)));
    scans_ = 0;
    STOKER_ASSERT_OK(Index({0, 3, 10}).status());
    EXPECT_EQ(scans_, 1) << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    STOKER_ASSERT_OK(WriteFileAtomically(index_, bad));
    scans_ = 0;
    STOKER_ASSERT_OK(Index({0, 3, 10}).status());
    EXPECT_EQ(scans_, 1) << at;
  }
}

TEST_F(OffsetIndexTest, OneThatPointsOutsideTheFileOrBackwardsIsNotUsed) {
  STOKER_ASSERT_OK_AND_ASSIGN(const FileStamp stamp, StampOf(data_));
  const IndexedContent content{"test", stamp, 0};
  for (const std::vector<uint64_t>& offsets :
       {std::vector<uint64_t>{0, 11}, {0, 5, 4}, {3, ~uint64_t{0}}}) {
    STOKER_ASSERT_OK(OffsetIndex::Of(offsets).Store(index_, content));
    EXPECT_FALSE(OffsetIndex::Load(index_, content));
  }
  STOKER_ASSERT_OK(OffsetIndex::Of({0, 10}).Store(index_, content));
  EXPECT_TRUE(OffsetIndex::Load(index_, content));
}

TEST_F(OffsetIndexTest, InMemoryLeavesNoFileAndReadsNone) {
  STOKER_ASSERT_OK(Index({0, 3}, 0, IndexUse::kMemory).status());
  EXPECT_FALSE(exists(index_));
  STOKER_ASSERT_OK(Index({0, 3}).status());
  STOKER_ASSERT_OK_AND_ASSIGN(const OffsetIndex index, Index({0, 4}, 0, IndexUse::kMemory));
  EXPECT_EQ(index.end(0), 4u);
}

TEST_F(OffsetIndexTest, WhereItCannotBeKeptItIsUsedAllTheSame) {
  std::filesystem::create_directory(index_);  // something is in its place
  STOKER_ASSERT_OK(Index({0, 3}).status());
  STOKER_ASSERT_OK(Index({0, 3}).status());
  EXPECT_EQ(scans_, 2);
}

TEST_F(OffsetIndexTest, AFileThatChangesDuringTheScanIsAnError) {
  const auto scan = [&]() -> Result<std::vector<uint64_t>> {
    EXPECT_THAT(WriteFileAtomically(data_, "other"), IsOk());
    return std::vector<uint64_t>{0, 5};
  };
  EXPECT_THAT(IndexFile(data_, "test", 0, IndexUse::kStored, scan).status(),
              FailsWith(StatusCode::kFailedPrecondition, "data: the file changed while"));
  EXPECT_THAT(StampOf(dir_ / "none").status(), FailsWith(StatusCode::kNotFound, "none"));
}

}  // namespace stoker::offset_index_test
