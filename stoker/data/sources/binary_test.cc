#include "stoker/data/sources/binary.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/gzip.h"

namespace stoker::binary_test {

using testing::ElementsAre;

class BinaryTest : public testing::Test {
 protected:
  // Two files of 13 and 4 records of a label, two numbers and a byte of padding, between a header
  // of three bytes and a footer of one; also compressed.
  void SetUp() override {
    for (const auto& [name, first, count] : {std::tuple("a", 0, 13), std::tuple("b", 13, 4)}) {
      std::string bytes = "abc";
      for (int i = first; i < first + count; ++i)
        bytes += {static_cast<char>(i), 0, static_cast<char>(i), 1, 2, 'p'};
      Write(name, bytes + "z");
    }
  }

  void Write(const std::string& name, const std::string& bytes) const {
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / name, bytes));
    STOKER_ASSERT_OK(
        WriteFileAtomically(dir_ / (name + ".gz"), *GzipCompress(std::as_bytes(std::span(bytes)))));
  }

  Binary Records(const std::string& extension = "") const {
    return {.files = {dir_ / ("a" + extension), dir_ / ("b" + extension)},
            .fields = {{.name = "label"}, {.name = "x", .type = "int16", .shape = {2}}},
            .record_bytes = 6,
            .header_bytes = 3,
            .footer_bytes = 1,
            .big_endian = true};
  }

  const TempDir dir_;
};

TEST_F(BinaryTest, ReadsFieldsFromTheirPlaces) {
  for (const char* const extension : {"", ".gz"}) {
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Records(extension)));
    EXPECT_EQ(dataset.spec().ToString(), "{label: uint8[], x: int16[2]}");
    STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all,
                                ReadAll(dataset, Runtime::Inline()));
    ASSERT_EQ(all.size(), 17u);
    EXPECT_THAT(all[14].arrays[0].values<uint8_t>(), ElementsAre(14));
    EXPECT_THAT(all[14].arrays[1].values<int16_t>(), ElementsAre(14, 258));
    EXPECT_EQ(all[14].key, (SampleKey{0, 14}));
  }
  EXPECT_EQ(Source(Records())->cardinality(), Cardinality::Of(17));
}

TEST_F(BinaryTest, KeepsItsPromises) {
  ExpectKeepsItsPromises(Source(Records()));
  ExpectKeepsItsPromises(Source(Records(".gz")));
  ExpectKeepsItsPromises(Source(Records()) | Shuffle{} | Batch{.size = 5});
}

TEST_F(BinaryTest, RefusesFilesThatAreNoWholeNumberOfRecords) {
  const std::string good = "abc012345z";
  for (size_t size = 0; size < good.size(); ++size) {
    if (size == 4) continue;  // no records
    Write("a", good.substr(0, size));
    EXPECT_THAT(Source(Records()), FailsWith(StatusCode::kDataLoss, "/a: ")) << size;
    EXPECT_THAT(ReadAll(*Source(Records(".gz")), Runtime::Inline()),
                FailsWith(StatusCode::kDataLoss, "/a.gz: "))
        << size;
  }
  Binary none = Records();
  none.fields = {};
  EXPECT_THAT(Source(none), FailsWith(StatusCode::kInvalidArgument, "binary: no fields"));
  none.fields = {{.name = "x", .type = "int64"}};
  EXPECT_THAT(Source(none), FailsWith(StatusCode::kInvalidArgument,
                                      "binary: field 'x' is bytes 0 to 7, but records have 6"));
}

}  // namespace stoker::binary_test
