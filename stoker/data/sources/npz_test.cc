#include "stoker/data/sources/npz.h"

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/combining_testing_internal.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/formats/npy/npz.h"

namespace stoker {
namespace {

class NpzSourceTest : public testing::Test {
 protected:
  NpzSourceTest() {
    Array x = Array::Allocate(DType::kFloat32, {12, 2}), y = Array::Allocate(DType::kInt64, {12});
    for (size_t i = 0; i < 24; ++i) x.values<float>()[i] = static_cast<float>(i);
    for (size_t i = 0; i < 12; ++i) y.values<int64_t>()[i] = static_cast<int64_t>(i);
    EXPECT_THAT(WriteNpz(dir_ / "a.npz", {{"x", x}, {"y", y}}), IsOk());
  }
  const TempDir dir_;
};

TEST_F(NpzSourceTest, GivesTheRowsOfAllOrOfTheArraysNamed) {
  EXPECT_EQ(Source(Npz{.path = dir_ / "a.npz"})->spec().ToString(), "{x: float32[2], y: int64[]}");
  const Result<Dataset> dataset =
      FromRecipe(fmt::format("- npz: {{path: {}, fields: {{label: y, a: x}}}}\n", dir_ / "a.npz"));
  STOKER_ASSERT_OK(dataset);
  EXPECT_EQ(dataset->spec().ToString(), "{label: int64[], a: float32[2]}");
  const std::vector<Element> all = *ReadAll(*dataset, Runtime::Inline());
  EXPECT_EQ(all[5].arrays[1].values<float>()[1], 11);
  EXPECT_EQ(Labels(all, 0)[5], 5);
}

TEST_F(NpzSourceTest, KeepsItsPromises) {
  const Result<Dataset> dataset = Source(Npz{.path = dir_ / "a.npz"});
  ExpectKeepsItsPromises(dataset);
  ExpectKeepsItsPromises(Result<Dataset>(dataset) | Shuffle{} | Batch{.size = 5});
}

TEST_F(NpzSourceTest, RefusesArraysThatAreNotThereOrDoNotBelongTogether) {
  EXPECT_THAT(Source(Npz{.path = dir_ / "a.npz", .fields = {{.name = "z", .array = "z"}}}),
              FailsWith(StatusCode::kNotFound, "there is no array 'z' among: x, y"));
  STOKER_ASSERT_OK(WriteNpz(dir_ / "b.npz", {{"x", Array::Allocate(DType::kInt64, {3})},
                                             {"y", Array::Allocate(DType::kInt64, {4})}}));
  EXPECT_THAT(Source(Npz{.path = dir_ / "b.npz"}),
              FailsWith(StatusCode::kDataLoss, "b.npz: y: 4 rows, but"));
}

}  // namespace
}  // namespace stoker
