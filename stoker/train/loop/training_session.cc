#include "stoker/train/loop/training_session.h"

#include <algorithm>
#include <utility>

#include "stoker/cluster/agreement.h"
#include "stoker/train/core/token_check.h"
#include "stoker/train/loop/training_checkpoints.h"
#include "stoker/train/plan/feed.h"
#include "stoker/train/step/finiteness.h"

namespace stoker {
namespace {

// The cells of sequences saturate: an infinite number leaves their scores finite, and only the
// weights of the step after are not. So what such a model reads is looked at before.
void AddFiniteChecks(const Model& model, const TrainOptions& options, const RowNames& names,
                     std::vector<InputCheck>& checks) {
  if (!model.ReadsSequences() || model.Tokens() || options.on_nonfinite != "stop") return;
  checks = {[names, field = options.input](const Inputs& steps, const SampleKey& batch) {
    return CheckFinite(steps, field, batch, names);
  }};
}

}  // namespace

int FeedCpus(const TrainingSession& session) {
  return FeedCpus(session.options(), session.setup.device.device, session.choices.feed_threads);
}

FeederOptions FeedOptions(const TrainingSession& session, const Dataset& batches,
                          const std::vector<ShiftScale>& normalize, RowNames names) {
  FeederOptions options = FeedOptions(session.options(), batches, session.setup.device.device,
                                      session.choices.memory_format);
  NormalizeField(session.options().input, normalize, options);
  options.check = {.targets = TargetChecksOf(session.learner->objective(), names, session.outputs),
                   .inputs = TokenChecksOf(session.learner->model().TokensOfAll(),
                                           session.options().AllInputs(), names)};
  AddFiniteChecks(session.learner->model(), session.options(), names, options.check.inputs);
  return options;
}

void Does(TrainingSession& session, std::string_view what, int64_t step) {
  if (session.setup.group) session.setup.group->Does(fmt::format("{} {}", what, step));
}

Status NoteAgreed(TrainingSession& session, const Status& agreed) {
  session.stop_agreed |= agreed.code() == StatusCode::kCancelled;
  session.all_know |= !agreed.ok() && agreed.code() != StatusCode::kCancelled;
  session.group_lost |= agreed.code() == StatusCode::kUnavailable;
  return agreed;
}

Status AgreeOn(TrainingSession& session, const Status& mine, std::string_view what) {
  if (!session.setup.group) return mine;
  return NoteAgreed(session, Agree(*session.setup.group, mine, what));
}

Status AgreeOnEnd(TrainingSession& session) {
  if (!session.setup.group || !session.any_callbacks || !session.progress.ended.empty())
    return OkStatus();
  const Result<std::vector<std::string>> all =
      session.setup.group->GatherTexts(session.view->end, "whether a callback ends the run");
  STOKER_RETURN_IF_ERROR(NoteAgreed(session, all.status()));
  const auto first =
      std::ranges::find_if(*all, [](const std::string& why) { return !why.empty(); });
  if (first != all->end()) session.progress.ended = *first;
  return OkStatus();
}

int BatchesAhead(const TrainingSession& session) {
  return static_cast<int>(
      session.options().device_prefetch.value_or(session.choices.device_prefetch));
}

namespace {

// On an accelerator the losses of many steps are read at once: those after the broken one are lost
// with it.
std::string LateAdvice(const TrainingSession& session) {
  if (session.setup.device.is_cpu() || session.options().on_nonfinite != "stop") return {};
  return fmt::format(
      "; losses on {} are read every {} steps, on_nonfinite: skip looks at each step before the "
      "weights move",
      session.setup.device.device.str(), session.options().log_every);
}

// What may help: no rate helps where the data are not finite.
std::string Advice(const TrainingSession& session, const Status& status, int64_t step) {
  if (status.message().find(kInputNotFinite) != std::string::npos) return std::string(kFiniteInput);
  return fmt::format("A lower learning rate (now {:.3g}) or cleaner data may help{}",
                     session.schedule->At(step - 1).lr, LateAdvice(session));
}

}  // namespace

Status Broken(TrainingSession& session, const Status& status, int64_t ahead) {
  if (status.ok()) return status;
  const Status stored = FinishCheckpoint(session);
  const TrainingPlan& plan = session.plan();
  const int64_t step = std::max<int64_t>(session.progress.step + ahead, 1);
  const std::string left = session.last_checkpoint < 0
                               ? "there is no checkpoint yet"
                               : fmt::format("the last good checkpoint is {}",
                                             session.store.PathOf(session.last_checkpoint));
  return {status.code(),
          fmt::format("epoch {} of {}, {}. Training has stopped; {}{}. {}", plan.EpochOf(step),
                      plan.EpochOf(plan.total_steps()), status.message(), left,
                      stored.ok() ? "" : fmt::format(" ({})", stored.message()),
                      Advice(session, status, step))};
}

Status BrokenForAll(TrainingSession& session, const Status& status, int64_t ahead) {
  if (status.ok()) return status;
  const Status broken = Broken(session, status, ahead);
  // Rank 0 knows of the checkpoints.
  return AgreeOn(session, session.keeps_run() ? broken : OkStatus(), "a loss that is not finite");
}

}  // namespace stoker
