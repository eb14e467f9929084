#include "stoker/data/sources/npz.h"

#include <fstream>

#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/testing/combining.h"
#include "stoker/formats/npy/npz.h"
#include "stoker/formats/zip/zip_testing_internal.h"

namespace stoker::npz_test {

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

TEST_F(NpzSourceTest, InflatesWithinTheBudgetOfThePassOrRefusesBeforeItDoes) {
  constexpr int64_t kRows = 64, kRowBytes = 1 << 16;
  const std::string bytes =
      *NpyHeaderOf(DType::kUInt8, {kRows, kRowBytes}, "x") + std::string(kRows * kRowBytes, 'x');
  std::ofstream(dir_ / "c.npz", std::ios::binary) << ZipOf({{"x.npy", bytes}}, /*deflated=*/true);
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, Source(Npz{.path = dir_ / "c.npz"}));
  EXPECT_EQ(dataset.spec().ToString(), "{x: uint8[65536]}");
  Runtime runtime = Runtime::Inline();
  runtime.memory_budget = 4 << 20;
  EXPECT_THAT(
      dataset.Open(runtime),
      FailsWith(StatusCode::kResourceExhausted,
                "c.npz: x: its values take 4.2 MB of memory, but the budget is 4.2 MB; pack "
                "it into .npy or .stoker files, which are not loaded (`stoker pack`), or "
                "set Runtime::memory_budget higher"));
  runtime.memory_budget = 6 << 20;
  STOKER_ASSERT_OK_AND_ASSIGN(const auto pass, dataset.Open(runtime));
  EXPECT_GE(pass->GetProfile().peak_memory_bytes, kRows * kRowBytes);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::optional<Element> row, pass->Next());
  EXPECT_EQ(row->arrays[0].values<uint8_t>()[7], 'x');
  STOKER_ASSERT_OK_AND_ASSIGN(const auto later, dataset.Open(runtime));
  EXPECT_GE(later->GetProfile().peak_memory_bytes, kRows * kRowBytes) << "it is still held";
  runtime.memory_budget = 4'000'000;
  EXPECT_THAT(dataset.Open(runtime), FailsWith(StatusCode::kResourceExhausted,
                                               "c.npz: its values take 4.2 MB of memory, but the "
                                               "budget is 4.0 MB; pack it into .npy or .stoker"));
}

}  // namespace stoker::npz_test
