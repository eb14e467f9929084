#include <string>
#include <vector>

#include "stoker/base/testing.h"
#include "stoker/formats/lmdb/lmdb_file.h"
#include "stoker/formats/lmdb/lmdb_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker::lmdb_test {

Result<LmdbFile> Parse(const std::string& file, std::string_view database = {},
                       std::string_view prefix = {}) {
  Buffer bytes = Buffer::Allocate(file.size());
  std::memcpy(bytes.data(), file.data(), file.size());
  return LmdbFile::Parse(std::move(bytes), "a.mdb", database, prefix);
}

void ExpectNodes(const LmdbFile& file, const std::vector<LmdbBuilder::Node>& nodes) {
  ASSERT_EQ(file.size(), std::ssize(nodes));
  for (int64_t i = 0; i < file.size(); ++i) {
    const LmdbBuilder::Node& node = nodes[static_cast<size_t>(i)];
    EXPECT_EQ(file.key(i), node.key);
    std::string value(file.value(i).size(), '\0');
    STOKER_ASSERT_OK(file.ReadValue(i, std::as_writable_bytes(std::span(value))));
    EXPECT_EQ(value, node.value);
  }
}

TEST(LmdbFile, GivesKeysAndValuesInTheOrderOfTheKeys) {
  for (const int count : {0, 1, 10, 11, 300}) {
    LmdbBuilder builder(10);
    const std::string main = builder.Add(LmdbNodes(count));
    STOKER_ASSERT_OK_AND_ASSIGN(const LmdbFile file, Parse(builder.File(main)));
    ExpectNodes(file, LmdbNodes(count));
  }
}

TEST(LmdbFile, OpensAFolderOrItsFile) {
  const TempDir dir;
  LmdbBuilder builder;
  const std::string main = builder.Add(LmdbNodes(5));
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "data.mdb", builder.File(main)));
  for (const std::string& path : {dir.path().string(), dir / "data.mdb"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const LmdbFile file, LmdbFile::Open(path));
    ExpectNodes(file, LmdbNodes(5));
  }
  EXPECT_THAT(LmdbFile::Open(dir / "none"), FailsWith(StatusCode::kNotFound, "none"));
}

TEST(LmdbFile, FindsNamedDatabasesAndLeavesOutOtherPrefixes) {
  LmdbBuilder builder;
  std::vector<LmdbBuilder::Node> both = LmdbNodes(3, "a-");
  for (const LmdbBuilder::Node& node : LmdbNodes(4, "b-")) both.push_back(node);
  const std::string inner = builder.Add(both);
  const std::string several = builder.Add(LmdbNodes(1), 4);
  const std::string main = builder.Add({{"in", inner, 2}, {"sev", several, 2}, {"x", "y", 0}});
  const std::string file = builder.File(main);
  STOKER_ASSERT_OK_AND_ASSIGN(const LmdbFile named, Parse(file, "in", "b-"));
  ExpectNodes(named, LmdbNodes(4, "b-"));
  ExpectNodes(*Parse(file), {{"x", "y", 0}});
  EXPECT_EQ(Parse(file)->databases(), (std::vector<std::string>{"in", "sev"}));
  EXPECT_TRUE(named.databases().empty());
  EXPECT_THAT(Parse(file, "x"), FailsWith(StatusCode::kNotFound, "there is no database 'x'"));
  EXPECT_THAT(Parse(file, "sev"), FailsWith(StatusCode::kUnimplemented, "several values a key"));
}

TEST(LmdbFile, ReadsTheOlderDescriptionWhereTheNewerIsDamaged) {
  LmdbBuilder builder;
  const std::string main = builder.Add(LmdbNodes(5));
  std::string file = builder.File(main);
  file.replace(88, 48, main);
  file[LmdbBuilder::kPage + 16] = 'x';
  ExpectNodes(*Parse(file), LmdbNodes(5));
  std::swap(file[16], file[LmdbBuilder::kPage + 16]);
  ExpectNodes(*Parse(file), LmdbNodes(5));
  file[LmdbBuilder::kPage + 16] = 'x';
  EXPECT_THAT(Parse(file),
              FailsWith(StatusCode::kDataLoss, "a.mdb: byte 0: this is no LMDB database"));
}

TEST(LmdbFile, SaysWhichPageIsWrong) {
  LmdbBuilder builder(2);
  const std::string main = builder.Add(LmdbNodes(5));  // leaves 5, 6 and 7 after a value
  const std::string good = builder.File(main);
  const auto root = static_cast<size_t>(static_cast<unsigned char>(main[40]));
  const auto with = [&](size_t page, size_t at, const std::string& bytes) {
    std::string bad = good;
    bad.replace(page * LmdbBuilder::kPage + at, bytes.size(), bytes);
    return Parse(bad);
  };
  const std::string page = fmt::format("page {} (byte {})", root, root * LmdbBuilder::kPage);
  EXPECT_THAT(with(root, 10, std::string("\7\0", 2)),
              FailsWith(StatusCode::kDataLoss, page + ": it is neither a branch nor a leaf"));
  EXPECT_THAT(with(root, 12, "\xff\xff"),
              FailsWith(StatusCode::kDataLoss, page + ": its list of nodes has no length"));
  EXPECT_THAT(with(root, 16, "\xff\x0f"),
              FailsWith(StatusCode::kDataLoss, page + ": a node reaches beyond it"));
  EXPECT_THAT(with(1, 120, std::string("\x09", 1)),
              FailsWith(StatusCode::kDataLoss, "5 values are there, 9 are announced"));
  EXPECT_THAT(with(1, 128, "\x77"), FailsWith(StatusCode::kDataLoss, "it is not in the file"));
  EXPECT_THAT(with(root, LmdbBuilder::kPage - 8, std::string(1, main[40])),
              FailsWith(StatusCode::kDataLoss, "the tree leads here again"));
}

TEST(LmdbFile, EveryTruncationIsAnErrorAndEveryFlippedByteIsReadOrAnError) {
  LmdbBuilder builder(3);
  const std::string main = builder.Add(LmdbNodes(7));
  const std::string good = builder.File(main);
  for (size_t size = 0; size < good.size(); size += size % 4096 < 200 ? 1 : 61) {
    EXPECT_THAT(Parse(good.substr(0, size)), FailsWith(StatusCode::kDataLoss, "a.mdb")) << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    if (good[at] == '\0' && at % 4096 > 200 && at % 4096 < 3900) continue;  // nothing is there
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      const Result<LmdbFile> file = Parse(bad);
      if (!file.ok()) continue;
      uint64_t bytes = 0;
      for (int64_t i = 0; i < file->size(); ++i) bytes += file->value(i).size();
      EXPECT_LE(bytes, 7 * good.size());
    }
  }
}

}  // namespace stoker::lmdb_test
