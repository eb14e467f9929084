#include "stoker/train/kernels/feature_gather.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <utility>

#include "stoker/train/kernels/table_rows.h"
#include "stoker/train/kernels/value_ranges.h"

namespace stoker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr const char* kGather = "gather";
constexpr const char* kOfRows = "of_rows";
constexpr int64_t kColumnsOfAThread = 32;

struct Matrix {
  const float* values;
  int64_t width;
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
  if (there == 0) return;
  const float share = ShareOfEach(feature.combine, there);
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

std::vector<Matrix> MatricesOf(const std::vector<at::Tensor>& tables) {
  std::vector<Matrix> matrices;
  for (const at::Tensor& table : tables)
    matrices.push_back({table.const_data_ptr<float>(), table.size(1)});
  return matrices;
}

// How many values of a row are used.
int64_t SlotsOf(const FeatureGather& gather) {
  int64_t slots = 0;
  for (const int64_t slot : gather.numbers) slots = std::max(slots, slot + 1);
  for (const GatheredFeature& feature : gather.features)
    slots = std::max(slots, feature.slot + feature.slots);
  return slots;
}

at::Tensor Gathered(const at::Tensor& rows, const FeatureGather& gather,
                    const std::vector<at::Tensor>& tables) {
  const int64_t samples = rows.size(0), slots = rows.size(1);
  at::Tensor out = at::empty({samples, gather.width}, rows.options());
  const std::vector<Matrix> matrices = MatricesOf(tables);
  const float* const from = rows.const_data_ptr<float>();
  float* const to = out.data_ptr<float>();
  ForRangesOfValues(samples, samples * gather.width, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      GatherRow(gather, from + i * slots, matrices, to + i * gather.width);
  });
  return out;
}

// Some columns of a table: what one thread sums the gradients of, over all samples in their order.
struct TableColumns {
  size_t table;
  int64_t begin, end;
};

std::vector<TableColumns> ColumnsOf(const FeatureGather& gather, const std::vector<bool>& of_rows) {
  std::vector<TableColumns> all;
  for (size_t table = 0; table < gather.table_widths.size(); ++table) {
    if (of_rows[table]) continue;
    const int64_t width = gather.table_widths[table];
    for (int64_t begin = 0; begin < width; begin += kColumnsOfAThread)
      all.push_back({table, begin, std::min(begin + kColumnsOfAThread, width)});
  }
  return all;
}

void AddGradients(const FeatureGather& gather, const TableColumns& columns, const at::Tensor& rows,
                  const at::Tensor& grad, float* sums) {
  const int64_t samples = rows.size(0), slots = rows.size(1);
  const int64_t width = gather.table_widths[columns.table];
  const float* row = rows.const_data_ptr<float>();
  const float* from = grad.const_data_ptr<float>();
  for (int64_t i = 0; i < samples; ++i, row += slots, from += gather.width) {
    for (const GatheredFeature& feature : gather.features) {
      if (feature.table != columns.table) continue;
      const float* const of = from + feature.to;
      ForCategories(feature, row, [&](int64_t category, float share) {
        float* const to = sums + (feature.first_row + category) * width;
        for (int64_t k = columns.begin; k < columns.end; ++k) to[k] += share * of[k];
      });
    }
  }
}

at::Tensor GradientOfTable(const FeatureGather& gather, size_t table, const at::Tensor& rows,
                           const at::Tensor& grad) {
  const int64_t samples = rows.size(0), slots = rows.size(1);
  const float* row = rows.const_data_ptr<float>();
  int64_t most = 0;
  for (const GatheredFeature& feature : gather.features)
    if (feature.table == table) most += samples * feature.slots;
  std::vector<RowUse> uses;
  uses.reserve(static_cast<size_t>(most));
  for (int64_t i = 0; i < samples; ++i, row += slots) {
    for (const GatheredFeature& feature : gather.features) {
      if (feature.table != table) continue;
      ForCategories(feature, row, [&](int64_t category, float share) {
        uses.push_back({feature.first_row + category, i * gather.width + feature.to, share});
      });
    }
  }
  return GradientOfRows(uses, grad.const_data_ptr<float>(), gather.table_rows[table],
                        gather.table_widths[table]);
}

std::vector<at::Tensor> TableGradients(const FeatureGather& gather, const at::Tensor& rows,
                                       const at::Tensor& grad, const std::vector<bool>& of_rows) {
  std::vector<at::Tensor> sums;
  for (size_t table = 0; table < gather.table_rows.size(); ++table) {
    sums.push_back(
        of_rows[table]
            ? GradientOfTable(gather, table, rows, grad)
            : at::zeros({gather.table_rows[table], gather.table_widths[table]}, rows.options()));
  }
  const std::vector<TableColumns> columns = ColumnsOf(gather, of_rows);
  ForRangesOfValues(std::ssize(columns), rows.size(0) * gather.width,
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        const TableColumns& mine = columns[static_cast<size_t>(i)];
                        AddGradients(gather, mine, rows, grad, sums[mine.table].data_ptr<float>());
                      }
                    });
  return sums;
}

class GatherFunction : public torch::autograd::Function<GatherFunction> {
 public:
  static Variable forward(AutogradContext* context, const Variable& rows, at::TensorList tables,
                          const c10::intrusive_ptr<FeatureGather>& gather,
                          const std::vector<bool>& of_rows) {
    context->save_for_backward({rows});
    c10::List<bool> kept;
    for (const bool each : of_rows) kept.push_back(each);
    context->saved_data[kOfRows] = kept;
    context->saved_data[kGather] = c10::IValue::make_capsule(gather);
    return Gathered(rows, *gather, tables.vec());
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const at::Tensor rows = context->get_saved_variables().front();
    const auto gather =
        c10::static_intrusive_pointer_cast<FeatureGather>(context->saved_data[kGather].toCapsule());
    const at::Tensor grad = outputs[0].contiguous();
    std::vector<bool> of_rows;
    for (const bool each : context->saved_data[kOfRows].toBoolList()) of_rows.push_back(each);
    variable_list gradients = {Variable()};
    for (at::Tensor& sums : TableGradients(*gather, rows, grad, of_rows))
      gradients.push_back(std::move(sums));
    gradients.resize(gradients.size() + 2);  // of what are no tensors
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
                          const std::vector<at::Tensor>& tables, const std::vector<bool>& of_rows) {
  TORCH_CHECK(CanGatherFeatures(rows, tables) && tables.size() == gather->table_rows.size(),
              "GatherFeatures takes float rows on the CPU and ", gather->table_rows.size(),
              " such tables, here are ", rows.toString(), rows.sizes(), " and ", tables.size());
  TORCH_CHECK(rows.size(1) >= SlotsOf(*gather), "GatherFeatures takes rows of ", SlotsOf(*gather),
              " values, here are ", rows.sizes());
  const bool wants_gradient =
      at::GradMode::is_enabled() &&
      std::ranges::any_of(tables, [](const at::Tensor& table) { return table.requires_grad(); });
  if (wants_gradient) return GatherFunction::apply(rows, at::TensorList(tables), gather, of_rows);
  return Gathered(rows, *gather, tables);
}

}  // namespace stoker
