#include "stoker/train/check/model_lint.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/nn/modules/batchnorm.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "stoker/data/options/whole_pipeline.h"
#include "stoker/device/accelerator.h"
#include "stoker/device/feeder.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/check/input_lint.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/parameters.h"
#include "stoker/train/plan/channel_order.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/plan/first_batch.h"
#include "stoker/train/step/learner.h"
#include "stoker/train/step/random_state.h"

namespace stoker {
namespace {

using torch::autograd::AccumulateGrad;
using torch::autograd::Node;

// Enough for a batch norm; more would only take time.
constexpr int64_t kSamples = 8;
constexpr int64_t kTensorCoreMultiple = 8;

// "conv1" of "conv1.weight".
std::string LayerOf(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? parameter : parameter.substr(0, dot);
}

// How scores came to be: the graph that a backward pass would go through.
class GradientGraph {
 public:
  GradientGraph(const TrainingScores& scores, const Model& model) {
    for (const auto& item : model.named_parameters()) {
      names_[item.value().unsafeGetTensorImpl()] = item.key();
    }
    Walk(scores.scores);
    for (const AuxiliaryScores& head : scores.auxiliary) Walk(head.scores);
  }

  const std::vector<Node*>& nodes() const { return nodes_; }
  // The name of the parameter that is input number `input` of an operator; empty for others.
  std::string ParameterAt(const Node& node, size_t input) const {
    if (input >= node.next_edges().size()) return "";
    const auto* leaf = dynamic_cast<const AccumulateGrad*>(node.next_edge(input).function.get());
    if (leaf == nullptr) return "";
    const auto found = names_.find(leaf->variable.unsafeGetTensorImpl());
    return found == names_.end() ? "" : found->second;
  }
  bool Reaches(const at::Tensor& parameter) const {
    return reached_.contains(parameter.unsafeGetTensorImpl());
  }

 private:
  void Walk(const at::Tensor& from) {
    std::vector<Node*> open = {from.grad_fn().get()};
    while (!open.empty()) {
      Node* const node = open.back();
      open.pop_back();
      if (node == nullptr || !seen_.insert(node).second) continue;
      nodes_.push_back(node);
      if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(node)) {
        reached_.insert(leaf->variable.unsafeGetTensorImpl());
      }
      for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
    }
  }

  std::unordered_map<const c10::TensorImpl*, std::string> names_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> seen_;
  std::unordered_set<const c10::TensorImpl*> reached_;
};

using Findings = std::vector<LintFinding>;

// The batch norms by their names, in the order of registration.
std::vector<std::string> NormsOf(const Model& model) {
  namespace nn = torch::nn;
  std::vector<std::string> names;
  for (const auto& item : model.named_modules("", /*include_self=*/false)) {
    const nn::Module& module = *item.value();
    if (module.as<nn::BatchNorm1dImpl>() || module.as<nn::BatchNorm2dImpl>() ||
        module.as<nn::BatchNorm3dImpl>()) {
      names.push_back(item.key());
    }
  }
  return names;
}

void LintBatchSize(const Model& model, int64_t samples, Findings& findings) {
  const std::vector<std::string> norms = NormsOf(model);
  if (samples != 1 || norms.empty()) return;
  findings.push_back(
      {.rule = "batch_of_one",
       .where = norms.front(),
       .problem =
           fmt::format("batch norm{} over batches of one sample takes its mean and deviation "
                       "from that sample alone",
                       norms.size() > 1 ? fmt::format(" (and {} more)", norms.size() - 1) : ""),
       .advice = "give `batch` a larger size; train.accumulate does not help, since each batch is "
                 "normalised by itself"});
}

bool IsNamed(const Node& node, std::string_view part) {
  return node.name().find(part) != std::string::npos;
}

// Convolutions have the inputs (values, weight, bias), addmm has (bias, values, weight).
std::string BiasOf(const GradientGraph& graph, const Node& node) {
  if (IsNamed(node, "Convolution")) return graph.ParameterAt(node, 2);
  if (IsNamed(node, "Addmm")) return graph.ParameterAt(node, 0);
  return "";
}

void LintBiases(const GradientGraph& graph, Findings& findings) {
  for (const Node* node : graph.nodes()) {
    if (!IsNamed(*node, "BatchNorm") || node->next_edges().empty()) continue;
    const Node* const before = node->next_edge(0).function.get();
    const std::string bias = before == nullptr ? "" : BiasOf(graph, *before);
    if (bias.empty()) continue;
    const std::string norm = LayerOf(graph.ParameterAt(*node, 1));
    findings.push_back(
        {.rule = "conv_bias",
         .where = LayerOf(bias),
         .problem = fmt::format("its bias is taken away again by the batch norm{} after it",
                                norm.empty() ? "" : fmt::format(" {}", norm)),
         .advice = "make the layer without one (bias(false)): less memory, and a pass less"});
  }
}

void LintScores(const TrainingScores& scores, Findings& findings) {
  const auto& node = scores.scores.grad_fn();
  if (!node) return;
  const bool log = IsNamed(*node, "LogSoftmax");
  const bool softmax = IsNamed(*node, "Softmax"), sigmoid = IsNamed(*node, "Sigmoid");
  if (!softmax && !sigmoid) return;
  findings.push_back(
      {.rule = "softmax",
       .where = "scores",
       .problem = fmt::format("the model ends with a {}, and the loss does that itself: {}",
                              log       ? "log-softmax"
                              : softmax ? "softmax"
                                        : "sigmoid",
                              log ? "it costs time twice" : "its gradients nearly vanish"),
       .advice = "return what goes into it; `stoker predict` gives probabilities all the same"});
}

void LintGradients(const GradientGraph& graph, const Model& model, Findings& findings) {
  for (const auto& [name, parameter] : ParametersOf(model)) {
    if (!parameter.requires_grad() || graph.Reaches(parameter)) continue;
    findings.push_back(
        {.rule = "no_gradient",
         .where = name,
         .problem = "the loss does not depend on this parameter, so it never learns, and weight "
                    "decay shrinks it",
         .advice =
             "use it in Forward (was the layer forgotten, or its result detached?), or do not "
             "register it"});
  }
}

// The channels that come in are of no weight in the first layer, those that go out not where they
// are classes.
void LintChannels(const Model& model, int64_t classes, bool accelerator, Findings& findings) {
  bool first = true;
  for (const auto& [name, parameter] : ParametersOf(model)) {
    // Rows of embeddings are looked up, and no matrix.
    if (parameter.dim() < 2 || name.find("embeddings.") != std::string::npos) continue;
    const int64_t out = parameter.size(0), in = parameter.size(1);
    const bool wide = out % kTensorCoreMultiple == 0 || out == classes;
    const bool fits = std::exchange(first, false) || in % kTensorCoreMultiple == 0 || in == 1;
    if (wide && fits) continue;
    findings.push_back(
        {.rule = "tensor_cores",
         .where = LayerOf(name),
         .problem =
             fmt::format("{} channels in and {} out: tensor cores work on multiples of {}, so "
                         "on an accelerator some of its work is in vain",
                         in, out, kTensorCoreMultiple),
         .advice = fmt::format(
             "make it {} in and {} out",
             (in + kTensorCoreMultiple - 1) / kTensorCoreMultiple * kTensorCoreMultiple,
             (out + kTensorCoreMultiple - 1) / kTensorCoreMultiple * kTensorCoreMultiple),
         .hint = !accelerator});
  }
}

// More names than classes are an error (recipe.cc); fewer may be meant.
void LintClasses(const Recipe& recipe, Findings& findings) {
  const ConfigNode* const node = recipe.model.node.entries.front().value.Find("classes");
  int64_t classes = 0;
  if (node == nullptr || recipe.data.classes.empty() || !ReadOption(*node, classes).ok()) return;
  const auto names = std::ssize(recipe.data.classes);
  if (names >= classes) return;
  findings.push_back(
      {.rule = "classes",
       .where = fmt::format("model.{}.classes", recipe.model.name),
       .problem =
           fmt::format("the model tells {} classes apart, but the data has only {} ('{}', ...)",
                       classes, names, recipe.data.classes.front()),
       .advice = fmt::format("set it to {}, unless some are missing in the data", names)});
}

void LintLayout(const Recipe& recipe, Findings& findings) {
  for (const InputField& input : recipe.train.options.AllInputs()) {
    const std::optional<ChannelDoubt> doubt = DoubtChannels(recipe.data.train, input.field);
    if (!doubt) continue;
    findings.push_back({.rule = "layout",
                        .where = input.field,
                        .problem = doubt->problem,
                        .advice = doubt->advice});
  }
}

// The values of an input, as they reach the model.
//   sample     one of its samples
//   sequences  whether the model reads sequences
void LintInput(const at::Tensor& input, std::string_view field, const ConfigNode* pipeline,
               const ModelInput& sample, bool sequences, Findings& findings) {
  const FeatureLayout& features = sample.features;
  at::Tensor values = input.detach().to(at::kDouble);
  // The numbers of categories are names, not sizes.
  if (features.HasCategories()) values = values.narrow(1, 0, features.NumNumbers());
  if (!input.is_floating_point() || values.numel() == 0) return;
  std::optional<LintFinding> found = LintInputs(values, field, pipeline);
  if (!found) return;
  if (sequences) {
    found->advice = fmt::format(
        "bring each number of a step to about 0 and 1 where a sample is still one row, before "
        "`window` (`normalize: {{mean: auto, field: {0}}}`), or of whole sequences: "
        "`normalize: {{mean: auto, per: {1}, field: {0}}}`",
        field, sample.NumbersAStep().value_or(1) > 1 ? "last" : "field");
  }
  if (!features.empty()) {
    found->advice =
        "normalize all numeric features, and take `quantiles` of those with values far beyond most "
        "(data.features)";
  }
  findings.push_back(*std::move(found));
}

void LintRates(const Recipe& recipe, const Model& model, Findings& findings) {
  const Result<TrainedParameters> parameters = ParametersToTrain(model, recipe.train);
  if (!parameters.ok() || parameters->empty()) return;
  const bool any = std::ranges::any_of(
      *parameters, [](const TrainedParameter& parameter) { return parameter.lr_scale > 0; });
  if (any) return;
  findings.push_back(
      {.rule = "no_rate",
       .where = recipe.train.NameOf(GroupOptions::kName),
       .problem = fmt::format("all {} parameters have the learning rate 0, so nothing is trained",
                              parameters->size()),
       .advice = "leave some out of the groups, or give a group an lr above 0"});
}

// Some batches may weigh nothing; where the first does, all of them mostly do.
void LintWeights(const Recipe& recipe, const TensorBatch& batch, Findings& findings) {
  const std::string field = recipe.train.options.WeightField();
  if (field.empty() || batch.target.all().empty()) return;
  bool any = true;
  const Status counted = CatchTorchErrors(
      [&] { any = batch.target.all().back().count_nonzero().item<int64_t>() > 0; });
  if (!counted.ok() || any) return;
  findings.push_back(
      {.rule = "no_weight",
       .where = "train.sample_weight",
       .problem = fmt::format("all {} samples of the first batch have the weight 0 ('{}'), so "
                              "nothing is learned from them",
                              batch.size(), field),
       .advice = "give the field that has the weights, or leave such samples out with `filter`"});
}

}  // namespace

std::string LintFinding::ToText() const {
  return fmt::format("{}: {}; {}", where, problem, advice);
}

Result<std::vector<LintFinding>> LintModel(Model& model, const TensorBatch& batch, bool accelerator,
                                           const std::vector<InputField>& fields,
                                           const ConfigNode* pipeline, const ModelInput& sample) {
  Findings findings;
  const Status status = CatchTorchErrors([&] {
    const std::vector<at::Tensor>& inputs = batch.input.all();
    for (size_t i = 0; i < inputs.size(); ++i) {
      LintInput(inputs[i], i < fields.size() ? fields[i].field : "image", pipeline,
                i < sample.parts.size() ? sample.parts[i] : sample, model.ReadsSequences(),
                findings);
    }
    LintBatchSize(model, batch.size(), findings);
    const at::AutoGradMode gradients(true);
    model.train();
    const TrainingScores scores =
        model.ForwardAllToTrain(batch.input.Rows(0, std::min(kSamples, batch.size())));
    const GradientGraph graph(scores, model);
    LintBiases(graph, findings);
    LintScores(scores, findings);
    LintGradients(graph, model, findings);
    LintChannels(model, scores.scores.dim() == 2 ? scores.scores.size(1) : 0, accelerator,
                 findings);
  });
  // Some norms refuse a batch of one, and that is what was found.
  const bool told = std::ranges::any_of(
      findings, [](const LintFinding& finding) { return finding.rule == "batch_of_one"; });
  if (!status.ok() && !told) return status.While("looking at the model");
  return findings;
}

Result<std::vector<LintFinding>> LintRecipe(const Recipe& recipe, const c10::Device& device,
                                            std::optional<FirstBatch> first) {
  const Json random = SaveRandomState(device);
  if (!first) {
    STOKER_ASSIGN_OR_RETURN(first, ReadFirstBatch(recipe, device));
  }
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    first->batch.input = first->batch.input.To(device);
    first->batch.target = first->batch.target.To(device);
  }));
  STOKER_ASSIGN_OR_RETURN(const auto model,
                          BuildModel(recipe.model, first->input, /*seed=*/0, {.device = device}));
  const std::optional<ConfigNode> stages = WholePipeline(recipe.data.filled, "train");
  Result<Findings> findings =
      LintModel(*model, first->batch, !device.is_cpu(), recipe.train.options.AllInputs(),
                stages ? &*stages : nullptr, first->input);
  STOKER_RETURN_IF_ERROR(RestoreRandomState(random, device));
  if (!findings.ok()) return findings;
  LintClasses(recipe, *findings);
  LintLayout(recipe, *findings);
  LintRates(recipe, *model, *findings);
  LintWeights(recipe, first->batch, *findings);
  return findings;
}

Result<std::vector<LintFinding>> LintRecipe(const Recipe& recipe) {
  STOKER_ASSIGN_OR_RETURN(const OpenedDevice opened, OpenDeviceFor(recipe.train.options));
  return LintRecipe(recipe, opened.device);
}

}  // namespace stoker
