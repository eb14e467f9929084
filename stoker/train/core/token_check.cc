#include "stoker/train/core/token_check.h"

#include <ATen/ops/aminmax.h>

#include <algorithm>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/data/core/padded_fields.h"

namespace stoker {

namespace {

// The sample that value number `place` of an input is of.
int64_t SampleOf(const Inputs& input, int64_t place) {
  if (!input.ragged(0)) return place / input.all().front().size(1);
  const at::Tensor& offsets = input.offsets(0);
  const std::span begins(offsets.const_data_ptr<int64_t>(), static_cast<size_t>(offsets.size(0)));
  return std::ranges::upper_bound(begins, place) - begins.begin() - 1;
}

}  // namespace

Status CheckTokens(const Inputs& given, const KnownTokens& known, const SampleKey& batch,
                   const RowNames& names) {
  const at::Tensor& values = given.all().front();
  if (values.numel() == 0) return OkStatus();
  // One pass is enough for most batches, and each step makes it.
  const auto [least, greatest] = at::aminmax(values);
  if (least.item<int64_t>() >= 0 && greatest.item<int64_t>() < known.count) return OkStatus();
  // A narrower type may hold neither of the numbers that are compared with.
  const at::Tensor tokens = values.to(at::kLong).flatten();
  const at::Tensor wrong =
      tokens.ne(known.padding).logical_and(tokens.lt(0).logical_or(tokens.ge(known.count)));
  if (!wrong.any().item<bool>()) return OkStatus();
  const auto place = wrong.nonzero()[0].item<int64_t>();
  const int64_t sample = SampleOf(given, place);
  return OutOfRange(
      "{} has the token {}, and the model knows those from 0 to {} (`tokens`) and the padding {} "
      "(`padding`)",
      names(batch, std::span(&sample, 1)), tokens[place].item<int64_t>(), known.count - 1,
      known.padding);
}

std::vector<InputCheck> TokenChecksOf(const TokensByInput& known,
                                      const std::vector<InputField>& inputs,
                                      const RowNames& names) {
  std::vector<InputCheck> checks;
  for (size_t i = 0; i < known.size(); ++i) {
    InputCheck& check = checks.emplace_back();
    if (!known[i]) continue;
    const std::string what = i < inputs.size() && !inputs[i].name.empty()
                                 ? "reading train.input." + inputs[i].name
                                 : std::string();
    check = [known = *known[i], names, what](const Inputs& tokens, const SampleKey& batch) {
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
