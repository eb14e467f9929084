#include "stoker/train/evaluation/shared_evaluator.h"

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include <cmath>
#include <limits>
#include <optional>

#include "stoker/base/clock.h"
#include "stoker/base/trace.h"
#include "stoker/cluster/agreement.h"
#include "stoker/data/advice/no_batch.h"
#include "stoker/device/device_prefetcher.h"
#include "stoker/device/torch_error.h"
#include "stoker/train/core/model.h"
#include "stoker/train/core/objective.h"
#include "stoker/train/evaluation/measured_sums_internal.h"
#include "stoker/train/evaluation/rank_scores_internal.h"

namespace stoker {
namespace {

constexpr std::string_view kWhat = "an evaluation";
// What a rank's message of a round begins with.
constexpr char kBatch = 'b', kFailed = 'f';

class SharedEvaluation {
 public:
  SharedEvaluation(Model& model, const Measures& measures, DevicePrefetcher& batches, Group& group,
                   const std::atomic<bool>* stop)
      : model_(model),
        measures_(measures),
        batches_(batches),
        group_(group),
        stop_(stop),
        sums_(measures) {}

  // In each round every rank has one batch, at the end none; rank 0 adds them in their order.
  Status Run() {
    while (true) {
      STOKER_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                              group_.GatherTexts(NextMessage(), kWhat));
      bool failed = false, any = false;
      for (const std::string& message : all) {
        failed |= !message.empty() && message[0] == kFailed;
        any |= !message.empty();
      }
      if (failed) return Agree(group_, failed_, kWhat);
      if (!any) return OkStatus();
      if (first()) failed_ = AddAll(all);
    }
  }

  // The evaluation of rank 0, on all.
  Result<Evaluation> Read() {
    Evaluation evaluation;
    Status read;
    if (first()) {
      read = sums_.samples() == 0 ? NoBatch("data.eval") : CatchTorchErrors([&]() -> Status {
        STOKER_ASSIGN_OR_RETURN(evaluation, sums_.Read());
        return OkStatus();
      });
    }
    STOKER_RETURN_IF_ERROR(Agree(group_, read, kWhat));
    return Shared(std::move(evaluation));
  }

 private:
  bool first() const { return group_.membership().rank == 0; }

  Result<RankScores> Score(const TensorBatch& batch) const {
    const TraceSpan span("evaluate a batch");
    at::Tensor scores;
    const Status status = CatchTorchErrors([&] {
      scores = model_.ForwardAll(batch.input).to(at::kFloat);
      // Finds targets that are wrong here, where the sample's name is known.
      measures_.objective.Mean(scores, batch.target);
    });
    if (status.ok()) return RankScores{scores, batch.target};
    if (scores.defined()) {
      STOKER_RETURN_IF_ERROR(
          CheckTargets(measures_.objective, batch, scores.size(1), measures_.rows));
    }
    return status.While("evaluating");
  }

  // Of this rank: a batch, nothing where there is none, or that it has failed.
  std::string NextMessage() {
    if (failed_.ok()) {
      Result<std::optional<TensorBatch>> batch = [this] {
        const TraceSpan span("wait for data");
        return batches_.Next();
      }();
      if (stop_ != nullptr && *stop_) batch = Cancelled("evaluation was stopped");
      if (batch.ok() && !*batch) return {};
      const Result<RankScores> scored = batch.ok() ? Score(**batch) : batch.status();
      if (scored.ok()) return kBatch + PackScores(*scored);
      failed_ = scored.status();
    }
    return {kFailed};
  }

  Status AddAll(const std::vector<std::string>& messages) {
    for (const std::string& message : messages) {
      if (message.empty()) continue;
      STOKER_ASSIGN_OR_RETURN(const RankScores batch,
                              UnpackScores(std::string_view(message).substr(1)));
      STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
                               return sums_.Add(batch.scores, batch.targets);
                             }).While("evaluating"));
    }
    return OkStatus();
  }

  Result<Evaluation> Shared(Evaluation evaluation) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    at::Tensor figures =
        at::tensor({static_cast<double>(evaluation.samples), evaluation.loss,
                    evaluation.accuracy ? 1.0 : 0.0, evaluation.accuracy.value_or(kNone)},
                   at::kDouble);
    STOKER_RETURN_IF_ERROR(CopyFromRank(group_, /*root=*/0, {&figures, 1}, kWhat));
    STOKER_ASSIGN_OR_RETURN(const std::string metrics,
                            TextOfFirst(group_, evaluation.metrics.dump(), kWhat));
    const auto* const of_first = figures.const_data_ptr<double>();
    evaluation.samples = static_cast<int64_t>(of_first[0]);
    evaluation.loss = of_first[1];
    evaluation.accuracy = of_first[2] > 0 ? std::optional(of_first[3]) : std::nullopt;
    evaluation.metrics = Json::parse(metrics);
    return evaluation;
  }

  Model& model_;
  const Measures& measures_;
  DevicePrefetcher& batches_;
  Group& group_;
  const std::atomic<bool>* const stop_;
  MeasuredSums sums_;  // of rank 0
  Status failed_;      // why this rank cannot go on
};

}  // namespace

Result<Evaluation> EvaluateTogether(Model& model, const Measures& measures,
                                    DevicePrefetcher& batches, Group& group,
                                    const std::atomic<bool>* stop) {
  const c10::InferenceMode no_gradients;
  const EvaluationMode evaluation_mode(model);
  const Stopwatch watch;
  SharedEvaluation shared(model, measures, batches, group, stop);
  STOKER_RETURN_IF_ERROR(shared.Run());
  STOKER_ASSIGN_OR_RETURN(Evaluation evaluation, shared.Read());
  evaluation.seconds = watch.ElapsedSeconds();
  return evaluation;
}

}  // namespace stoker
