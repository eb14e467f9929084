// A plug-in whose kinds do what they must not, as their option `does` says, while they are built or
// when they are used. tests/hostile_kinds_test.py holds what the program says then.
#include <ATen/ops/ones.h>
#include <torch/nn/modules/linear.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "stoker/data/data.h"
#include "stoker/run/plugin.h"
#include "stoker/train/core/loss.h"
#include "stoker/train/core/metric.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/parameters.h"

namespace hostile {

using namespace stoker;

// What runs as soon as the library is loaded leaves a trace, and may end the process.
const bool loaded = [] {
  if (const char* trace = std::getenv("HOSTILE_TRACE")) std::ofstream(trace) << "code has run\n";
  if (std::getenv("HOSTILE_EXIT") != nullptr) std::exit(0);
  return true;
}();

void Do(const std::string& what) {
  if (what == "throw") throw std::runtime_error("a text of the plug-in");
  if (what == "throw a number") throw 7;
  if (what == "throw torch's error") static_cast<void>(at::ones({2}) + at::ones({3}));
  if (what == "exit") std::exit(0);
}

// The options that all have.
template <typename Kind>
struct Options {
  std::string does;       // while it is built; "null": Build returns a null pointer
  std::string used_does;  // when it is used

  static void Describe(OptionTable<Kind>& table) {
    table.Field("does", static_cast<std::string Kind::*>(&Kind::does), "while it is built");
    table.Field("used_does", static_cast<std::string Kind::*>(&Kind::used_does), "when used");
  }
};

class Net final : public Model {
 public:
  Net(std::string does, const ModelInput& input)
      : does_(std::move(does)), head_(input.num_values(), 4) {
    register_module("head", head_);
  }
  at::Tensor Forward(const at::Tensor& input) override {
    Do(does_);
    return head_(input.flatten(1));
  }

 private:
  const std::string does_;
  torch::nn::Linear head_;
};

class PlainLoss final : public Loss {
 public:
  explicit PlainLoss(std::string does) : does_(std::move(does)) {}
  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& /*target*/) const override {
    Do(does_);
    return scores.pow(2).mean();
  }

 private:
  const std::string does_;
};

class Count final : public Metric {
 public:
  explicit Count(std::string does) : does_(std::move(does)) {}
  void Add(const ScoredBatch& /*batch*/) override { Do(does_); }
  Json Values() const override { return {{"hostile_metric", 1}}; }

 private:
  const std::string does_;
};

class Rest final : public Optimizer {
 public:
  explicit Rest(std::string does) : does_(std::move(does)) {}
  void Step(const ScheduleValue& /*now*/) override { Do(does_); }
  NamedTensors State() const override { return {}; }

 private:
  const std::string does_;
};

struct HostileModel : Options<HostileModel> {
  static constexpr std::string_view kName = "hostile_model";
  static constexpr std::string_view kHelp = "A model.";
  Result<std::shared_ptr<Model>> Build(const ModelInput& input) const {
    Do(does);
    if (does == "null") return std::shared_ptr<Model>();
    return std::make_shared<Net>(used_does, input);
  }
};

struct HostileLoss : Options<HostileLoss> {
  static constexpr std::string_view kName = "hostile_loss";
  static constexpr std::string_view kHelp = "A loss.";
  Result<std::shared_ptr<const Loss>> Build() const {
    Do(does);
    if (does == "null") return std::shared_ptr<const Loss>();
    return std::make_shared<PlainLoss>(used_does);
  }
};

struct HostileMetric : Options<HostileMetric> {
  static constexpr std::string_view kName = "hostile_metric";
  static constexpr std::string_view kHelp = "A metric.";
  static constexpr Better kBetter = Better::kHigher;
  static constexpr bool Measures(TargetKind /*kind*/) { return true; }
  Result<std::shared_ptr<Metric>> Build(TargetKind /*kind*/) const {
    Do(does);
    if (does == "null") return std::shared_ptr<Metric>();
    return std::make_shared<Count>(used_does);
  }
};

struct HostileOptimizer : Options<HostileOptimizer> {
  static constexpr std::string_view kName = "hostile_optimizer";
  static constexpr std::string_view kHelp = "An optimizer.";
  Result<std::unique_ptr<Optimizer>> Build(const TrainedParameters& /*parameters*/) const {
    Do(does);
    if (does == "null") return std::unique_ptr<Optimizer>();
    return std::make_unique<Rest>(used_does);
  }
};

struct HostileOperator : Options<HostileOperator> {
  static constexpr std::string_view kName = "hostile_operator";
  static constexpr std::string_view kHelp = "An operator.";
  static constexpr bool kArranges = false;
  Result<Dataset> Build(Dataset input) const {
    Do(does);
    return Result(std::move(input)) | Map{.function =
                                              [what = used_does](Element&, Rng&, Scratch&) {
                                                Do(what);
                                                return OkStatus();
                                              },
                                          .output = {},
                                          .random = false};
  }
};

}  // namespace hostile

STOKER_PLUGIN(kinds) {
  kinds.Add<hostile::HostileModel>();
  kinds.Add<hostile::HostileLoss>();
  kinds.Add<hostile::HostileMetric>();
  kinds.Add<hostile::HostileOptimizer>();
  kinds.Add<hostile::HostileOperator>();
}
