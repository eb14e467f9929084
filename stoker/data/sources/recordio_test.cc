#include "stoker/data/sources/recordio.h"

#include "stoker/data/ops/ignore_errors.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/recordio/record_io_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker::recordio_test {

using testing::ElementsAre;

std::string TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

class RecordioTest : public testing::Test {
 protected:
  RecordioTest() {
    std::string one, several;
    for (int i = 0; i < 12; ++i) {
      // Some are in parts.
      const std::string image = i % 4 == 1 ? "abcd\x0a\x23\xd7\xce" : std::string(i * 9, 'x');
      one += RecordIoRecord(ImageRecordOf({static_cast<float>(i)}, 0, image));
      several += RecordIoRecord(ImageRecordOf(std::vector<float>(2 + i % 2, 0.5f), 0, image));
    }
    EXPECT_THAT(WriteFileAtomically(dir_ / "a.rec", one), IsOk());
    EXPECT_THAT(WriteFileAtomically(dir_ / "b.rec", several), IsOk());
  }
  const TempDir dir_;
};

TEST_F(RecordioTest, GivesImagesAndLabels) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset one,
                              Source(Recordio{.files = dir_ / "a.rec", .whole = true}));
  EXPECT_EQ(one.spec().ToString(), "{image: uint8[?], label: int64[]}");
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(one, Runtime::Inline()));
  EXPECT_EQ(TextOf(all[5].arrays[0]), "abcd\x0a\x23\xd7\xce");
  EXPECT_EQ(TextOf(all[3].arrays[0]), std::string(27, 'x'));
  EXPECT_EQ(Labels(all)[7], 7);
  STOKER_ASSERT_OK_AND_ASSIGN(
      const std::vector<Element> many,
      ReadAll(*Source(Recordio{.files = dir_ / "b.rec", .labels = -1}), Runtime::Inline()));
  EXPECT_THAT(many[0].arrays[1].values<float>(), ElementsAre(0.5, 0.5));
  EXPECT_THAT(many[1].arrays[1].values<float>(), ElementsAre(0.5, 0.5, 0.5));
  STOKER_ASSERT_OK_AND_ASSIGN(
      const std::vector<Element> raw,
      ReadAll(*Source(Recordio{.files = dir_ / "a.rec", .raw = true}), Runtime::Inline()));
  EXPECT_EQ(raw[3].arrays[0].num_bytes(), 24u + 27);
}

TEST_F(RecordioTest, AnIndexBesideItThatDisagreesIsAnErrorThatNamesBoth) {
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "a.idx", "0\t0\n1\t33\n"));
  const std::string says = "a.idx: line 2: no record of " + (dir_ / "a.rec") + " begins at byte 33";
  for (const char* const index : {"stored", "memory"}) {
    EXPECT_THAT(Source(Recordio{.files = dir_ / "a.rec", .index = index}),
                FailsWith(StatusCode::kDataLoss, says));
  }
}

TEST_F(RecordioTest, KeepsItsPromises) {
  for (const char* const index : {"stored", "memory"})
    ExpectKeepsItsPromises(Source(Recordio{.files = dir_ / "a.rec", .index = index}));
  ExpectKeepsItsPromises(Source(Recordio{.files = dir_ / "b.rec", .labels = -1}) | Shuffle{});
}

TEST_F(RecordioTest, ARecordOfOtherLabelsIsNamedAndCanBeLeftOut) {
  const Recordio two{.files = dir_ / "b.rec", .labels = 2};
  EXPECT_THAT(ReadAll(*Source(two), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "b.rec: record 1 (byte 40): it has 3 labels"));
  const QuietLog quiet;
  EXPECT_EQ(ReadAll(*(Source(two) | IgnoreErrors{.share = 1}), Runtime::Inline())->size(), 6u);
  Recordio whole = two;
  whole.whole = true;
  EXPECT_THAT(ReadAll(*Source(whole), Runtime::Inline()),
              FailsWith(StatusCode::kDataLoss, "label 0.5 is no whole number"));
  EXPECT_THAT(Source(Recordio{.files = dir_ / "b.rec", .labels = 0}),
              FailsWith(StatusCode::kInvalidArgument, "labels is 0"));
}

}  // namespace stoker::recordio_test
