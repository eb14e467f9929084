#include "stoker/train/core/target.h"

#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include <utility>

namespace stoker {

std::string_view TargetKindName(TargetKind kind) {
  switch (kind) {
    case TargetKind::kClass: return "class numbers";
    case TargetKind::kShares: return "shares of classes";
    case TargetKind::kLabels: return "labels";
    case TargetKind::kNumbers: break;
  }
  return "numbers";
}

bool IsOneInteger(const Field& target) {
  return target.shape.size() == 1 && !IsFloating(target.dtype);
}

int64_t NumbersASample(const Field& target) {
  return target.shape.size() == 2 ? target.shape[1] : 1;
}

std::string FormOf(std::span<const Field> targets) {
  std::string form;
  for (const Field& target : targets) {
    if (!form.empty()) form += ',';
    form += IsOneInteger(target) ? "integers" : "numbers";
  }
  return form;
}

Field FieldOf(const at::Tensor& target, std::string name) {
  return {.name = std::move(name),
          .dtype = target.is_floating_point() ? DType::kFloat32 : DType::kInt64,
          .shape = target.sizes().vec()};
}

at::Tensor WantedScores(const at::Tensor& target, const at::Tensor& scores) {
  if (target.is_floating_point()) {
    TORCH_CHECK_VALUE(target.numel() == scores.numel(), "the target has ", target.sizes(),
                      " numbers, the model's outputs are ", scores.sizes());
    return target.to(scores.scalar_type()).view_as(scores);
  }
  if (scores.size(1) == 1) return target.unsqueeze(1).to(scores.scalar_type());
  return at::zeros_like(scores).scatter_(1, target.unsqueeze(1), 1);
}

}  // namespace stoker
