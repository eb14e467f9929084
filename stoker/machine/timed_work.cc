#include "stoker/machine/timed_work.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/stop_scope.h"
#include "stoker/base/worker_group.h"

namespace stoker {
namespace {

struct WorkerResult {
  Status status;
  int64_t units = 0;
  double seconds = 0;
};

Status Repeat(double seconds, const WorkPiece& piece, WorkerResult& result) {
  const Stopwatch watch;
  do {
    if (StopScope::Asked()) return Cancelled("the measurement was stopped");
    STOKER_ASSIGN_OR_RETURN(const int64_t units, piece());
    result.units += units;
    result.seconds = watch.ElapsedSeconds();
    if (units == 0) break;
  } while (result.seconds < seconds);
  return OkStatus();
}

}  // namespace

Result<WorkRate> MeasureRate(double seconds, int threads, const MakeWorkPiece& make) {
  std::vector<WorkerResult> results(static_cast<size_t>(threads));
  std::barrier begin(threads);
  const StopScope* const stop = StopScope::Innermost();
  STOKER_ASSIGN_OR_RETURN(WorkerGroup group, WorkerGroup::Start(threads, "env", [&](int worker) {
                            const StopScope scope(stop);
                            WorkerResult& result = results[static_cast<size_t>(worker)];
                            Result<WorkPiece> piece = make(worker);
                            begin.arrive_and_wait();
                            result.status =
                                piece.ok() ? Repeat(seconds, *piece, result) : piece.status();
                          }));
  group.Join();
  WorkRate rate;
  for (const WorkerResult& result : results) {
    STOKER_RETURN_IF_ERROR(result.status);
    rate.units += result.units;
    rate.seconds = std::max(rate.seconds, result.seconds);
    // A clock that has not moved would make the rate infinite.
    rate.per_second += static_cast<double>(result.units) / std::max(result.seconds, 1e-9);
  }
  return rate;
}

}  // namespace stoker
