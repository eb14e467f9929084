#include "stoker/formats/npy/npz.h"

#include <fstream>

#include "stoker/base/testing.h"
#include "stoker/formats/zip/zip_reader.h"
#include "stoker/io/file.h"
#include "stoker/io/file_bytes_testing_internal.h"

namespace stoker::npz_test {

NamedArrays SomeArrays() {
  return {{"x", Array::Of(std::span<const float>(std::vector<float>{1, 2, 3, 4, 5, 6}), {3, 2})},
          {"label", Array::Of(std::vector<int64_t>{7, 8, 9})}};
}

// Many times over: without a look at the disk.
void WriteFast(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

TEST(Npz, ReadsWhatItWroteWhereItLies) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteNpz(dir / "a.npz", SomeArrays()));
  STOKER_ASSERT_OK_AND_ASSIGN(const NamedArrays all, ReadNpz(dir / "a.npz"));
  ASSERT_EQ(all.size(), 2u);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].first, SomeArrays()[i].first);
    EXPECT_TRUE(SameBytes(all[i].second, SomeArrays()[i].second));
    const ScopedMapping mapping;
    STOKER_ASSERT_OK_AND_ASSIGN(const NamedArrays mapped, ReadNpz(dir / "a.npz"));
    EXPECT_TRUE(SameBytes(mapped[i].second, SomeArrays()[i].second));
    EXPECT_FALSE(mapped[i].second.buffer().exclusive());
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const NamedArrays one, ReadNpz(dir / "a.npz", {"label"}));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_TRUE(SameBytes(one[0].second, SomeArrays()[1].second));
  EXPECT_THAT(ReadNpz(dir / "a.npz", {"y"}),
              FailsWith(StatusCode::kNotFound, "there is no array 'y' among: x, label"));
}

TEST(Npz, EveryTruncationAndEveryFlippedByteOfTheValuesIsAnError) {
  const TempDir dir;
  STOKER_ASSERT_OK(WriteNpz(dir / "a.npz", SomeArrays()));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::string good, ReadTextFile(dir / "a.npz"));
  for (size_t size = 0; size < good.size(); ++size) {
    WriteFast(dir / "b.npz", good.substr(0, size));
    EXPECT_FALSE(ReadNpz(dir / "b.npz").ok()) << size;
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const ZipFile file, ZipFile::Open(dir / "a.npz"));
  for (const ZipEntry& entry : file.entries()) {
    for (uint64_t at = entry.offset; at < entry.offset + entry.bytes; ++at) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      WriteFast(dir / "b.npz", bad);
      EXPECT_THAT(ReadNpz(dir / "b.npz"), FailsWith(StatusCode::kDataLoss, "b.npz")) << at;
    }
  }
}

}  // namespace stoker::npz_test
