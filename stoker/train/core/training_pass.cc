#include "stoker/train/core/training_pass.h"

#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/cluster/group.h"

namespace stoker {
namespace {

thread_local TrainingPass* pass_now = nullptr;

}  // namespace

// Keeps what it has found, so that a second pass finds the same.
class TrainingPass::Moments final : public NormRanks {
 public:
  Moments(Group& group, const PlaceOfPass& place, Mark& at)
      : group_(group), step_(place.step), at_(at) {}

  ChannelMoments OfAll(const std::function<ChannelMoments()>& mine,
                       std::span<const float> origin) override {
    if (at_.moments < found_.size()) return found_[at_.moments++];
    std::vector<double> sums = SumsOfMoments(mine(), origin);
    Add(sums);
    found_.push_back(MomentsOfSums(sums, origin));
    ++at_.moments;
    return found_.back();
  }

  void Add(std::span<double> sums) override {
    // Memory of its own, since an exchange that was given up may still write into it.
    const at::Tensor all = at::from_blob(sums.data(), {std::ssize(sums)}, at::kDouble).clone();
    lost_ =
        group_.AllReduce(all, Reduction::kSum, fmt::format("the batch norms of step {}", step_));
    TORCH_CHECK(lost_.ok(), lost_.message());
    std::copy_n(all.const_data_ptr<double>(), sums.size(), sums.begin());
  }

  size_t found() const { return found_.size(); }
  const Status& lost() const { return lost_; }

 private:
  Group& group_;
  const int64_t step_;
  Mark& at_;
  std::vector<ChannelMoments> found_;
  Status lost_;
};

TrainingPass::TrainingPass(const PlaceOfPass& place, Group* ranks)
    : place_(place), outer_(pass_now) {
  if (ranks != nullptr) moments_ = c10::make_intrusive<Moments>(*ranks, place_, at_);
  norm_ranks_ = moments_;
  pass_now = this;
}

TrainingPass::~TrainingPass() { pass_now = outer_; }

TrainingPass* TrainingPass::Now() { return pass_now; }

size_t TrainingPass::norms() const { return moments_ ? moments_->found() : 0; }

Status TrainingPass::lost() const { return moments_ ? moments_->lost() : OkStatus(); }

TrainingPass::Mark TrainingPass::MarkNow() { return pass_now == nullptr ? Mark() : pass_now->at_; }

TrainingPass::Again::Again(const Mark& mark) : pass_(pass_now) {
  if (pass_ != nullptr) before_ = std::exchange(pass_->at_, mark);
}

TrainingPass::Again::~Again() {
  if (pass_ != nullptr) pass_->at_ = before_;
}

}  // namespace stoker
