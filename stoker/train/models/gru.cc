#include "stoker/train/models/gru.h"

#include "stoker/train/models/recurrent_internal.h"

namespace stoker {

void Gru::Describe(OptionTable<Gru>& table) { DescribeRecurrent(table); }

Result<std::shared_ptr<Model>> Gru::Build(const ModelInput& input) const {
  return BuildRecurrent<torch::nn::GRU>(*this, input);
}

}  // namespace stoker
