#include "stoker/data/sources/npy.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/prefetch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/npy/npy.h"

namespace stoker::npy_test {

class NpySourceTest : public testing::Test {
 protected:
  NpySourceTest() {
    Array x = Array::Allocate(DType::kFloat32, {12, 2}), y = Array::Allocate(DType::kInt64, {12});
    for (size_t i = 0; i < 24; ++i) x.values<float>()[i] = static_cast<float>(i);
    for (size_t i = 0; i < 12; ++i) y.values<int64_t>()[i] = static_cast<int64_t>(i);
    EXPECT_THAT(WriteNpy(dir_ / "x.npy", x), IsOk());
    EXPECT_THAT(WriteNpy(dir_ / "y.npy", y), IsOk());
  }
  const TempDir dir_;
};

TEST_F(NpySourceTest, GivesTheRowsOfAllFiles) {
  const Result<Dataset> dataset = FromRecipe(
      fmt::format("- npy: {{fields: {{a: {}, label: {}}}}}\n", dir_ / "x.npy", dir_ / "y.npy"));
  STOKER_ASSERT_OK(dataset);
  EXPECT_EQ(dataset->spec().ToString(), "{a: float32[2], label: int64[]}");
  const std::vector<Element> all = *ReadAll(*dataset, Runtime::Inline());
  EXPECT_EQ(all[5].arrays[0].values<float>()[1], 11);
  EXPECT_EQ(Labels(all)[5], 5);
  EXPECT_EQ(dataset->node().files().size(), 2u);
}

TEST_F(NpySourceTest, KeepsItsPromises) {
  const Result<Dataset> dataset =
      Source(Npy{.fields = {{"x", dir_ / "x.npy"}, {"y", dir_ / "y.npy"}}});
  ExpectKeepsItsPromises(dataset);
  ExpectKeepsItsPromises(Result<Dataset>(dataset) | Shuffle{} | Batch{.size = 5} | Prefetch{});
}

TEST_F(NpySourceTest, RefusesArraysThatDoNotBelongTogether) {
  STOKER_ASSERT_OK(WriteNpy(dir_ / "short.npy", Array::Allocate(DType::kInt64, {11})));
  STOKER_ASSERT_OK(WriteNpy(dir_ / "one.npy", Array::Allocate(DType::kInt64, {})));
  EXPECT_THAT(Source(Npy{.fields = {{"x", dir_ / "x.npy"}, {"y", dir_ / "short.npy"}}}),
              FailsWith(StatusCode::kDataLoss, "11 rows, but"));
  EXPECT_THAT(Source(Npy{.fields = {{"x", dir_ / "one.npy"}}}),
              FailsWith(StatusCode::kInvalidArgument, "a single value"));
  EXPECT_THAT(Source(Npy{}), FailsWith(StatusCode::kInvalidArgument, "no fields are named"));
  EXPECT_THAT(Source(Npy{.fields = {{"x", dir_ / "none.npy"}}}),
              FailsWith(StatusCode::kNotFound, "none.npy"));
}

}  // namespace stoker::npy_test
