#include "stoker/train/models/gru.h"

#include "stoker/train/models/recurrent_internal.h"

namespace stoker {

void Gru::Describe(OptionTable<Gru>& table) { DescribeRecurrent(table); }

Result<std::shared_ptr<Model>> Gru::Build(const ModelInput& /*input*/) const {
  return std::make_shared<RecurrentModel<torch::nn::GRU, Gru>>(*this);
}

}  // namespace stoker
