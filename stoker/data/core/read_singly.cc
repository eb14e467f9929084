#include "stoker/data/core/read_singly.h"

#include <atomic>
#include <optional>
#include <utility>

#include "stoker/base/clock.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/shared_loops.h"

namespace stoker {
namespace {

// The time of the reads of one call, from which the next call of the stage knows what to expect.
class ReadTimes {
 public:
  ReadTimes(SharedLoops* loops, const StageStats& stage) : loops_(loops), stage_(stage) {}
  ~ReadTimes() {
    if (loops_ != nullptr && reads_ > 0) loops_->SetReadsAreSlow(stage_, ToBeShared());
  }
  ReadTimes(const ReadTimes&) = delete;
  ReadTimes& operator=(const ReadTimes&) = delete;

  // Thread-safe.
  void Add(int64_t ns) {
    ns_ += ns;
    ++reads_;
  }
  // Notes that a read has shared its own work. Then reads are not shared: parts of them are more,
  // and smaller. By the thread of the call.
  void AddSharedInside() { shared_inside_ = true; }
  bool ToBeShared() const { return !shared_inside_ && ns_ >= kSlowReadNs * reads_; }

 private:
  SharedLoops* const loops_;  // null: the calling thread has none
  const StageStats& stage_;
  std::atomic<int64_t> ns_{0}, reads_{0};
  bool shared_inside_ = false;
};

}  // namespace

Status ReadSingly(const DatasetNode& node, int64_t count, const ReadContext& context,
                  const SingleRead& read, const std::function<Status(int64_t)>& taken) {
  StageStats& stats = context.stats(node);
  SharedLoops* const loops = count > 1 ? SharedLoops::OfThisThread() : nullptr;
  ReadTimes times(loops, stats);
  int64_t first = 0;
  bool shared = loops != nullptr && loops->ReadsAreSlow(stats);
  const int64_t opened_before = SharedLoops::OpenedByThisThread();
  for (int64_t began = NowNs(); first < count && !shared; ++first) {
    if (context.stopped()) return AskedToStop(node.name());
    STOKER_RETURN_IF_ERROR(read(first, context));
    STOKER_RETURN_IF_ERROR(taken(first));
    const int64_t now = NowNs();
    times.Add(now - std::exchange(began, now));
    if (SharedLoops::OpenedByThisThread() > opened_before) times.AddSharedInside();
    shared = loops != nullptr && times.ToBeShared();
  }
  if (first == count) return OkStatus();

  SharedTrials trials(count, context);
  ForEachShared(count - first, stats, [&](int64_t round) {
    if (context.stopped()) return;
    const int64_t began = NowNs();
    trials.Try(first + round, read);
    times.Add(NowNs() - began);
  });
  if (context.stopped()) return AskedToStop(node.name());
  STOKER_RETURN_IF_ERROR(trials.trouble());
  for (int64_t i = first; i < count; ++i) {
    STOKER_RETURN_IF_ERROR(trials.Settle(i, read));
    STOKER_RETURN_IF_ERROR(taken(i));
  }
  return OkStatus();
}

Status ReadElementsSingly(const DatasetNode& node, int64_t count, const ReadContext& context,
                          const std::function<Result<Element>(int64_t, const ReadContext&)>& read,
                          const std::function<Status(Element)>& take) {
  std::vector<std::optional<Element>> elements(static_cast<size_t>(count));
  return ReadSingly(
      node, count, context,
      [&](int64_t i, const ReadContext& how) -> Status {
        STOKER_ASSIGN_OR_RETURN(elements[static_cast<size_t>(i)], read(i, how));
        return OkStatus();
      },
      [&](int64_t i) {
        // Its arrays are free to be used again before the next is taken.
        return take(*std::exchange(elements[static_cast<size_t>(i)], std::nullopt));
      });
}

Result<std::vector<Element>> ReadInputsSingly(const DatasetNode& node,
                                              std::span<const int64_t> positions,
                                              const ReadContext& context) {
  std::vector<Element> elements;
  elements.reserve(positions.size());
  STOKER_RETURN_IF_ERROR(ReadElementsSingly(
      node, std::ssize(positions), context,
      [&](int64_t i, const ReadContext& how) {
        return node.input().node().Read(positions[static_cast<size_t>(i)], how);
      },
      [&](Element element) {
        elements.push_back(std::move(element));
        return OkStatus();
      }));
  return elements;
}

}  // namespace stoker
