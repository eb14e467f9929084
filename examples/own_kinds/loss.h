// A loss of your own: `loss: {margin: {margin: 0.5}}`.
#pragma once

#include <ATen/ops/multi_margin_loss.h>

#include "stoker/run/registry.h"
#include "stoker/train/core/loss.h"

namespace own {

// Of each sample the sum over the wrong classes of max(0, margin - score of the right class + score
// of the wrong one), divided by the number of classes.
class MarginLoss final : public stoker::Loss {
 public:
  explicit MarginLoss(double margin) : margin_(margin) {}
  at::Tensor Mean(const at::Tensor& scores, const at::Tensor& target) const override {
    return at::multi_margin_loss(scores, target, /*p=*/1, margin_);
  }

 private:
  const double margin_;
};

struct Margin {
  static constexpr std::string_view kName = "margin";
  static constexpr std::string_view kHelp =
      "The multi-class margin loss: penalizes classes whose score comes within `margin` of the "
      "right one's.";
  double margin = 1;

  static void Describe(stoker::OptionTable<Margin>& table) {
    table.Field("margin", &Margin::margin,
                "the lead of the right class from which on nothing is penalized",
                stoker::MoreThan(0));
  }
  stoker::Result<std::shared_ptr<const stoker::Loss>> Build() const {
    return std::make_shared<MarginLoss>(margin);
  }
};

}  // namespace own
