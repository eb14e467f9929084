// What models of sequences share: which numbers of a batch of tokens are there, and which pad it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "stoker/base/options.h"
#include "stoker/device/inputs.h"
#include "stoker/train/core/known_tokens.h"

namespace stoker {

// Adds the options of such a model's first layer, which are members of T.
template <typename T>
void DescribeTokens(OptionTable<T>& table) {
  table
      .Field("tokens", &T::tokens,
             "how many tokens there are: those of an element are from 0 to below it, such as the "
             "lines of a vocabulary",
             OptionRange{.low = 1, .high = 100'000'000})
      .Field("width", &T::width, "numbers that each token becomes, which are learned",
             OptionRange{.low = 1, .high = 1'000'000})
      .Field("padding", &T::padding,
             "the number that fills shorter sequences up and counts as no token, as padded_batch "
             "writes it (its `padding`)");
}

// Returns where the numbers of an input are tokens: bool, of the shape of its values. On the CPU
// throws c10::Error, which names the sample by its place, where one is none that the model knows.
//   one  [samples, length] or ragged, int64
at::Tensor TokensIn(const Inputs& one, const KnownTokens& known);

}  // namespace stoker
