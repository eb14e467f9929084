#include "stoker/train/models/joined.h"

#include <ATen/ops/cat.h>
#include <fmt/ranges.h>
#include <torch/nn/modules/linear.h>

#include <algorithm>
#include <utility>

#include "stoker/base/problems.h"
#include "stoker/device/torch_error.h"
#include "stoker/run/build_kind.h"
#include "stoker/train/core/layers.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/sample_of_zeros.h"
#include "stoker/train/models/linear_layers_internal.h"
#include "stoker/train/models/width_range_internal.h"

namespace stoker {
namespace {

struct BuiltTower {
  std::string input;
  std::shared_ptr<Model> model;
  int64_t width = 0;  // of its scores
};

class JoinedModel final : public ModelOfInputs {
 public:
  JoinedModel(const Joined& options, const std::vector<BuiltTower>& towers)
      : dropout_(options.dropout) {
    auto all = register_module("towers", std::make_shared<torch::nn::Module>("towers"));
    int64_t width = 0;
    for (const BuiltTower& tower : towers) {
      names_.push_back(tower.input);
      towers_.push_back(all->register_module(tower.input, tower.model));
      AddBlock("towers." + tower.input, {tower.model});
      width += tower.width;
    }
    layers_ = AddLinearLayers(register_module("layers", torch::nn::ModuleList()), width,
                              options.hidden, options.classes);
  }

  at::Tensor ForwardAll(const Inputs& inputs) override {
    TORCH_CHECK(inputs.all().size() == towers_.size(), "joined takes ", towers_.size(),
                " inputs, and here are ", inputs.all().size());
    std::vector<at::Tensor> parts;
    for (size_t i = 0; i < towers_.size(); ++i) {
      parts.push_back(
          RunBlock(i, inputs.all()[i],
                   [tower = towers_[i], offsets = inputs.offsets(i)](const at::Tensor& values) {
                     return tower->ForwardAll(Inputs::WithOffsets(values, offsets));
                   }));
    }
    at::Tensor x = at::cat(parts, /*dim=*/1).relu_();
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (i > 0) {
        x = x.relu_();
        if (dropout_ > 0) x = Dropout(x, dropout_, is_training());
      }
      x = layers_[i](x);
    }
    return x;
  }

  TokensByInput TokensOfAll() const override {
    TokensByInput tokens;
    for (const std::shared_ptr<Model>& tower : towers_) tokens.push_back(tower->Tokens());
    return tokens;
  }
  // That of a tower's tokens has the name of its input.
  NamedTensors VectorTables() const override {
    NamedTensors tables;
    for (size_t i = 0; i < towers_.size(); ++i) {
      for (NamedTensor& table : towers_[i]->VectorTables()) {
        if (table.name.empty()) table.name = names_[i];
        tables.push_back(std::move(table));
      }
    }
    return tables;
  }
  bool TakesRagged() const override {
    return std::ranges::all_of(towers_, [](const auto& tower) { return tower->TakesRagged(); });
  }
  bool LaunchesAlike() const override {
    return std::ranges::all_of(towers_, [](const auto& tower) { return tower->LaunchesAlike(); });
  }
  bool DropsOut() const override {
    return dropout_ > 0 ||
           std::ranges::any_of(towers_, [](const auto& tower) { return tower->DropsOut(); });
  }

 private:
  const double dropout_;
  std::vector<std::string> names_;              // of the inputs
  std::vector<std::shared_ptr<Model>> towers_;  // in their order
  std::vector<torch::nn::Linear> layers_;
};

// Each input has its tower, and each tower its input.
Status CheckNames(const Joined& joined, const ModelInput& input) {
  std::vector<std::string> wanted, given;
  for (const ModelInput& part : input.parts) wanted.push_back(part.name);
  for (const auto& tower : joined.towers.all()) given.push_back(tower.input);
  std::vector<std::string> sorted = wanted, sorted_given = given;
  std::ranges::sort(sorted);
  std::ranges::sort(sorted_given);
  if (sorted == sorted_given) return OkStatus();
  return InvalidArgument(
      "joined: its towers are {}, and train.input names {}; give each input one tower, of its name",
      fmt::join(given, ", "), fmt::join(wanted, ", "));
}

// How many values it makes of a sample.
Result<int64_t> WidthOf(Model& tower, const ModelInput& input) {
  int64_t width = 0;
  tower.eval();  // batch norm takes one sample
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    const at::NoGradGuard no_grad;
    width = tower.ForwardAll(SampleOfZeros(input)).size(1);
  }));
  tower.train();
  return width;
}

// Errors begin with the place of the tower's model in the recipe.
Result<BuiltTower> BuildTower(const internal::Towers::Tower& tower, const ModelInput& input) {
  const auto placed = [&](const Status& status) {
    const Status with_input = status.While("building the tower " + tower.input);
    if (tower.model.location.file == nullptr) return with_input;
    return Status(status.code(),
                  fmt::format("{}: {}", tower.model.location.ToString(), with_input.message()));
  };
  BuiltTower built{.input = tower.input, .model = nullptr};
  Result<std::shared_ptr<Model>> model = BuildKind(tower.model, input);
  if (!model.ok()) return placed(model.status());
  built.model = *std::move(model);
  const Result<int64_t> width = WidthOf(*built.model, input);
  if (!width.ok()) return placed(width.status());
  built.width = *width;
  return built;
}

}  // namespace

template <>
const std::vector<Option>& OptionsOf<Joined>() {
  static const std::vector<Option> options = WithObjects<Joined>(
      {ObjectOption("towers", &Joined::towers,
                    "for each input of train.input a model, whose outputs (classes) are joined",
                    /*required=*/true)});
  return options;
}

void Joined::Describe(OptionTable<Joined>& table) {
  table
      .Field("classes", &Joined::classes, "number of outputs: one a class, label or number",
             WidthRange())
      .Field("hidden", &Joined::hidden, "widths of the layers before the last", WidthRange())
      .Field("dropout", &Joined::dropout, "share of values dropped before each layer but the first",
             OptionRange{.low = 0, .high = 0.99});
}

Result<std::shared_ptr<Model>> Joined::Build(const ModelInput& input) const {
  STOKER_RETURN_IF_ERROR(CheckNames(*this, input));
  std::vector<BuiltTower> built;
  Problems problems;
  for (const ModelInput& part : input.parts) {
    Result<BuiltTower> tower = BuildTower(*towers.Find(part.name), part);
    problems.Add(tower.status());
    if (tower.ok()) built.push_back(*std::move(tower));
  }
  STOKER_RETURN_IF_ERROR(problems.ToStatus());
  return std::make_shared<JoinedModel>(*this, built);
}

}  // namespace stoker
