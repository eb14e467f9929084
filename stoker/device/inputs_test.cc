// Inputs with a row for each sample, and ragged ones, whose samples have values of their own
// number.
#include "stoker/device/inputs.h"

#include <torch/utils.h>

#include "stoker/base/testing.h"

namespace stoker::inputs_test {

at::Tensor Whole(const std::vector<int64_t>& numbers) {
  return torch::tensor(numbers, torch::kLong);
}

// A row of two for each of four samples, and the tokens 1 2, none, 3 4 5 and 6.
Inputs RowsAndTokens() {
  Inputs inputs(torch::arange(8, torch::kFloat).view({4, 2}));
  inputs.Add(Whole({1, 2, 3, 4, 5, 6}), Whole({0, 2, 2, 5, 6}));
  return inputs;
}

TEST(Inputs, CountSamplesByTheFirstAlsoWhereItIsRagged) {
  const Inputs both = RowsAndTokens();
  EXPECT_EQ(both.samples(), 4);
  EXPECT_EQ(both.One(1).samples(), 4);
  EXPECT_TRUE(both.any_ragged());
  EXPECT_FALSE(both.One(0).any_ragged());
  EXPECT_EQ(both.Tensors().size(), 3u);
  EXPECT_EQ(both.ShapesText(), "[4, 2] and 4 of 6 values");
}

TEST(Inputs, ARaggedOneIsNoTensorOfSamplesOfOneLength) {
  EXPECT_THROW(RowsAndTokens().One(1).only(), c10::Error);
}

TEST(Inputs, RowsOfARaggedOneAreTheSamplesValues) {
  const Inputs rows = RowsAndTokens().Rows(1, 2);
  EXPECT_TRUE(rows.all()[0].equal(torch::tensor({{2.f, 3.f}, {4.f, 5.f}})));
  EXPECT_TRUE(rows.all()[1].equal(Whole({3, 4, 5})));
  EXPECT_TRUE(rows.offsets(1).equal(Whole({0, 0, 3})));
  EXPECT_EQ(RowsAndTokens().Rows(1, 0).samples(), 0);
}

TEST(Inputs, ARaggedOneCanBeFilledUp) {
  const at::Tensor values = torch::tensor({1, 2, 3, 4, 5, 6}, torch::kLong);
  const at::Tensor places = torch::tensor({0, 2, 2, 3}, torch::kLong);
  EXPECT_TRUE(torch::equal(Inputs::WithOffsets(values.narrow(0, 0, 3), places).Padded(9),
                           torch::tensor({{1, 2}, {9, 9}, {3, 9}}, torch::kLong)));
  EXPECT_TRUE(torch::equal(
      Inputs::WithOffsets(values.view({3, 2}), places).Padded(9),
      torch::tensor({1, 2, 3, 4, 9, 9, 9, 9, 5, 6, 9, 9}, torch::kLong).view({3, 2, 2})));
}

TEST(Inputs, RepeatSamplesUpToTheNumberThatIsWanted) {
  const Inputs six = RowsAndTokens().Repeated(6);
  EXPECT_EQ(six.all()[0].size(0), 6);
  EXPECT_TRUE(six.all()[1].equal(Whole({1, 2, 3, 4, 5, 6, 1, 2})));
  EXPECT_TRUE(six.offsets(1).equal(Whole({0, 2, 2, 5, 6, 8, 8})));
  const Inputs fewer = RowsAndTokens().Repeated(3);
  EXPECT_TRUE(fewer.offsets(1).equal(Whole({0, 2, 2, 5})));
}

TEST(Inputs, CopiesKeepTheOffsets) {
  const Inputs inputs = RowsAndTokens();
  const Inputs copy = inputs.Clone();
  EXPECT_TRUE(copy.offsets(1).equal(inputs.offsets(1)));
  EXPECT_NE(copy.all()[1].data_ptr(), inputs.all()[1].data_ptr());
  EXPECT_TRUE(inputs.To(torch::kCPU).ragged(1));
}

}  // namespace stoker::inputs_test
