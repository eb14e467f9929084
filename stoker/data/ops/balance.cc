#include "stoker/data/ops/balance.h"

#include "stoker/data/ops/balanced_order_internal.h"
#include "stoker/data/ops/drawn_internal.h"
#include "stoker/data/ops/read_numbers_internal.h"

namespace stoker {
namespace {

class BalanceNode final : public DrawnNode {
 public:
  BalanceNode(Dataset input, const Balance& options, int64_t count)
      : DrawnNode(Balance::kName, std::move(input), count, options.seed), field_(options.field) {}

  std::string Details() const override { return field_ + SeedDetails(); }

 protected:
  Status Learn(const OpenContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(const std::vector<int64_t> labels,
                            ReadNumbers<int64_t>(*this, field_, context));
    table_.emplace(labels);
    return OkStatus();
  }

  void FindSources(std::span<int64_t> positions, const Key& key,
                   const SharedPermutations& permutations) const override {
    BalancedOrder order(*table_, permutations, key.seed, key.epoch, key.stage,
                        std::ssize(positions));
    for (int64_t& position : positions) position = order(position);
  }

 private:
  const std::string field_;
  mutable std::optional<ClassTable> table_;
};

}  // namespace

void Balance::Describe(OptionTable<Balance>& table) {
  table.Field("field", &Balance::field, "field with the class number of each element")
      .Field("count", &Balance::count, "elements in an epoch; auto: as many as the input has",
             AtLeast(0))
      .Field("seed", &Balance::seed,
             "fixes this order whatever the run's seed is; auto: the run's seed");
}

Result<Dataset> Balance::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(const int64_t draws, CountDraws(kName, input, count));
  STOKER_RETURN_IF_ERROR(CheckNumbersCanBeRead(kName, input, field, /*integers=*/true));
  return Dataset(std::make_shared<BalanceNode>(std::move(input), *this, draws));
}

}  // namespace stoker
