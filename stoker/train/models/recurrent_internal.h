// RecurrentModel: what `lstm` and `gru` have in common.
#pragma once

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gru.h>
#include <ATen/ops/lstm.h>
#include <ATen/ops/where.h>
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
    const at::Tensor lengths = inputs.offsets(0).diff().clamp_min(1);
    at::Tensor steps = inputs.Padded(0);
    if (steps.size(1) == 0) steps = at::zeros({steps.size(0), 1, *numbers_}, steps.options());
    return Scores(steps.reshape({steps.size(0), steps.size(1), *numbers_}), lengths);
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
    const at::Tensor rows = batch.flatten(1);
    return Scores(rows.reshape({rows.size(0), rows.size(1) / *numbers_, *numbers_}),
                  /*lengths=*/{});
  }

  // vectors: [samples, longest, width]; lengths: int64, at least 1; undefined: all are equally
  // long. torch's cells refuse a batch without samples, which a rank may get beside others' rows.
  at::Tensor Scores(const at::Tensor& vectors, const at::Tensor& lengths) {
    if (vectors.size(0) == 0)
      return head_(at::zeros({0, options_.units * directions()}, vectors.options()));
    // No kernels of 16 bits for cells, so autocast stays out.
    const auto states = [&] {
      const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
      const at::Tensor steps = Dropped(vectors).to(at::kFloat);
      return lengths.defined() ? StatesAtEnds(steps, lengths) : StatesAtEnd(steps);
    };
    return head_(Dropped(states()));
  }

  at::Tensor Dropped(const at::Tensor& x) const {
    return options_.dropout > 0 ? Dropout(x, options_.dropout, is_training()) : x;
  }

  // Up to the last token.
  static at::Tensor LengthsOf(const at::Tensor& there) {
    const at::Tensor places = at::arange(1, there.size(1) + 1, there.options().dtype(at::kLong));
    return (there * places).amax(1).clamp_min(1);
  }

  // [samples, units * directions], of the last layer.
  at::Tensor StatesAtEnd(const at::Tensor& steps) {
    const at::Tensor states =
        Run(steps, cells_->parameters(), options_.layers, options_.bidirectional).second;
    const int64_t last = states.size(0) - 1;
    return options_.bidirectional ? at::cat({states[last - 1], states[last]}, 1) : states[last];
  }

  // The same where each sequence has a length of its own. Packed sequences (torch's
  // pack_padded_sequence) would give the same; their backward pass takes time by the square of the
  // length, and oneDNN does not know them. So cells run over what fills up, too, and from the end
  // over sequences that were turned around, each within its length.
  at::Tensor StatesAtEnds(const at::Tensor& steps, const at::Tensor& lengths) {
    const std::vector<at::Tensor> all = cells_->parameters();
    if (!options_.bidirectional)
      return AtEnds(Run(steps, all, options_.layers, /*bidirectional=*/false).first, lengths);
    const at::Tensor turned = TurnedPlaces(lengths, steps.size(1));
    at::Tensor layer_input = steps;
    at::Tensor forward, backward;
    for (int64_t layer = 0; layer < options_.layers; ++layer) {
      if (layer > 0) layer_input = at::cat({forward, Turned(backward, turned)}, 2);
      forward = Run(layer_input, PartOf(all, 2 * layer), 1, /*bidirectional=*/false).first;
      backward = Run(Turned(layer_input, turned), PartOf(all, 2 * layer + 1), 1,
                     /*bidirectional=*/false)
                     .first;
    }
    return at::cat({AtEnds(forward, lengths), AtEnds(backward, lengths)}, 1);
  }

  // Of one direction of a layer: two weights and two biases.
  static std::vector<at::Tensor> PartOf(const std::vector<at::Tensor>& all, int64_t number) {
    return {all.begin() + 4 * number, all.begin() + 4 * (number + 1)};
  }

  // The outputs of the last layer, [samples, length, units * directions], and the states after the
  // last step, [layers * directions, samples, units].
  std::pair<at::Tensor, at::Tensor> Run(const at::Tensor& steps,
                                        const std::vector<at::Tensor>& parameters, int64_t layers,
                                        bool bidirectional) {
    const at::Tensor begin = at::zeros(
        {layers * (bidirectional ? 2 : 1), steps.size(0), options_.units}, steps.options());
    if constexpr (kLstm) {
      auto results = at::lstm(steps, {begin, begin}, parameters, /*has_biases=*/true, layers,
                              /*dropout=*/0, is_training(), bidirectional, /*batch_first=*/true);
      return {std::get<0>(std::move(results)), std::get<1>(std::move(results))};
    } else {
      auto results = at::gru(steps, begin, parameters, /*has_biases=*/true, layers, /*dropout=*/0,
                             is_training(), bidirectional, /*batch_first=*/true);
      return {std::get<0>(std::move(results)), std::get<1>(std::move(results))};
    }
  }

  // outputs: [samples, length, width]. Returns [samples, width].
  static at::Tensor AtEnds(const at::Tensor& outputs, const at::Tensor& lengths) {
    const int64_t samples = outputs.size(0);
    const at::Tensor last = (lengths - 1).view({samples, 1, 1});
    return outputs.gather(1, last.expand({samples, 1, outputs.size(2)})).squeeze(1);
  }

  // For each place of a sequence the one that is as far from its end, [samples, length]; what fills
  // it up stays.
  static at::Tensor TurnedPlaces(const at::Tensor& lengths, int64_t length) {
    const at::Tensor places = at::arange(length, lengths.options()).unsqueeze(0);
    const at::Tensor ends = lengths.unsqueeze(1);
    return at::where(places.lt(ends), ends - 1 - places, places);
  }
  static at::Tensor Turned(const at::Tensor& steps, const at::Tensor& turned) {
    return steps.gather(1, turned.unsqueeze(2).expand(steps.sizes()));
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
