#include "stoker/data/sources/lmdb.h"

#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/lmdb/lmdb_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker::lmdb_test {

std::string TextOf(const Array& array) {
  return {reinterpret_cast<const char*>(array.data()), array.num_bytes()};
}

class LmdbTest : public testing::Test {
 protected:
  void SetUp() override {
    LmdbBuilder builder;
    const std::string main = builder.Add(LmdbNodes(27));
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "data.mdb", builder.File(main)));
  }

  const TempDir dir_;
};

TEST_F(LmdbTest, GivesValuesAndKeys) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Dataset dataset,
      Source(Lmdb{.path = dir_.path().string(), .prefix = "01", .key = true}));
  EXPECT_EQ(dataset.spec().ToString(), "{value: uint8[?], key: uint8[?]}");
  EXPECT_EQ(dataset.cardinality(), Cardinality::Of(10));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> all, ReadAll(dataset, Runtime::Inline()));
  EXPECT_EQ(TextOf(all[2].arrays[0]), std::string(12, 'm'));
  EXPECT_EQ(TextOf(all[2].arrays[1]), "012");
}

TEST_F(LmdbTest, KeepsItsPromises) {
  ExpectKeepsItsPromises(Source(Lmdb{.path = dir_ / "data.mdb"}));
  ExpectKeepsItsPromises(Source(Lmdb{.path = dir_.path().string(), .key = true}) | Shuffle{});
}

TEST_F(LmdbTest, SaysWhatIsWrong) {
  EXPECT_THAT(Source(Lmdb{.path = dir_.path().string(), .database = "x"}),
              FailsWith(StatusCode::kNotFound, "there is no database 'x'"));
  EXPECT_THAT(Source(Lmdb{.path = dir_.path().string(), .key = true, .field = "key"}),
              FailsWith(StatusCode::kInvalidArgument, "give it another name"));
}

}  // namespace stoker::lmdb_test
