#include "stoker/data/sources/set_aside_internal.h"

#include <algorithm>

#include "stoker/data/core/runtime.h"

namespace stoker {

Status SetAside(KeptMemory& kept, const Pass& pass, const DatasetNode& node,
                const SetAsideDemand& demand, const SetAsideWords& words) {
  STOKER_RETURN_IF_ERROR(kept.ChargeToIfItFits(
      pass, node, fmt::format("{}: what is set aside for {} takes", demand.name, words.parts),
      words.remedy));
  // What has been set aside here counts as free.
  const Ledger& ledger = pass.ledger();
  const int64_t half = (ledger.budget_bytes() - ledger.bytes() + kept.bytes()) / 2;
  const int64_t more = std::min(demand.useful, std::max(demand.least, half)) - kept.bytes();
  if (more <= 0) return OkStatus();
  const Status fits = kept.AddIfItFits(
      pass, more, fmt::format("{}: {} takes", demand.name, words.least), words.remedy);
  return kept.bytes() < demand.least ? fits : OkStatus();
}

}  // namespace stoker
