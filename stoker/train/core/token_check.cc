#include "stoker/train/core/token_check.h"

#include <ATen/ops/aminmax.h>

#include <algorithm>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/data/core/padded_fields.h"

namespace stoker {

Status CheckTokens(const at::Tensor& given, const KnownTokens& known, const SampleKey& batch,
                   const RowNames& names) {
  if (given.numel() == 0) return OkStatus();
  // One pass is enough for most batches, and each step makes it.
  const auto [least, greatest] = at::aminmax(given);
  if (least.item<int64_t>() >= 0 && greatest.item<int64_t>() < known.count) return OkStatus();
  // A narrower type may hold neither of the numbers that are compared with.
  const at::Tensor tokens = given.to(at::kLong);
  const at::Tensor wrong =
      tokens.ne(known.padding).logical_and(tokens.lt(0).logical_or(tokens.ge(known.count)));
  if (!wrong.any().item<bool>()) return OkStatus();
  const at::Tensor first = wrong.nonzero()[0];
  const auto row = first[0].item<int64_t>(), column = first[1].item<int64_t>();
  return OutOfRange(
      "{} has the token {}, and the model knows those from 0 to {} (`tokens`) and the padding {} "
      "(`padding`)",
      names(batch, std::span(&row, 1)), tokens[row][column].item<int64_t>(), known.count - 1,
      known.padding);
}

std::vector<BatchCheck> TokenChecksOf(const TokensByInput& known,
                                      const std::vector<InputField>& inputs,
                                      const RowNames& names) {
  std::vector<BatchCheck> checks;
  for (size_t i = 0; i < known.size(); ++i) {
    BatchCheck& check = checks.emplace_back();
    if (!known[i]) continue;
    const std::string what = i < inputs.size() && !inputs[i].name.empty()
                                 ? "reading train.input." + inputs[i].name
                                 : std::string();
    check = [known = *known[i], names, what](const at::Tensor& tokens, const SampleKey& batch) {
      const Status status = CheckTokens(tokens, known, batch, names);
      return what.empty() ? status : status.While(what);
    };
  }
  return checks;
}

namespace {

Status CheckPadding(const KnownTokens& known, const Dataset& batches, std::string_view input,
                    std::string_view name) {
  for (const double padding : FindPaddings(batches, input)) {
    if (padding == static_cast<double>(known.padding)) continue;
    return InvalidArgument(
        "{} fills the shorter sequences of '{}' up with {}, and the model takes {} as what fills "
        "them up, so scores would depend on the other samples of a batch: give both the same "
        "`padding`",
        name, input, padding, known.padding);
  }
  return OkStatus();
}

}  // namespace

Status CheckPaddings(const TokensByInput& known, const Dataset& batches,
                     const std::vector<InputField>& inputs, std::string_view name) {
  Problems problems;
  for (size_t i = 0; i < std::min(known.size(), inputs.size()); ++i) {
    if (known[i]) problems.Add(CheckPadding(*known[i], batches, inputs[i].field, name));
  }
  return problems.ToStatus();
}

}  // namespace stoker
