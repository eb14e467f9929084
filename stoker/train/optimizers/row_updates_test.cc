// Gradients of rows (core/row_gradient.h): what optimizers that take them make of a table.
#include <ATen/Parallel.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/train/optimizers/adagrad.h"
#include "stoker/train/optimizers/adam.h"
#include "stoker/train/optimizers/adamw.h"
#include "stoker/train/optimizers/ftrl.h"
#include "stoker/train/optimizers/optimizers_testing_internal.h"

namespace stoker::row_updates_test {

using optimizers_testing::Built;
using optimizers_testing::ExpectValues;

// A table after four steps in which some rows have gradients; each step others, and rows 0 to 99
// every time.
template <typename Kind>
at::Tensor TableAfterFourSteps(const Kind& kind, bool of_rows, at::ScalarType type = at::kFloat) {
  torch::manual_seed(8);
  at::Tensor table = torch::randn({900, 70}, torch::kDouble).to(type).requires_grad_();
  const auto optimizer = Built(kind, {{"table", table}});
  for (int64_t t = 0; t < 4; ++t) {
    const at::Tensor rows =
        torch::cat({torch::arange(100), torch::arange(100 + 150 * t, 250 + 150 * t)});
    const at::Tensor values = torch::randn({250, 70}, torch::kDouble).to(type);
    at::Tensor sparse = torch::sparse_coo_tensor(rows.unsqueeze(0), values, {900, 70}).coalesce();
    table.mutable_grad() = of_rows ? sparse : sparse.to_dense();
    optimizer->Step({.lr = .01 / static_cast<double>(1 + t), .momentum = {}});
  }
  return table.detach();
}

TEST(GradientsOfRows, MoveATableAsWholeOnesWhereOthersWouldNotMove) {
  const auto test = [](const auto& kind) {
    for (const auto type : {at::kFloat, at::kDouble}) {
      SCOPED_TRACE(kind.kName);
      EXPECT_TRUE(torch::allclose(TableAfterFourSteps(kind, true, type),
                                  TableAfterFourSteps(kind, false, type), 1e-5, 1e-6));
    }
  };
  test(Adagrad{.lr_decay = .1});
  test(Ftrl{.l1 = .01, .l2 = .1});
}

TEST(GradientsOfRows, OfLazyUpdatesMoveTheRowsUsedAndNoOthers) {
  const auto test = [](const auto& kind) {
    SCOPED_TRACE(kind.kName);
    torch::manual_seed(8);
    const at::Tensor before = torch::randn({900, 70}, torch::kDouble).to(at::kFloat);
    const at::Tensor rows = TableAfterFourSteps(kind, true);
    const at::Tensor whole = TableAfterFourSteps(kind, false);
    EXPECT_TRUE(torch::allclose(rows.narrow(0, 0, 100), whole.narrow(0, 0, 100), 1e-5, 1e-6));
    EXPECT_TRUE(torch::equal(rows.narrow(0, 700, 200), before.narrow(0, 700, 200)));
    // The second step's rows had rested in the first, and rest in the last two.
    const at::Tensor second = rows.narrow(0, 250, 150);
    EXPECT_FALSE(torch::allclose(second, whole.narrow(0, 250, 150), 1e-3, 1e-4));
    EXPECT_FALSE(torch::equal(second, before.narrow(0, 250, 150)));
  };
  test(Adam{.lazy = true});
  test(Adamw{.lazy = true});
}

TEST(GradientsOfRows, GiveTheSameBytesOnAnyNumberOfThreads) {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = TableAfterFourSteps(Adamw{.lazy = true}, true);
  for (const int count : {2, 3}) {
    at::set_num_threads(count);
    EXPECT_TRUE(torch::equal(TableAfterFourSteps(Adamw{.lazy = true}, true), one));
  }
  at::set_num_threads(threads);
}

// As torch.optim.SparseAdam of PyTorch 2.11, but for where eps is added, which 1e-12 hides.
TEST(GradientsOfRows, MoveATableAsPyTorchsSparseAdam) {
  at::Tensor table = torch::ones({3, 1}, torch::kDouble).requires_grad_();
  const auto optimizer = Built(Adam{.eps = 1e-12, .lazy = true}, {{"table", table}});
  const std::vector<std::vector<int64_t>> used = {{0, 1}, {1}, {0}};
  const std::vector<std::vector<double>> gradients = {{.1, -.2}, {.3}, {.4}};
  for (size_t t = 0; t < used.size(); ++t) {
    table.mutable_grad() =
        torch::sparse_coo_tensor(torch::tensor(used[t]).unsqueeze(0),
                                 torch::tensor(gradients[t], torch::kDouble).unsqueeze(1), {3, 1})
            .coalesce();
    optimizer->Step({.lr = .01, .momentum = {}});
  }
  ExpectValues(table.detach().flatten(), {.98240795898, 1.007522981837, 1.0});
}

}  // namespace stoker::row_updates_test
