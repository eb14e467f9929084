#include "stoker/data/ops/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stoker/data/ops/alias_table_internal.h"
#include "stoker/data/ops/drawn_internal.h"
#include "stoker/data/ops/read_numbers_internal.h"
#include "stoker/data/ops/weighted_orders_internal.h"

namespace stoker {
namespace {

// Whether any element may come at any place, so that nothing needs to be known of it.
bool DrawsAllAlike(const Sample& options) {
  return options.replacement && options.weight.empty() && options.weights.empty();
}

// Which weights are drawn by, for Details.
std::string WeightsText(const Sample& options) {
  if (!options.weight.empty()) return "by " + options.weight;
  if (!options.label.empty()) return fmt::format("by the weight of {}", options.label);
  return options.weights.empty() ? "all alike" : "by a list of weights";
}

// The weight of each element of the input of `node`.
Result<std::vector<double>> FindWeights(const DatasetNode& node, const Sample& options,
                                        const OpenContext& context) {
  if (!options.weight.empty()) return ReadNumbers<double>(node, options.weight, context);
  if (options.label.empty()) {
    if (!options.weights.empty()) return options.weights;
    return std::vector<double>(static_cast<size_t>(node.input().cardinality().value()), 1.0);
  }
  STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> labels,
                          ReadNumbers<int64_t>(node, options.label, context));
  std::vector<double> weights;
  weights.reserve(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= std::ssize(options.weights)) {
      return OutOfRange("sample: element {} has {} {}, but weights are given for classes 0 to {}",
                        i, options.label, labels[i], std::ssize(options.weights) - 1);
    }
    weights.push_back(options.weights[static_cast<size_t>(labels[i])]);
  }
  return weights;
}

// That one can draw by them, so often.
Status CheckWeights(const std::vector<double>& weights, const Sample& options, int64_t count) {
  if (count == 0) return OkStatus();
  double sum = 0;
  int64_t positive = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0) {
      return InvalidArgument(
          "sample: element {} has weight {}; weights are finite and not negative", i, weights[i]);
    }
    sum += weights[i];
    positive += weights[i] > 0;
  }
  if (positive == 0 || !std::isfinite(sum)) {
    return InvalidArgument(
        "sample: the weights of the {} elements add up to {}, by which nothing "
        "can be drawn",
        weights.size(), sum);
  }
  if (!options.replacement && count > positive) {
    return InvalidArgument(
        "sample: {} elements are to be drawn without replacement, but only {} have a weight above "
        "0; set count to at most that, or replacement to true",
        count, positive);
  }
  return OkStatus();
}

class SampleNode final : public DrawnNode {
 public:
  SampleNode(Dataset input, const Sample& options, int64_t count)
      : DrawnNode(Sample::kName, std::move(input), count, options.seed), options_(options) {}

  std::string Details() const override {
    return fmt::format("{} {}{}{}", cardinality().ToString(), WeightsText(options_),
                       options_.replacement ? "" : ", without replacement", SeedDetails());
  }

 protected:
  Status Learn(const OpenContext& context) const override {
    if (DrawsAllAlike(options_)) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(std::vector<double> weights, FindWeights(*this, options_, context));
    STOKER_RETURN_IF_ERROR(CheckWeights(weights, options_, cardinality().value()));
    if (cardinality().value() == 0) return OkStatus();
    if (options_.replacement) {
      table_.emplace(weights);
    } else {
      orders_.emplace(std::move(weights), cardinality().value());
    }
    return OkStatus();
  }

  void FindSources(std::span<int64_t> positions, const Key& key,
                   const SharedPermutations& /*permutations*/) const override {
    if (options_.replacement) {
      const auto n = static_cast<uint64_t>(input().cardinality().value());
      for (int64_t& position : positions) {
        Rng rng(key.seed, key.epoch, static_cast<uint64_t>(position), key.stage);
        position = table_ ? table_->Draw(rng) : static_cast<int64_t>(rng.Below(n));
      }
      return;
    }
    const auto order = orders_->Get({key.seed, key.epoch, key.stage});
    for (int64_t& position : positions) position = (*order)[static_cast<size_t>(position)];
  }

 private:
  const Sample options_;
  // One of them, once it has been learnt, or none.
  mutable std::optional<AliasTable> table_;
  mutable std::optional<WeightedOrders> orders_;
};

Status CheckSources(const Sample& options, const Dataset& input) {
  const auto n = static_cast<size_t>(input.cardinality().value());
  if (n > std::numeric_limits<uint32_t>::max() && !DrawsAllAlike(options))
    return Unimplemented("sample: the input has {} elements; at most 2^32 - 1 can be drawn from",
                         n);
  if (!options.weight.empty()) {
    if (!options.label.empty() || !options.weights.empty()) {
      return InvalidArgument(
          "sample: weight names the field of the weights, so label and weights have nothing to "
          "say; give one or the other");
    }
    return CheckNumbersCanBeRead(Sample::kName, input, options.weight, /*integers=*/false);
  }
  if (!options.label.empty()) {
    if (options.weights.empty())
      return InvalidArgument("sample: label is set, but weights, one for each class, are missing");
    return CheckNumbersCanBeRead(Sample::kName, input, options.label, /*integers=*/true);
  }
  if (!options.weights.empty() && options.weights.size() != n) {
    return InvalidArgument(
        "sample: {} weights are given for {} elements; give one for each, or name the field of the "
        "classes as label and give one for each class",
        options.weights.size(), n);
  }
  if (!options.weights.empty() && !input.node().fixed_order()) {
    return InvalidArgument(
        "sample: weights are given by position, but the elements of '{}' do not stand in the same "
        "order in every pass, so each pass would weigh others; put sample before it, or name the "
        "field with the weights as weight",
        input.node().name());
  }
  return OkStatus();
}

}  // namespace

void Sample::Describe(OptionTable<Sample>& table) {
  table
      .Field("count", &Sample::count, "elements in an epoch; auto: as many as the input has",
             AtLeast(0))
      .Field("weight", &Sample::weight, "field with the weight of each element")
      .Field("label", &Sample::label, "field with the class of each element, for weights by class")
      .Field("weights", &Sample::weights,
             "where label is set, a weight for each class, else one for each element", AtLeast(0))
      .Field("replacement", &Sample::replacement,
             "whether an element can come several times in an epoch")
      .Field("seed", &Sample::seed,
             "fixes the draws whatever the run's seed is; auto: the run's seed");
}

Result<Dataset> Sample::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const int64_t draws, CountDraws(kName, input, count));
  STOKER_RETURN_IF_ERROR(CheckSources(*this, input));
  return Dataset(std::make_shared<SampleNode>(std::move(input), *this, draws));
}

}  // namespace stoker
