// RecurrentModel: what `lstm` and `gru` have in common.
#pragma once

#include <ATen/ops/_pack_padded_sequence.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "stoker/train/core/layers.h"
#include "stoker/train/core/model.h"
#include "stoker/train/models/sequences_internal.h"
#include "stoker/train/models/table_vectors_internal.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {

template <typename T>
void DescribeRecurrent(OptionTable<T>& table) {
  table.Field("classes", &T::classes, "number of outputs: one a class, label or number",
              WidthRange());
  DescribeTokens(table);
  table.Field("units", &T::units, "width of a layer", Between(1, 1'000'000))
      .Field("layers", &T::layers, "layers, each over the outputs of the one before",
             Between(1, 100))
      .Field("bidirectional", &T::bidirectional,
             "whether each layer also reads the sequence from its end")
      .Field(
          "dropout", &T::dropout,
          "share of values dropped of the tokens' vectors, or of the numbers of steps, and before "
          "the output",
          OptionRange{.low = 0, .high = 0.99});
}

// A vector for each token, or the numbers of each step as they are, layers of Cells, and a linear
// layer over the last state of the last one. A sequence ends with its last token or step: what pads
// it is not read, so its scores are the same in any batch. Padding between tokens is read as a
// vector of zeros, and so is a sequence without any token or step, as one of length 1.
//
// Parameters are named as those of torch.nn.Embedding (`embedding`, of tokens alone), torch.nn.LSTM
// or GRU (`recurrent`) and torch.nn.Linear (`head`).
//   Cells  torch::nn::LSTM or torch::nn::GRU
template <typename Cells, typename Options>
class RecurrentModel final : public Model {
 public:
  // `numbers`: those of a step; nothing where the input is tokens.
  RecurrentModel(const Options& options, std::optional<int64_t> numbers)
      : options_(options),
        numbers_(numbers),
        embedding_(numbers ? torch::nn::Embedding(nullptr)
                           : torch::nn::Embedding(options.tokens, options.width)) {
    using CellOptions = std::conditional_t<kLstm, torch::nn::LSTMOptions, torch::nn::GRUOptions>;
    if (takes_tokens()) register_module("embedding", embedding_);
    const int64_t width = numbers.value_or(options.width);
    cells_ = register_module("recurrent", Cells(CellOptions(width, options.units)
                                                    .num_layers(options.layers)
                                                    .bidirectional(options.bidirectional)));
    register_module("head", head_);
  }

  bool DropsOut() const override { return options_.dropout > 0; }
  bool ReadsSequences() const override { return true; }
  std::optional<KnownTokens> Tokens() const override {
    if (!takes_tokens()) return std::nullopt;
    return KnownTokens{.count = options_.tokens, .padding = options_.padding};
  }
  NamedTensors VectorTables() const override {
    return takes_tokens() ? NamedTensors{{"", embedding_->weight}} : NamedTensors{};
  }

  at::Tensor Forward(const at::Tensor& batch) override {
    return takes_tokens() ? ScoresOfTokens(batch) : ScoresOfSteps(batch);
  }
  at::Tensor ForwardAll(const Inputs& inputs) override {
    if (takes_tokens() || !inputs.any_ragged()) return Model::ForwardAll(inputs);
    const at::Tensor lengths = inputs.offsets(0).diff().clamp_min(1).cpu();
    at::Tensor steps = inputs.Padded(0);
    if (steps.size(1) == 0) steps = at::zeros({steps.size(0), 1, *numbers_}, steps.options());
    return ScoresOf(steps.reshape({steps.size(0), steps.size(1), *numbers_}), lengths);
  }
  TrainingScores ForwardAllToTrain(const Inputs& inputs) override {
    return {ForwardAll(inputs), {}};
  }

 private:
  static constexpr bool kLstm = std::is_same_v<Cells, torch::nn::LSTM>;

  bool takes_tokens() const { return !numbers_; }
  int64_t directions() const { return options_.bidirectional ? 2 : 1; }

  at::Tensor ScoresOfTokens(const at::Tensor& batch) {
    const at::Tensor input =
        batch.size(1) > 0 ? batch : at::full({batch.size(0), 1}, options_.padding, batch.options());
    const at::Tensor there = TokensIn(input, *Tokens());
    const at::Tensor known = input.masked_fill(there.logical_not(), 0);
    const at::Tensor vectors = CountedVectors(embedding_, known, there);
    return Scores(vectors, LengthsOf(there));
  }

  // All of one length.
  at::Tensor ScoresOfSteps(const at::Tensor& batch) {
    int64_t numbers_of_sample = 1;
    for (int64_t i = 1; i < batch.dim(); ++i) numbers_of_sample *= batch.size(i);
    const at::Tensor steps =
        batch.reshape({batch.size(0), numbers_of_sample / *numbers_, *numbers_});
    return ScoresOf(steps, /*lengths=*/{});
  }

  // vectors: [samples, longest, width]; lengths: int64 on the CPU, at least 1. Packing refuses a
  // batch without samples, which a rank may get beside others' rows.
  at::Tensor Scores(const at::Tensor& vectors, const at::Tensor& lengths) {
    if (vectors.size(0) == 0) return ScoresOfNone(vectors);
    return head_(Dropped(LastStates(Dropped(vectors), lengths)));
  }

  // The same of steps of numbers, which may be many: the backward pass of packed sequences takes
  // time by the square of their length, so only those that are also read from their ends are
  // packed.
  //   lengths  undefined: all are equally long
  at::Tensor ScoresOf(const at::Tensor& steps, const at::Tensor& lengths) {
    if (steps.size(0) == 0) return ScoresOfNone(steps);
    if (lengths.defined() && options_.bidirectional) return Scores(steps, lengths);
    return head_(Dropped(LastStatesOfPadded(Dropped(steps), lengths)));
  }

  at::Tensor ScoresOfNone(const at::Tensor& vectors) {
    return head_(at::zeros({0, options_.units * directions()}, vectors.options()));
  }

  at::Tensor Dropped(const at::Tensor& x) const {
    return options_.dropout > 0 ? Dropout(x, options_.dropout, is_training()) : x;
  }

  // Up to the last token, on the CPU, as packing wants them.
  static at::Tensor LengthsOf(const at::Tensor& there) {
    const at::Tensor places = at::arange(1, there.size(1) + 1, there.options().dtype(at::kLong));
    return (there * places).amax(1).clamp_min(1).cpu();
  }

  // Packed sequences come with the longest first. torch's cells have no kernels of 16 bits for
  // them, so autocast stays out.
  at::Tensor LastStates(const at::Tensor& vectors, const at::Tensor& lengths) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const at::Tensor order = lengths.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
    const at::Tensor back = order.argsort().to(vectors.device());
    const auto [data, batch_sizes] = at::_pack_padded_sequence(
        vectors.to(at::kFloat).index_select(0, order.to(vectors.device())),
        lengths.index_select(0, order), /*batch_first=*/true);
    const at::Tensor states = StatesAtEnd(data, batch_sizes, vectors.size(0));
    return OfLastLayer(states).index_select(0, back);
  }

  at::Tensor LastStatesOfPadded(const at::Tensor& steps, const at::Tensor& lengths) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const int64_t samples = steps.size(0);
    const auto [outputs, states] = OutputsAndStates(steps.to(at::kFloat));
    if (!lengths.defined()) return OfLastLayer(states);
    const at::Tensor last = (lengths - 1).to(outputs.device()).view({samples, 1, 1});
    return outputs.gather(1, last.expand({samples, 1, outputs.size(2)})).squeeze(1);
  }

  // The outputs of the last layer, [samples, length, units * directions], and the states after the
  // last step.
  std::pair<at::Tensor, at::Tensor> OutputsAndStates(const at::Tensor& steps) {
    const at::Tensor begin = BeginningOf(steps, steps.size(0));
    const std::vector<at::Tensor> parameters = cells_->parameters();
    if constexpr (kLstm) {
      const auto [outputs, states, memory] =
          at::lstm(steps, {begin, begin}, parameters, /*has_biases=*/true, options_.layers,
                   /*dropout=*/0, is_training(), options_.bidirectional, /*batch_first=*/true);
      return {outputs, states};
    } else {
      const auto [outputs, states] =
          at::gru(steps, begin, parameters, /*has_biases=*/true, options_.layers, /*dropout=*/0,
                  is_training(), options_.bidirectional, /*batch_first=*/true);
      return {outputs, states};
    }
  }

  at::Tensor OfLastLayer(const at::Tensor& states) const {
    const int64_t last = states.size(0) - 1;
    return options_.bidirectional ? at::cat({states[last - 1], states[last]}, 1) : states[last];
  }

  at::Tensor BeginningOf(const at::Tensor& data, int64_t samples) const {
    return at::zeros({options_.layers * directions(), samples, options_.units}, data.options());
  }

  // [layers * directions, samples, units]
  at::Tensor StatesAtEnd(const at::Tensor& data, const at::Tensor& batch_sizes, int64_t samples) {
    const at::Tensor begin = BeginningOf(data, samples);
    const std::vector<at::Tensor> parameters = cells_->parameters();
    if constexpr (kLstm) {
      return std::get<1>(at::lstm(data, batch_sizes, {begin, begin}, parameters,
                                  /*has_biases=*/true, options_.layers, /*dropout=*/0,
                                  is_training(), options_.bidirectional));
    } else {
      return std::get<1>(at::gru(data, batch_sizes, begin, parameters, /*has_biases=*/true,
                                 options_.layers, /*dropout=*/0, is_training(),
                                 options_.bidirectional));
    }
  }

  const Options options_;
  const std::optional<int64_t> numbers_;
  torch::nn::Embedding embedding_;
  Cells cells_{nullptr};
  torch::nn::Linear head_{options_.units * directions(), options_.classes};
};

// REQUIRES: CheckTakes has passed. Errors: kInvalidArgument where the input is numbers and options
// of tokens have other values than their defaults.
template <typename Cells, typename Options>
Result<std::shared_ptr<Model>> BuildRecurrent(const Options& options, const ModelInput& input) {
  using Made = RecurrentModel<Cells, Options>;
  if (input.tokens) return std::make_shared<Made>(options, std::nullopt);
  const Options defaults;
  if (options.tokens != defaults.tokens || options.width != defaults.width ||
      options.padding != defaults.padding) {
    return InvalidArgument(
        "{}: tokens, width and padding are for sequences of tokens, whole numbers, and the field "
        "of train.input holds floating-point numbers, {}; leave them out, or set train.input to "
        "the field of the tokens",
        Options::kName, input.ToString());
  }
  return std::make_shared<Made>(options, input.NumbersAStep());
}

}  // namespace stoker
