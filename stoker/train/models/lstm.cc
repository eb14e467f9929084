#include "stoker/train/models/lstm.h"

#include "stoker/train/models/recurrent_internal.h"

namespace stoker {

void Lstm::Describe(OptionTable<Lstm>& table) { DescribeRecurrent(table); }

Result<std::shared_ptr<Model>> Lstm::Build(const ModelInput& input) const {
  return BuildRecurrent<torch::nn::LSTM>(*this, input);
}

}  // namespace stoker
