#include "stoker/train/models/embedding_bag.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding_bag.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/modules/embedding.h>

#include "stoker/data/core/combine_vectors.h"
#include "stoker/train/core/layers.h"
#include "stoker/train/core/model.h"
#include "stoker/train/kernels/row_bags.h"
#include "stoker/train/kernels/table_rows.h"
#include "stoker/train/models/linear_layers_internal.h"
#include "stoker/train/models/sequences_internal.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {
namespace {

// Of at::embedding_bag.
constexpr int64_t kSumOfBag = 0, kMeanOfBag = 1, kMostOfBag = 2;
int64_t ModeOf(const std::string& combine) {
  if (combine == "max") return kMostOfBag;
  return combine == "mean" ? kMeanOfBag : kSumOfBag;
}

class EmbeddingBagModel final : public Model {
 public:
  explicit EmbeddingBagModel(const EmbeddingBag& options)
      : options_(options),
        embedding_(
            register_module("embedding", torch::nn::Embedding(options.tokens, options.width))) {
    layers_ = AddLinearLayers(register_module("layers", torch::nn::ModuleList()), options.width,
                              options.hidden, options.classes);
  }

  bool DropsOut() const override { return options_.dropout > 0; }
  std::optional<KnownTokens> Tokens() const override {
    return KnownTokens{.count = options_.tokens, .padding = options_.padding};
  }
  NamedTensors VectorTables() const override { return {{"", embedding_->weight}}; }

  at::Tensor Forward(const at::Tensor& input) override { return ForwardAll(input); }
  TrainingScores ForwardAllToTrain(const Inputs& inputs) override {
    return {ForwardAll(inputs), {}};
  }
  at::Tensor ForwardAll(const Inputs& inputs) override {
    at::Tensor x = Combined(inputs);
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (options_.dropout > 0) x = Dropout(x, options_.dropout, is_training());
      x = layers_[i](x);
      if (i + 1 < layers_.size()) x = x.relu();
    }
    return x;
  }

 private:
  at::Tensor Combined(const Inputs& inputs) {
    const at::Tensor& values = inputs.all().front();
    const at::Tensor there = TokensIn(inputs, *Tokens());
    const at::Tensor& table = embedding_->weight;
    const bool of_rows = embedding_->options.sparse(), greatest = options_.combine == "max";
    if (of_rows && !greatest && values.is_cpu() && IsPlainTable(table))
      return SumRowsOf(inputs, table, {options_.padding, CombineNamed(options_.combine)});
    const at::Tensor tokens = values.masked_select(there);
    const at::Tensor begins = BeginsOf(inputs, there);
    if (of_rows && greatest) {
      // torch has no gradient of rows of the greatest values, but of the vectors themselves.
      const at::Tensor each = at::arange(tokens.size(0), tokens.options());
      return BagsOf(embedding_(tokens), each, begins, /*of_rows=*/false);
    }
    const at::Tensor bags = BagsOf(table, tokens, begins, of_rows);
    return options_.combine == "sqrtn" ? bags / RootOfCounts(begins, tokens.size(0)) : bags;
  }

  // Of how many tokens each sample has, [samples, 1]; 1 for none.
  static at::Tensor RootOfCounts(const at::Tensor& begins, int64_t tokens) {
    const at::Tensor ends = at::cat({begins, at::full({1}, tokens, begins.options())});
    return ends.diff().clamp_min(1).sqrt().unsqueeze(1);
  }

  // Only tokens travel on, each sample's one after the other: padding costs nothing then. Returns
  // where each sample's begin.
  static at::Tensor BeginsOf(const Inputs& inputs, const at::Tensor& there) {
    // Of each place, or of each sample, how many tokens come before it.
    const at::Tensor ends = (inputs.ragged(0) ? there : there.sum(1)).cumsum(0);
    const at::Tensor before = at::cat({at::zeros({1}, ends.options()), ends});
    if (!inputs.ragged(0)) return before.narrow(0, 0, ends.size(0));
    return before.index_select(0, inputs.offsets(0).narrow(0, 0, inputs.samples()));
  }

  at::Tensor BagsOf(const at::Tensor& table, const at::Tensor& tokens, const at::Tensor& begins,
                    bool of_rows) const {
    return std::get<0>(at::embedding_bag(table, tokens, begins, /*scale_grad_by_freq=*/false,
                                         ModeOf(options_.combine), of_rows));
  }

  const EmbeddingBag options_;
  torch::nn::Embedding embedding_;
  std::vector<torch::nn::Linear> layers_;
};

}  // namespace

void EmbeddingBag::Describe(OptionTable<EmbeddingBag>& table) {
  table.Field("classes", &EmbeddingBag::classes, "number of outputs: one a class, label or number",
              WidthRange());
  DescribeTokens(table);
  table
      .Field("combine", &EmbeddingBag::combine, "what becomes of the vectors of a sample",
             OneOf{{"mean", "sum", "sqrtn", "max"}})
      .Field("hidden", &EmbeddingBag::hidden, "widths of the layers before the last", WidthRange())
      .Field("dropout", &EmbeddingBag::dropout, "share of values dropped before each layer",
             OptionRange{.low = 0, .high = 0.99});
}

Result<std::shared_ptr<Model>> EmbeddingBag::Build(const ModelInput& /*input*/) const {
  return std::make_shared<EmbeddingBagModel>(*this);
}

}  // namespace stoker
