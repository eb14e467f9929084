// mae, huber, poisson and quantile.
#include <ATen/ops/huber_loss.h>
#include <ATen/ops/l1_loss.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/poisson_nll_loss.h>
#include <ATen/ops/tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

#include "stoker/train/losses/huber.h"
#include "stoker/train/losses/mae.h"
#include "stoker/train/losses/number_loss_internal.h"
#include "stoker/train/losses/poisson.h"
#include "stoker/train/losses/quantile.h"

namespace stoker {
namespace {

class MaeLoss final : public NumberLoss {
 public:
  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return at::l1_loss(scores, WantedScores(target, scores));
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    return at::l1_loss(scores, WantedScores(target, scores), at::Reduction::None).mean(1);
  }
};

class HuberLoss final : public NumberLoss {
 public:
  explicit HuberLoss(double delta) : delta_(delta) {}

  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return at::huber_loss(scores, WantedScores(target, scores), at::Reduction::Mean, delta_);
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    return at::huber_loss(scores, WantedScores(target, scores), at::Reduction::None, delta_)
        .mean(1);
  }

 private:
  const double delta_;
};

class PoissonLoss final : public NumberLoss {
 public:
  std::string Objection(std::span<const float> numbers) const override {
    const auto negative = [](float number) { return number < 0; };
    return std::ranges::any_of(numbers, negative) ? "poisson takes counts, at least 0" : "";
  }

  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return Reduced(scores, target, at::Reduction::Mean);
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    return Reduced(scores, target, at::Reduction::None).mean(1);
  }

  at::Tensor InUnitsOfTarget(const at::Tensor& scores) const override { return scores.exp(); }

 private:
  static at::Tensor Reduced(const at::Tensor& scores, const at::Tensor& target,
                            at::Reduction::Reduction reduction) {
    return at::poisson_nll_loss(scores, WantedScores(target, scores), /*log_input=*/true,
                                /*full=*/false, /*eps=*/1e-8, reduction);
  }
};

class QuantileLoss final : public NumberLoss {
 public:
  explicit QuantileLoss(const Quantile& options) : quantiles_(options.at) {
    const auto from_median = [](double quantile) { return std::abs(quantile - 0.5); };
    middle_ = std::ranges::min_element(quantiles_, {}, from_median) - quantiles_.begin();
  }

  Result<TargetKind> KindOf(const Field& field, int64_t outputs) const override {
    if (outputs % Count() == 0) return NumberLoss::KindOf(field, outputs);
    return InvalidArgument(
        "it takes an output for each of {} quantiles, and the model has {} outputs; set the "
        "model's `classes` to a multiple of {}",
        Count(), outputs, Count());
  }

  int64_t NumbersFor(int64_t outputs) const override { return outputs / Count(); }

  // Quantiles travel to the device anew in each pass, for which it is waited for.
  bool LaunchesAlike() const override { return false; }

  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return OfEach(scores, target).mean();
  }

  at::Tensor OfSamples(const at::Tensor& scores, const at::Tensor& target) const override {
    return OfEach(scores, target).mean({1, 2});
  }

  at::Tensor Estimates(const at::Tensor& scores) const override {
    return ByNumber(scores).select(2, middle_);
  }

 private:
  int64_t Count() const { return std::ssize(quantiles_); }

  // Of each quantile of each number, [samples, numbers, quantiles].
  at::Tensor OfEach(const at::Tensor& scores, const at::Tensor& target) const {
    const at::Tensor of_numbers = ByNumber(scores);
    const at::Tensor wanted = WantedScores(target, of_numbers.select(2, 0));
    const at::Tensor off = wanted.unsqueeze(2) - of_numbers;
    const at::Tensor quantiles =
        at::tensor(quantiles_, at::kDouble).to(scores.device(), scores.scalar_type());
    return at::maximum(quantiles * off, (quantiles - 1) * off);
  }

  // [samples, numbers, quantiles]
  at::Tensor ByNumber(const at::Tensor& scores) const {
    TORCH_CHECK_VALUE(scores.size(1) % Count() == 0, "the model has ", scores.size(1),
                      " outputs, which are no multiple of the ", Count(), " quantiles");
    return scores.view({scores.size(0), scores.size(1) / Count(), Count()});
  }

  const std::vector<double> quantiles_;
  int64_t middle_ = 0;  // index of the quantile nearest to the median
};

}  // namespace

void Mae::Describe(OptionTable<Mae>&) {}
void Huber::Describe(OptionTable<Huber>& table) {
  table.Field("delta", &Huber::delta, "up to which error it is squared", MoreThan(0));
}
void Poisson::Describe(OptionTable<Poisson>&) {}
void Quantile::Describe(OptionTable<Quantile>& table) {
  table.Field("at", &Quantile::at, "the quantiles, between 0 and 1", MoreThan(0));
}

Result<std::shared_ptr<const Loss>> Mae::Build() const { return std::make_shared<MaeLoss>(); }
Result<std::shared_ptr<const Loss>> Huber::Build() const {
  return std::make_shared<HuberLoss>(delta);
}
Result<std::shared_ptr<const Loss>> Poisson::Build() const {
  return std::make_shared<PoissonLoss>();
}
Result<std::shared_ptr<const Loss>> Quantile::Build() const {
  if (at.empty())
    return InvalidArgument("at: there is no quantile; give some, such as [0.1, 0.5, 0.9]");
  for (const double quantile : at) {
    if (quantile > 0 && quantile < 1) continue;
    return InvalidArgument("at: {} is no quantile between 0 and 1", quantile);
  }
  return std::make_shared<QuantileLoss>(*this);
}

}  // namespace stoker
