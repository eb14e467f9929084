#include "stoker/data/sources/lines.h"

#include <zstd.h>

#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"
#include "stoker/io/packed_testing_internal.h"

namespace stoker::lines_test {

using testing::ElementsAre;

std::string Zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

class LinesTest : public testing::Test {
 protected:
  // Files with this content: plain and compressed.
  std::vector<std::string> Write(const std::string& text) {
    EXPECT_THAT(WriteFileAtomically(dir_ / "a.txt", text), IsOk());
    EXPECT_THAT(WriteFileAtomically(dir_ / "a.gz", *GzipCompress(std::as_bytes(std::span(text)))),
                IsOk());
    EXPECT_THAT(WriteFileAtomically(dir_ / "a.zst", Zstd(text)), IsOk());
    EXPECT_THAT(WriteFileAtomically(dir_ / "a.xz", XzCompress(text)), IsOk());
    EXPECT_THAT(WriteFileAtomically(dir_ / "a.bz2", Bzip2Compress(text)), IsOk());
    return {dir_ / "a.txt", dir_ / "a.gz", dir_ / "a.zst", dir_ / "a.xz", dir_ / "a.bz2"};
  }

  static std::vector<std::string> TextsOf(const Lines& lines) {
    std::vector<std::string> texts;
    const Result<std::vector<Element>> all = ReadAll(*Source(lines), Runtime::Inline());
    EXPECT_THAT(all, IsOk());
    if (!all.ok()) return texts;
    for (const Element& element : *all) {
      const Array& text = element.arrays[0];
      texts.emplace_back(reinterpret_cast<const char*>(text.data()), text.num_bytes());
    }
    return texts;
  }

  const TempDir dir_;
};

TEST_F(LinesTest, ReadsPlainAndCompressedFilesAlike) {
  for (const std::string& path : Write("id,name\r\n1,a\n\n \t\n2,b")) {
    EXPECT_THAT(TextsOf({.path = path}), ElementsAre("id,name", "1,a", "", " \t", "2,b"));
    EXPECT_THAT(TextsOf({.path = path, .skip = 1, .skip_blank = true}), ElementsAre("1,a", "2,b"));
  }
  for (const std::string& path : Write(""))
    EXPECT_THAT(TextsOf({.path = path}), testing::IsEmpty());
}

TEST_F(LinesTest, KeysAreTheBytesAtWhichLinesBegin) {
  Write("header\na\n\nb\n");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const std::vector<Element> all,
      ReadAll(*Source(Lines{.path = dir_ / "a.txt", .skip = 1, .skip_blank = true}),
              Runtime::Inline(), {.epoch = 5}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].key, (SampleKey{5, 7}));
  EXPECT_EQ(all[1].key, (SampleKey{5, 10}));
}

TEST_F(LinesTest, KeepsItsPromises) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += fmt::format("line {}{}\n", i, std::string(i % 5, '.'));
  for (const std::string& path : Write(text)) {
    ExpectKeepsItsPromises(Source(Lines{.path = path}));
    ExpectKeepsItsPromises(Source(Lines{.path = path, .skip = 3}) | Prefetch{});
  }
}

TEST_F(LinesTest, APlainFileIsReadOnFromItsByteAndNotFromItsStart) {
  Write("one\ntwo\nthree\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Lines{.path = dir_ / "a.txt"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto first, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(first->Next());
  STOKER_ASSERT_OK_AND_ASSIGN(const Json state, first->Save());
  // What is before the byte has changed; whoever reads it again sees that.
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "a.txt", "\n\n\n\ntwo\nthree\n"));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto resumed, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(resumed->Restore(state));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> rest, ReadAll(*resumed));
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].key.index, 4);
}

TEST_F(LinesTest, AShuffleOfAPlainFileSavesKeysAndOfACompressedOneReplays) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("line {}\n", i);
  for (const std::string& path : Write(text)) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset lines, Source(Lines{.path = path}));
    EXPECT_EQ(lines.node().rereadable(), path.ends_with(".txt"));
    ExpectKeepsItsPromises(lines | Shuffle{.buffer = 10});
  }
}

TEST_F(LinesTest, ALineBeyondTheLimitIsAnErrorWithFileByteAndLine) {
  for (const std::string& path : Write("short\nfar too long\nshort\n")) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Lines{.path = path, .max_bytes = 6}));
    STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
    STOKER_ASSERT_OK(iterator->Next());
    EXPECT_THAT(
        iterator->Next(),
        FailsWith(StatusCode::kDataLoss, path + ": byte 6: line 2 has 12 bytes, max_bytes is 6"));
  }
}

TEST_F(LinesTest, GoesOnBehindALineBeyondTheLimitWhereErrorsAreIgnored) {
  for (const std::string& path : Write("short\nfar too long\nlast\n")) {
    const Result<Dataset> dataset = Source(Lines{.path = path, .max_bytes = 6}) | IgnoreErrors{};
    for (const Runtime& runtime : {Runtime::Inline(), Runtime::Threaded(2)}) {
      STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(*dataset, runtime));
      ASSERT_EQ(all.size(), 2u);
      EXPECT_EQ(all[1].key.index, 19);
    }
  }
}

TEST_F(LinesTest, SaysWhatIsWrongWithTheFile) {
  EXPECT_THAT(Source(Lines{.path = dir_ / "none.txt"}),
              FailsWith(StatusCode::kNotFound, "none.txt"));
  const std::string packed = Zstd(std::string(100'000, 'x') + "\n");
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "cut.zst", packed.substr(0, packed.size() - 3)));
  EXPECT_THAT(ReadAll(*Source(Lines{.path = dir_ / "cut.zst"}), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "cut.zst"));
  Write("one\ntwo\n");
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Lines{.path = dir_ / "a.txt"}));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto iterator, dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK(iterator->Restore({{"seed", 0}, {"epoch", 0}, {"byte", 99}, {"line", 9}}));
  EXPECT_THAT(iterator->Next(), FailsWith(StatusCode::kOutOfRange,
                                          "byte 99 is to be read from, but the content ends"));
}

}  // namespace stoker::lines_test
