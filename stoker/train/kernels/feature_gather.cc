#include "stoker/train/kernels/feature_gather.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <utility>

#include "stoker/device/torch_threads.h"

namespace stoker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr const char* kGather = "gather";
// Fewer values than this are not worth waking other threads.
constexpr int64_t kValuesForThreads = 1 << 16;

struct Matrix {
  const float* values;
  int64_t rows, width;
};

// Calls add(category, share) for each category of a feature in one row.
template <typename Add>
void ForCategories(const GatheredFeature& feature, const float* row, const Add& add) {
  const float* const slots = row + feature.slot;
  const auto last = static_cast<float>(feature.categories - 1);
  if (feature.slots == 1) {
    if (slots[0] >= 0) add(static_cast<int64_t>(std::min(slots[0], last)), 1.0f);
    return;
  }
  int64_t there = 0;
  for (int64_t i = 0; i < feature.slots; ++i) there += slots[i] >= 0 ? 1 : 0;
  const float share = feature.mean && there > 0 ? 1 / static_cast<float>(there) : 1;
  for (int64_t i = 0; i < feature.slots; ++i) {
    if (slots[i] >= 0) add(static_cast<int64_t>(std::min(slots[i], last)), share);
  }
}

void GatherRow(const FeatureGather& gather, const float* row, const std::vector<Matrix>& tables,
               float* out) {
  const size_t numbers = gather.numbers.size();
  for (size_t i = 0; i < numbers; ++i) out[i] = row[gather.numbers[i]];
  std::fill(out + numbers, out + gather.width, 0.0f);
  for (const GatheredFeature& feature : gather.features) {
    float* const to = out + feature.to;
    ForCategories(feature, row, [&](int64_t category, float share) {
      if (!feature.table) {
        to[category] += share;
        return;
      }
      const Matrix& table = tables[*feature.table];
      const float* const from = table.values + (feature.first_row + category) * table.width;
      for (int64_t k = 0; k < table.width; ++k) to[k] += share * from[k];
    });
  }
}

// The tables' values where only their sizes matter.
std::vector<Matrix> MatricesOf(const std::vector<at::Tensor>& tables) {
  std::vector<Matrix> matrices;
  for (const at::Tensor& table : tables)
    matrices.push_back({table.const_data_ptr<float>(), table.size(0), table.size(1)});
  return matrices;
}

void ForRanges(int64_t n, int64_t values, const std::function<void(int64_t, int64_t)>& work) {
  if (values < kValuesForThreads) return work(0, n);
  ForRangesOnTorchThreads(n, work);
}

at::Tensor Gathered(const at::Tensor& rows, const FeatureGather& gather,
                    const std::vector<at::Tensor>& tables) {
  const int64_t samples = rows.size(0), slots = rows.size(1);
  at::Tensor out = at::empty({samples, gather.width}, rows.options());
  const std::vector<Matrix> matrices = MatricesOf(tables);
  const float* const from = rows.const_data_ptr<float>();
  float* const to = out.data_ptr<float>();
  ForRanges(samples, samples * gather.width, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      GatherRow(gather, from + i * slots, matrices, to + i * gather.width);
  });
  return out;
}

// Adds the gradients of the rows begin to end of one table: all samples in their order, so each row
// has its sum from one thread.
void AddTableGradient(const FeatureGather& gather, size_t table, const at::Tensor& rows,
                      const at::Tensor& grad, int64_t begin, int64_t end, float* sums) {
  const int64_t samples = rows.size(0), slots = rows.size(1), width = gather.table_widths[table];
  for (int64_t i = 0; i < samples; ++i) {
    const float* const row = rows.const_data_ptr<float>() + i * slots;
    for (const GatheredFeature& feature : gather.features) {
      if (feature.table != table) continue;
      const float* const from = grad.const_data_ptr<float>() + i * gather.width + feature.to;
      ForCategories(feature, row, [&](int64_t category, float share) {
        const int64_t at = feature.first_row + category;
        if (at < begin || at >= end) return;
        float* const to = sums + at * width;
        for (int64_t k = 0; k < width; ++k) to[k] += share * from[k];
      });
    }
  }
}

at::Tensor TableGradient(const FeatureGather& gather, size_t table, const at::Tensor& rows,
                         const at::Tensor& grad) {
  at::Tensor sums =
      at::zeros({gather.table_rows[table], gather.table_widths[table]}, rows.options());
  float* const values = sums.data_ptr<float>();
  ForRanges(gather.table_rows[table], rows.size(0) * gather.table_widths[table],
            [&](int64_t begin, int64_t end) {
              AddTableGradient(gather, table, rows, grad, begin, end, values);
            });
  return sums;
}

class GatherFunction : public torch::autograd::Function<GatherFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& rows, at::TensorList tables,
                          const c10::intrusive_ptr<FeatureGather>& gather) {
    context->save_for_backward({rows});
    context->saved_data[kGather] = c10::IValue::make_capsule(gather);
    return Gathered(rows, *gather, tables.vec());
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const at::Tensor rows = context->get_saved_variables().front();
    const auto gather = c10::static_intrusive_pointer_cast<FeatureGather>(
        context->saved_data[kGather].toCapsule());
    const at::Tensor grad = outputs[0].contiguous();
    variable_list gradients = {Variable()};
    for (size_t table = 0; table < gather->table_rows.size(); ++table)
      gradients.push_back(TableGradient(*gather, table, rows, grad));
    gradients.emplace_back();
    return gradients;
  }
};

}  // namespace

bool CanGatherFeatures(const at::Tensor& rows, const std::vector<at::Tensor>& tables) {
  const auto plain = [](const at::Tensor& tensor) {
    return tensor.dim() == 2 && tensor.is_cpu() && tensor.scalar_type() == at::kFloat &&
           tensor.is_contiguous();
  };
  return plain(rows) && !rows.requires_grad() && std::ranges::all_of(tables, plain);
}

at::Tensor GatherFeatures(const at::Tensor& rows, const c10::intrusive_ptr<FeatureGather>& gather,
                          const std::vector<at::Tensor>& tables) {
  TORCH_CHECK(CanGatherFeatures(rows, tables) && tables.size() == gather->table_rows.size(),
              "GatherFeatures takes float rows on the CPU and ", gather->table_rows.size(),
              " such tables, here are ", rows.toString(), rows.sizes(), " and ", tables.size());
  const bool wants_gradient =
      at::GradMode::is_enabled() &&
      std::ranges::any_of(tables, [](const at::Tensor& table) { return table.requires_grad(); });
  if (wants_gradient) return GatherFunction::apply(rows, at::TensorList(tables), gather);
  return Gathered(rows, *gather, tables);
}

}  // namespace stoker
