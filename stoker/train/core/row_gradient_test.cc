#include "stoker/train/core/row_gradient.h"

#include <torch/nn/modules/embedding.h>
#include <torch/utils.h>

#include "stoker/base/testing.h"
#include "stoker/train/core/model.h"

namespace stoker::row_gradient_test {

class Tables : public Model {
 public:
  at::Tensor Forward(const at::Tensor& input) override {
    return large(input).sum(1) + small(input % 10).sum(1);
  }
  torch::nn::Embedding large = register_module("large", torch::nn::Embedding(5000, 2));
  torch::nn::Embedding small = register_module("small", torch::nn::Embedding(10, 2));
};

at::Tensor SparseGradient(const std::vector<int64_t>& rows, const at::Tensor& values) {
  return torch::sparse_coo_tensor(torch::tensor(rows).unsqueeze(0), values, {8, 2});
}

TEST(UseRowGradients, IsForLargeTablesWhereItOnlyGainsTimeAndForAllWhereUpdatesAreLazy) {
  Tables model;
  EXPECT_FALSE(UseRowGradients(model, RowUpdates::kNone));
  EXPECT_FALSE(model.large->options.sparse());
  EXPECT_TRUE(UseRowGradients(model, RowUpdates::kSame));
  EXPECT_TRUE(model.large->options.sparse());
  EXPECT_FALSE(model.small->options.sparse());
  EXPECT_TRUE(UseRowGradients(model, RowUpdates::kLazy));
  EXPECT_TRUE(model.small->options.sparse());
  EXPECT_FALSE(UseRowGradients(model, RowUpdates::kNone));  // also where its author wanted them
  EXPECT_FALSE(model.large->options.sparse());
}

TEST(JoinRows, SumsEachRowOnceInOrder) {
  at::Tensor table = torch::zeros({8, 2}).requires_grad_();
  table.mutable_grad() =
      SparseGradient({5, 1, 5}, torch::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  at::Tensor plain = torch::zeros({2}).requires_grad_();
  plain.mutable_grad() = torch::ones({2});
  JoinRows({table, plain, torch::zeros({1}).requires_grad_()});
  EXPECT_TRUE(RowsOf(table.grad()).equal(torch::tensor({1L, 5L})));
  EXPECT_TRUE(ValuesOfGradient(table.grad()).equal(torch::tensor({{3.f, 4.f}, {6.f, 8.f}})));
  EXPECT_TRUE(ValuesOfGradient(plain.grad()).equal(torch::ones({2})));
}

TEST(JoinRows, KeepsRowsThatAreInOrder) {
  at::Tensor table = torch::zeros({8, 2}).requires_grad_();
  const at::Tensor values = torch::tensor({{1.f, 2.f}, {3.f, 4.f}});
  table.mutable_grad() = SparseGradient({2, 7}, values);
  const void* const memory = table.grad()._values().data_ptr();
  JoinRows({table});
  EXPECT_TRUE(table.grad().is_coalesced());
  EXPECT_EQ(ValuesOfGradient(table.grad()).data_ptr(), memory);
}

TEST(GradientValues, AreThoseOfParametersThatHaveOne) {
  Tables model;
  UseRowGradients(model, RowUpdates::kLazy);
  model.Forward(torch::tensor({{3L, 13L}, {4004L, 3L}})).sum().backward();
  at::Tensor none = torch::zeros({1}).requires_grad_();
  std::vector<at::Tensor> parameters = model.parameters();
  parameters.push_back(none);
  JoinRows(parameters);
  const std::vector<at::Tensor> values = GradientValues(parameters);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_TRUE(
      values[0].equal(torch::tensor({{2.f, 2.f}, {1.f, 1.f}, {1.f, 1.f}})));  // rows 3, 13 and 4004
  EXPECT_TRUE(values[1].equal(torch::tensor({{3.f, 3.f}, {1.f, 1.f}})));      // rows 3 and 4
}

}  // namespace stoker::row_gradient_test
