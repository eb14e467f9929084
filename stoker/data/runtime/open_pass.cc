// Dataset::Open, in a file of its own since it needs all that executes a pass.
#include <memory>
#include <utility>

#include "stoker/base/stop_scope.h"
#include "stoker/data/core/dataset.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/rank_iterator.h"

namespace stoker {

Result<std::unique_ptr<Iterator>> Dataset::Open(const Runtime& runtime,
                                                const PassOptions& options) const {
  const StopScope scope([stop = runtime.stop] { return stop != nullptr && *stop; });
  if (options.world != 1 || options.rank != 0) {
    STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> rank, OpenRank(*this, runtime, options));
    rank->outermost_ = true;
    return rank;
  }
  STOKER_ASSIGN_OR_RETURN(std::shared_ptr<Pass> pass, Pass::Create(*this, runtime, options));
  const OpenContext context(std::move(pass), options.epoch,
                            std::make_shared<StopFlag>(runtime.stop), /*any_order=*/true);
  STOKER_RETURN_IF_ERROR(Prepare(context));
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> iterator, context.OpenInputInAnyOrder(*this));
  iterator->outermost_ = true;
  iterator->keeps_logs_ = true;
  return iterator;
}

}  // namespace stoker
