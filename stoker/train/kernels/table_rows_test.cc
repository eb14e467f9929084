#include "stoker/train/kernels/table_rows.h"

#include <ATen/Parallel.h>
#include <ATen/ops/randn.h>
#include <torch/utils.h>

#include <algorithm>
#include <functional>

#include "stoker/base/testing.h"
#include "stoker/train/core/row_gradient.h"

namespace stoker::table_rows_test {

// Uses of a few rows and of rows anywhere, with shares.
std::vector<RowUse> Uses(int64_t count, int64_t rows, int64_t vectors, int64_t width) {
  torch::manual_seed(7);
  const at::Tensor draws = torch::randint(1 << 30, {count, 2}, torch::kLong);
  std::vector<RowUse> uses;
  for (int64_t i = 0; i < count; ++i) {
    const auto a = draws[i][0].item<int64_t>(), b = draws[i][1].item<int64_t>();
    uses.push_back({.row = i % 3 == 0 ? a % std::min<int64_t>(rows, 5) : a % rows,
                    .from = b % vectors * width,
                    .share = i % 2 == 0 ? 1.0f : 0.25f});
  }
  return uses;
}

// In the order of the uses, as the function promises.
at::Tensor WholeGradient(const std::vector<RowUse>& uses, const at::Tensor& values, int64_t rows) {
  at::Tensor whole = torch::zeros({rows, values.size(1)});
  for (const RowUse& use : uses) whole[use.row] += values[use.from / values.size(1)] * use.share;
  return whole;
}

TEST(GradientOfRows, IsTheSumOfTheUsesOfEachRowInAscendingOrder) {
  // Few uses and many, numbers of rows with one digit and with several.
  for (const auto& [count, rows] :
       {std::pair<int64_t, int64_t>{1, 1}, {50, 7}, {5000, 30}, {5000, 3'000'000}}) {
    SCOPED_TRACE(rows);
    const at::Tensor values = at::randn({40, 6});
    const std::vector<RowUse> uses = Uses(count, rows, 40, 6);
    const at::Tensor found = GradientOfRows(uses, values.const_data_ptr<float>(), rows, 6);
    ASSERT_EQ(found.sizes(), (std::vector<int64_t>{rows, 6}));
    EXPECT_TRUE(found.is_coalesced());
    const at::Tensor numbers = RowsOf(found);
    const auto* const number = numbers.const_data_ptr<int64_t>();
    EXPECT_EQ(std::adjacent_find(number, number + numbers.numel(), std::greater_equal<>()),
              number + numbers.numel());
    if (rows < 1000) {
      EXPECT_TRUE(found.to_dense().equal(WholeGradient(uses, values, rows)));
      continue;
    }
    for (const RowUse& use : uses)
      ASSERT_TRUE(std::binary_search(number, number + numbers.numel(), use.row));
    EXPECT_NEAR(
        found._values().sum().item<double>(),
        [&] {
          double sum = 0;
          for (const RowUse& use : uses)
            sum += use.share * values[use.from / 6].sum().item<double>();
          return sum;
        }(),
        0.1);
  }
}

TEST(GradientOfRows, HasNoRowsWithoutUses) {
  const at::Tensor found = GradientOfRows({}, nullptr, 10, 3);
  EXPECT_EQ(RowsOf(found).numel(), 0);
  EXPECT_EQ(found._values().sizes(), (std::vector<int64_t>{0, 3}));
}

TEST(GradientOfRows, HasTheSameBytesForAnyNumberOfThreads) {
  const at::Tensor values = at::randn({500, 16});
  const std::vector<RowUse> uses = Uses(20'000, 3000, 500, 16);
  const int before = at::get_num_threads();
  std::vector<at::Tensor> found;
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    found.push_back(GradientOfRows(uses, values.const_data_ptr<float>(), 3000, 16)._values());
  }
  at::set_num_threads(before);
  EXPECT_TRUE(found[0].equal(found[1]));
  EXPECT_TRUE(found[0].equal(found[2]));
}

TEST(CopyRows, AndWriteRowsTakeRowsOutAndPutThemBack) {
  for (const int64_t chosen : {0, 1, 13, 900}) {
    SCOPED_TRACE(chosen);
    const at::Tensor table = at::randn({1000, 5, 4});
    const at::Tensor rows =
        std::get<0>(torch::randperm(1000, torch::kLong).narrow(0, 0, chosen).sort());
    const at::Tensor copies = CopyRows(table, rows);
    EXPECT_TRUE(copies.equal(table.index_select(0, rows)));
    at::Tensor expected = table.clone();
    expected.index_copy_(0, rows, copies + 1);
    WriteRows(table, rows, copies + 1);
    EXPECT_TRUE(table.equal(expected));
  }
}

TEST(PreferHugePages, LeavesTheValuesAsTheyAre) {
  const at::Tensor table = at::randn({300'000, 32});  // 38 MB
  const at::Tensor before = table.clone();
  PreferHugePages(table);
  PreferHugePages(table.narrow(1, 0, 2));
  PreferHugePages(table.to(at::kDouble));
  EXPECT_TRUE(table.equal(before));
}

}  // namespace stoker::table_rows_test
