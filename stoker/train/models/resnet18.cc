#include "stoker/train/models/resnet18.h"

#include "stoker/train/core/model.h"

namespace stoker {

void Resnet18::Describe(OptionTable<Resnet18>& table) { internal::DescribeResnet(table); }

Result<std::shared_ptr<Model>> Resnet18::Build(const ModelInput& input) const {
  return internal::BuildResnet({.blocks = {2, 2, 2, 2}, .bottleneck = false},
                               internal::ResnetOptionsOf(*this), input);
}

}  // namespace stoker
