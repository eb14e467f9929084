#include "stoker/data/sources/libsvm.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::libsvm_test {

using testing::ElementsAre;

class LibsvmTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    EXPECT_THAT(WriteFileAtomically(dir_ / name, text), IsOk());
    return dir_ / name;
  }

  const TempDir dir_;
};

TEST_F(LibsvmTest, GivesDenseOrSparseSamples) {
  Write("a", "# made by hand\n1 qid:4 1:0.5 3:2\n\n-1 qid:5 2:1\n");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dense,
      Source(Libsvm{.files = dir_ / "a", .features = 3, .label = "int64", .query = true}));
  EXPECT_EQ(dense.spec().ToString(), "{x: float32[3], label: int64[], query: int64[]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dense, Runtime::Inline()));
  EXPECT_THAT(all[0].arrays[0].values<float>(), ElementsAre(0.5, 0, 2));
  EXPECT_THAT(all[1].arrays[0].values<float>(), ElementsAre(0, 1, 0));
  EXPECT_THAT(Labels(all, 1), ElementsAre(1, -1));
  EXPECT_THAT(Labels(all, 2), ElementsAre(4, 5));
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset sparse, Source(Libsvm{.files = dir_ / "a"}));
  EXPECT_EQ(sparse.spec().ToString(), "{indices: int64[?], values: float32[?], label: float32[]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> few, ReadAll(sparse, Runtime::Inline()));
  EXPECT_THAT(few[0].arrays[0].values<int64_t>(), ElementsAre(0, 2));
  EXPECT_THAT(few[0].arrays[1].values<float>(), ElementsAre(0.5, 2));
  EXPECT_THAT(few[1].arrays[2].values<float>(), ElementsAre(-1));
}

TEST_F(LibsvmTest, TakesSeveralLabelsWhereTold) {
  Write("a", "1,3 0:1\n2 0:2\n");
  const Libsvm several{.files = dir_ / "a", .features = 1, .first_index = 0, .label = "several"};
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                              ReadAll(*Source(several), Runtime::Inline()));
  EXPECT_THAT(Labels(all, 1), ElementsAre(1, 3, 2));
  Libsvm one = several;
  one.label = "int64";
  EXPECT_THAT(
      ReadAll(*Source(one), Runtime::Inline()),
      FailsWith(StatusCode::kDataLoss, "/a: record 0 (line 1, byte 0): there are 2 labels"));
}

TEST_F(LibsvmTest, KeepsItsPromises) {
  std::string text;
  for (int i = 0; i < 25; ++i) text += fmt::format("{} {}:{}.5 9:1\n", i, 1 + i % 8, i);
  Write("a", text);
  STOKER_ASSERT_OK(
      WriteFileAtomically(dir_ / "a.gz", *GzipCompress(std::as_bytes(std::span(text)))));
  for (const char* const index : {"stored", "none"}) {
    ExpectKeepsItsPromises(Source(Libsvm{.files = dir_ / "a", .index = index}));
  }
  ExpectKeepsItsPromises(Source(Libsvm{.files = dir_ / "a", .features = 9}) | Shuffle{} |
                         Batch{.size = 4});
  ExpectKeepsItsPromises(Source(Libsvm{.files = dir_ / "a.gz"}));
}

TEST_F(LibsvmTest, ABadLineIsNamedAndCanBeLeftOut) {
  Write("a", "1 1:1\n2 5:1\n3.5 1:1\n4 1:1\n");
  const Libsvm libsvm{.files = dir_ / "a", .features = 4, .label = "int64"};
  EXPECT_THAT(ReadAll(*Source(libsvm), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss,
                        "/a: record 1 (line 2, byte 6): byte 2: indices are 1 to 4, found '5:1'"));
  const QuietLog quiet;
  EXPECT_THAT(Labels(*ReadAll(*(Source(libsvm) | IgnoreErrors{.share = 1}), Runtime::Inline())),
              ElementsAre(1, 4));
}

}  // namespace stoker::libsvm_test
