#include "stoker/data/learn/learning_pass.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "stoker/base/byte_size.h"
#include "stoker/base/clock.h"
#include "stoker/base/default_budget.h"
#include "stoker/base/ledger.h"
#include "stoker/base/log.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/groups_elements.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/learn/learner.h"
#include "stoker/data/learn/training_requests.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/options/build_stage.h"
#include "stoker/data/options/registry.h"

namespace stoker {
namespace {

constexpr int64_t kRowsAtOnce = 1024;
constexpr double kSecondsBetweenMessages = 10;

// One stage that learns.
struct Learning {
  LearnRequest request;
  std::string who;  // "recipe.yaml:7:5: normalize: field 'x'"
  size_t field = 0;
  bool reduces = false;  // whether the learner keeps something else than the field
  std::unique_ptr<StageLearner> learner;
};

// Keeps of an element what the learners need, on the thread that has made it.
class ReduceTransform final : public Transform {
 public:
  explicit ReduceTransform(const std::vector<Learning>& learning) : learning_(learning) {}

  bool random() const override { return false; }
  bool works_on_columns() const override {
    return std::ranges::none_of(learning_, [](const Learning& one) { return one.reduces; });
  }

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    std::vector<Array> kept;
    kept.reserve(learning_.size());
    for (const Learning& one : learning_) {
      kept.push_back(element.arrays[one.field]);
      STOKER_RETURN_IF_ERROR(one.learner->Reduce(kept.back(), scratch));
    }
    element.arrays = std::move(kept);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    if (!works_on_columns()) return Transform::ApplyRows(rows, rngs, scratch);
    std::vector<Array> kept;
    for (const Learning& one : learning_) kept.push_back(rows.columns[one.field]);
    rows.columns = std::move(kept);
    return OkStatus();
  }

 private:
  const std::vector<Learning>& learning_;  // outlives the pass
};

// The options of the stage that asks, without those that are learned and say no more than `auto`.
ConfigNode GivenOptions(const ConfigNode& item, const LearnRequest& request) {
  ConfigNode options = *item.Find(request.stage);
  if (options.kind != ConfigNode::Kind::kMap) options = ConfigNode::Map({});
  std::erase_if(options.entries, [&](const ConfigNode::Entry& entry) {
    return std::ranges::count(OperatorRegistry::Known().LearnedOptions(request.stage), entry.key) >
               0 &&
           entry.value.kind == ConfigNode::Kind::kScalar && entry.value.scalar == "auto";
  });
  options.location = item.location;
  return options;
}

// Builds the stage with options that any data allow: the operator says what is wrong with its
// field.
Status TryStage(const Dataset& samples, const ConfigNode& item, const LearnRequest& request,
                ConfigNode options) {
  options.entries.push_back({request.option, {}, OptionsToTry(request.stage)});
  ConfigNode stage = ConfigNode::Map({{request.stage, item.location, std::move(options)}});
  stage.location = item.location;
  STOKER_ASSIGN_OR_RETURN(const OperatorRegistry::Configured configured, ParseStage(stage));
  return BuildStage(configured, item.location, {}, samples).status();
}

Result<Learning> BeginLearning(const Dataset& samples, const ConfigNode& item,
                               const LearnRequest& request) {
  const ConfigNode options = GivenOptions(item, request);
  const std::string where = fmt::format("{}: {}", item.location.ToString(), request.stage);
  if (!IsOfTraining(request.stage))
    STOKER_RETURN_IF_ERROR(TryStage(samples, item, request, options));
  Learning learning{.request = request, .who = fmt::format("{}: field '{}'", where, request.field)};
  STOKER_ASSIGN_OR_RETURN(learning.field, samples.spec().IndexOf(where, request.field));
  Result<std::unique_ptr<StageLearner>> learner =
      MakeLearner(request.stage, {options, samples.spec().fields[learning.field]});
  if (!learner.ok())
    return Status(learner.status().code(),
                  fmt::format("{}: {}", where, learner.status().message()));
  learning.learner = *std::move(learner);
  return learning;
}

// What the learners hold, charged to the budget of the process.
class LearnedMemory {
 public:
  LearnedMemory() : account_(Ledger::Default()->OpenAccount("learn")) {}
  LearnedMemory(const LearnedMemory&) = delete;
  LearnedMemory& operator=(const LearnedMemory&) = delete;
  ~LearnedMemory() { account_->Release(charged_); }

  Status Update(const std::vector<Learning>& learning) {
    int64_t bytes = 0;
    for (const Learning& one : learning) bytes += one.learner->bytes();
    if (bytes > charged_) account_->Charge(bytes - charged_);
    charged_ = std::max(bytes, charged_);
    if (bytes <= DefaultBudget()) return OkStatus();
    const auto largest = std::ranges::max_element(
        learning, {}, [](const Learning& one) { return one.learner->bytes(); });
    return ResourceExhausted(
        "{}: what is learned takes {} so far, more than the budget of {}; leave the field out or "
        "turn it into fewer different values first, or {}",
        largest->who, ByteSizeText(bytes), ByteSizeText(DefaultBudget()), HowToRaiseTheBudget());
  }

 private:
  const std::shared_ptr<MemoryAccount> account_;
  int64_t charged_ = 0;
};

// Says now and then how far a long pass is.
class LearningProgress {
 public:
  explicit LearningProgress(Cardinality all) : all_(all) {}

  void At(int64_t samples) {
    if (since_message_.ElapsedSeconds() < kSecondsBetweenMessages) return;
    since_message_ = Stopwatch();
    LogInfo("learning from the training data: {}{} samples", samples,
            all_.known() ? fmt::format(" of {}", all_.value()) : std::string());
  }

 private:
  const Cardinality all_;
  Stopwatch since_message_;
};

Status AddRows(std::vector<Learning>& learning, const std::vector<Array>& kept, int64_t samples,
               int64_t first) {
  for (size_t i = 0; i < learning.size(); ++i) {
    const Status added = learning[i].learner->Add(kept[i], samples, first);
    if (!added.ok())
      return Status(added.code(), fmt::format("{}: {}", learning[i].who, added.message()));
  }
  return OkStatus();
}

// Reads all samples. Returns how many there were.
Result<int64_t> ReadSamples(Iterator& reduced, bool in_rows, Cardinality all,
                            std::vector<Learning>& learning) {
  LearnedMemory memory;
  LearningProgress progress(all);
  int64_t samples = 0;
  for (int64_t number = 0;; ++number) {
    if (StopScope::AskedNowAndThen())
      return Cancelled("was asked to stop while it learned from the training data");
    const int64_t first = samples;
    if (in_rows) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Rows> rows, reduced.NextRows(kRowsAtOnce));
      if (!rows) break;
      samples += rows->size();
      STOKER_RETURN_IF_ERROR(AddRows(learning, rows->columns, rows->size(), first));
    } else {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, reduced.Next());
      if (!element) break;
      samples += 1;
      STOKER_RETURN_IF_ERROR(AddRows(learning, element->arrays, 1, first));
      if (number % kRowsAtOnce != 0) continue;
    }
    STOKER_RETURN_IF_ERROR(memory.Update(learning));
    progress.At(samples);
  }
  STOKER_RETURN_IF_ERROR(memory.Update(learning));
  return samples;
}

Result<std::vector<LearnedValue>> FinishAll(std::vector<Learning>& learning) {
  std::vector<LearnedValue> values;
  for (Learning& one : learning) {
    LearnedValue value{.stage = one.request.stage,
                       .field = one.request.field,
                       .which = one.request.which,
                       .facts = Json::object()};
    STOKER_RETURN_IF_ERROR(one.learner->Finish(one.who, value.options, value.facts));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace

Result<Dataset> SamplesFor(const ConfigNode& list, const LearnGroup& group,
                           const std::filesystem::path& root) {
  std::optional<Dataset> samples;
  std::vector<ConfigNode> entries;
  const LearnRequest& last = group.requests.back();
  for (size_t i = 0; i < group.end; ++i) {
    const ConfigNode& item = list.items[i];
    if (std::ranges::count(group.requests, i, &LearnRequest::place) > 0) continue;
    if (IsEntryOfTraining(item)) continue;  // learned with an earlier group
    STOKER_ASSIGN_OR_RETURN(OperatorRegistry::Configured stage, ParseStage(item, root));
    if (IsLeftOut(stage.name)) continue;
    STOKER_ASSIGN_OR_RETURN(samples, BuildStage(stage, item.location, entries, samples));
    if (dynamic_cast<const GroupsElements*>(&samples->node()) != nullptr) {
      return InvalidArgument(
          "{}: {}: {} is auto, but the stage stands after {} ({}), where an element is several "
          "samples; put it before that",
          list.items[last.place].location.ToString(), last.stage, last.option, stage.name,
          item.location.ToString());
    }
    entries.push_back(std::move(stage.node));
  }
  const std::string where = list.items[last.place].location.ToString();
  if (!samples) {
    return InvalidArgument(
        "{}: {}: there is nothing to learn from; begin the pipeline with a source", where,
        last.stage);
  }
  if (samples->cardinality().infinite()) {
    return InvalidArgument(
        "{}: {}: {} is auto, but the samples before it have no end; limit them with `take`", where,
        last.stage, last.option);
  }
  return *std::move(samples);
}

Result<PassResult> RunLearningPass(const Dataset& samples, const ConfigNode& list,
                                   const LearnGroup& group) {
  std::vector<Learning> learning;
  Spec kept;
  for (const LearnRequest& request : group.requests) {
    STOKER_ASSIGN_OR_RETURN(Learning one,
                            BeginLearning(samples, list.items[request.place], request));
    const Field& field = samples.spec().fields[one.field];
    kept.fields.push_back(one.learner->Kept(field));
    one.reduces = kept.fields.back() != field;
    learning.push_back(std::move(one));
  }
  const bool in_rows = std::ranges::all_of(
      kept.fields, [](const Field& field) { return IsFullyKnown(field.shape); });
  const Dataset reduced = MapDataset(samples, "learn", "", std::move(kept),
                                     std::make_shared<ReduceTransform>(learning));
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator,
                          reduced.Open(Runtime::Threaded(), {.losses = LossLogging::kNone}));
  PassResult result;
  STOKER_ASSIGN_OR_RETURN(result.samples,
                          ReadSamples(*iterator, in_rows, samples.cardinality(), learning));
  if (result.samples == 0) {
    return FailedPrecondition("{}: the training side has no samples, so nothing can be learned",
                              learning.front().who);
  }
  STOKER_ASSIGN_OR_RETURN(result.values, FinishAll(learning));
  return result;
}

}  // namespace stoker
