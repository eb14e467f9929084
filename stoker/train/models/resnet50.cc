#include "stoker/train/models/resnet50.h"

#include "stoker/train/core/model.h"

namespace stoker {

void Resnet50::Describe(OptionTable<Resnet50>& table) { internal::DescribeResnet(table); }

Result<std::shared_ptr<Model>> Resnet50::Build(const ModelInput& input) const {
  return internal::BuildResnet({.blocks = {3, 4, 6, 3}, .bottleneck = true},
                               internal::ResnetOptionsOf(*this), input);
}

}  // namespace stoker
