#include "stoker/run/checkpoint_probe.h"

#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/run/testing.h"

namespace stoker::checkpoint_probe_test {

const std::vector<std::string> kHosts = {"node1", "node2"};

TEST(CheckpointProbe, RanksThatWriteToOneDirectorySeeEachOther) {
  const TempDir shared;
  for (const int64_t rank : {0, 1}) STOKER_EXPECT_OK(WriteProbe(shared.path(), rank));
  STOKER_EXPECT_OK(CheckProbes(shared.path(), kHosts));
}

TEST(CheckpointProbe, ARankThatWritesElsewhereIsNamedWithItsHost) {
  const TempDir of_first, of_second;
  STOKER_EXPECT_OK(WriteProbe(of_first.path(), 0));
  STOKER_EXPECT_OK(WriteProbe(of_second.path(), 1));
  EXPECT_THAT(CheckProbes(of_first.path(), kHosts),
              FailsWith(StatusCode::kFailedPrecondition, "rank 1 on node2 writes to another"));
}

TEST(CheckpointProbe, ARankWithoutTheDirectorySaysSo) {
  const TempDir shared;
  EXPECT_THAT(WriteProbe(shared / "gone", 3),
              FailsWith(StatusCode::kFailedPrecondition, "rank 3 does not see"));
}

}  // namespace stoker::checkpoint_probe_test
