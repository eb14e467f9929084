#include "stoker/train/models/resnet34.h"

#include "stoker/train/core/model.h"

namespace stoker {

void Resnet34::Describe(OptionTable<Resnet34>& table) { internal::DescribeResnet(table); }

Result<std::shared_ptr<Model>> Resnet34::Build(const ModelInput& input) const {
  return internal::BuildResnet({.blocks = {3, 4, 6, 3}, .bottleneck = false},
                               internal::ResnetOptionsOf(*this), input);
}

}  // namespace stoker
