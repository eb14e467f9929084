#include "stoker/base/json_text.h"
#include "stoker/cluster/exchange_probe.h"
#include "stoker/machine/roofs.h"
#include "stoker/tools/program/print.h"
#include "stoker/tools/trainer/commands.h"
#include "stoker/tools/trainer/train_ranks.h"

namespace stoker {

Status RunExchangeProbe(const EnvArguments& arguments) {
  constexpr double kTimeoutS = 60;
  STOKER_ASSIGN_OR_RETURN(const std::shared_ptr<Group> group, JoinRanks({.timeout = kTimeoutS}));
  if (!group) {
    return FailedPrecondition(
        "--exchange-seconds: this process is alone; start several with `stoker launch -n 2 -- env "
        "--exchange-seconds 1`");
  }
  const Result<ExchangeRates> rates = MeasureExchange(*group, *arguments.exchange_seconds);
  group->Leave(rates.status());
  STOKER_RETURN_IF_ERROR(rates.status());
  if (group->membership().rank > 0) return OkStatus();
  const AllReduceRoofs roofs{.processes = static_cast<int>(group->membership().world),
                             .small_s = rates->small_s,
                             .bytes_per_s = rates->bytes_per_s};
  return PrintResult(DumpJson(roofs.ToJson()) + "\n");
}

}  // namespace stoker
