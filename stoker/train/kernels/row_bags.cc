#include "stoker/train/kernels/row_bags.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "stoker/train/kernels/table_rows.h"
#include "stoker/train/kernels/value_ranges.h"

namespace stoker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

struct Bags {
  const int64_t* ids;
  const int64_t* offsets;  // of ragged ids; null: each sample has `length`
  int64_t samples, length;
  RowBagOptions options;

  int64_t Begin(int64_t sample) const {
    return offsets != nullptr ? offsets[sample] : sample * length;
  }
  int64_t CountOf(int64_t sample) const {
    const int64_t begin = Begin(sample), end = Begin(sample + 1);
    return end - begin - std::count(ids + begin, ids + end, options.padding);
  }
  // What each row of a sample counts.
  float ShareOf(int64_t sample) const {
    if (options.combine == CombineVectors::kSum) return 1;
    const int64_t count = CountOf(sample);
    return count > 0 ? ShareOfEach(options.combine, count) : 0;
  }
};

// Both contiguous. `offsets` may be undefined.
Bags BagsOf(const at::Tensor& ids, const at::Tensor& offsets, const RowBagOptions& options) {
  if (!offsets.defined())
    return {ids.const_data_ptr<int64_t>(), nullptr, ids.size(0), ids.size(1), options};
  return {ids.const_data_ptr<int64_t>(), offsets.const_data_ptr<int64_t>(), offsets.size(0) - 1, 0,
          options};
}

void SumRange(const Bags& bags, int64_t begin, int64_t end, const float* table, int64_t width,
              float* out) {
  const int64_t last = bags.Begin(end);
  for (int64_t sample = begin; sample < end; ++sample) {
    float* const to = out + sample * width;
    std::fill_n(to, width, 0.0f);
    for (int64_t i = bags.Begin(sample); i < bags.Begin(sample + 1); ++i) {
      if (i + kRowsAhead < last && bags.ids[i + kRowsAhead] != bags.options.padding)
        PrefetchRow(table + bags.ids[i + kRowsAhead] * width, width);
      if (bags.ids[i] == bags.options.padding) continue;
      const float* const from = table + bags.ids[i] * width;
      for (int64_t k = 0; k < width; ++k) to[k] += from[k];
    }
    if (bags.options.combine == CombineVectors::kSum) continue;
    const float share = bags.ShareOf(sample);
    for (int64_t k = 0; k < width; ++k) to[k] *= share;
  }
}

at::Tensor Summed(const at::Tensor& ids, const at::Tensor& offsets, const at::Tensor& table,
                  const RowBagOptions& options) {
  const Bags bags = BagsOf(ids, offsets, options);
  const int64_t width = table.size(1);
  at::Tensor out = at::empty({bags.samples, width}, table.options().requires_grad(false));
  const auto* const from = table.const_data_ptr<float>();
  auto* const to = out.data_ptr<float>();
  ForRangesOfValues(bags.samples, ids.numel() * width, [&](int64_t begin, int64_t end) {
    SumRange(bags, begin, end, from, width, to);
  });
  return out;
}

at::Tensor TableGradient(const at::Tensor& ids, const at::Tensor& offsets, const at::Tensor& grad,
                         int64_t rows, const RowBagOptions& options) {
  const Bags bags = BagsOf(ids, offsets, options);
  const int64_t width = grad.size(1);
  std::vector<RowUse> uses;
  uses.reserve(static_cast<size_t>(ids.numel()));
  for (int64_t sample = 0; sample < bags.samples; ++sample) {
    const float share = bags.ShareOf(sample);
    for (int64_t i = bags.Begin(sample); i < bags.Begin(sample + 1); ++i) {
      if (bags.ids[i] != options.padding)
        uses.push_back({.row = bags.ids[i], .from = sample * width, .share = share});
    }
  }
  return GradientOfRows(uses, grad.const_data_ptr<float>(), rows, width);
}

class RowBagsFunction : public torch::autograd::Function<RowBagsFunction> {
 public:
  // torch takes no undefined tensor here, only an optional one.
  static Variable forward(AutogradContext* context, const Variable& ids,
                          const std::optional<Variable>& offsets, const Variable& table,
                          int64_t padding, int64_t combine) {
    context->save_for_backward({ids, offsets.value_or(Variable())});
    context->saved_data["rows"] = table.size(0);
    context->saved_data["padding"] = padding;
    context->saved_data["combine"] = combine;
    return Summed(ids, offsets.value_or(Variable()), table,
                  {padding, static_cast<CombineVectors>(combine)});
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    auto& saved = context->saved_data;
    const variable_list saved_ids = context->get_saved_variables();
    return {Variable(), Variable(),
            TableGradient(
                saved_ids[0], saved_ids[1], outputs[0].contiguous(), saved["rows"].toInt(),
                {saved["padding"].toInt(), static_cast<CombineVectors>(saved["combine"].toInt())}),
            Variable(), Variable()};
  }
};

}  // namespace

at::Tensor SumRowsOf(const Inputs& ids, const at::Tensor& table, const RowBagOptions& options) {
  const at::Tensor& values = ids.all().front();
  TORCH_CHECK(IsPlainTable(table) && table.dim() == 2 && values.dim() == (ids.ragged(0) ? 1 : 2) &&
                  values.is_cpu() && values.scalar_type() == at::kLong,
              "SumRowsOf takes int64 ids, [samples, length] or ragged, and a float table on the "
              "CPU, here are ",
              values.toString(), ids.ShapesText(), " and ", table.toString(), table.sizes());
  const at::Tensor dense = values.contiguous();
  const at::Tensor offsets = ids.ragged(0) ? ids.offsets(0).contiguous() : at::Tensor();
  if (at::GradMode::is_enabled() && table.requires_grad())
    return RowBagsFunction::apply(dense, std::optional<Variable>(offsets), table, options.padding,
                                  static_cast<int64_t>(options.combine));
  return Summed(dense, offsets, table, options);
}

}  // namespace stoker
