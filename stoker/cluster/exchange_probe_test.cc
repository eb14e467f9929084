#include "stoker/cluster/exchange_probe.h"

#include "stoker/base/testing.h"
#include "stoker/cluster/ranks_testing.h"

namespace stoker::exchange_probe_test {

TEST(MeasureExchange, GivesEachRankALatencyAndABandwidth) {
  AsRanks(2, [](Group& group) {
    STOKER_ASSERT_OK_AND_ASSIGN(const ExchangeRates rates, MeasureExchange(group, 0.01));
    EXPECT_GT(rates.small_s, 0);
    EXPECT_GT(rates.bytes_per_s, 0);
  });
}

}  // namespace stoker::exchange_probe_test
