#include "stoker/train/losses/mse.h"

#include <ATen/ops/mse_loss.h>

#include "stoker/train/loss.h"
#include "stoker/train/losses/one_hot_internal.h"

namespace stoker {
namespace {

class MseLoss final : public Loss {
 public:
  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return at::mse_loss(scores, OneHot(target, scores));
  }

  at::Tensor Predict(const at::Tensor& scores) const override {
    return scores.size(1) == 1 ? scores.squeeze(1).round().to(at::kLong) : Loss::Predict(scores);
  }
};

}  // namespace

void Mse::Describe(OptionTable<Mse>&) {}

Result<std::shared_ptr<const Loss>> Mse::Build() const { return std::make_shared<MseLoss>(); }

}  // namespace stoker
