#include "stoker/data/ops/chosen_positions_internal.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/base/per_process.h"
#include "stoker/base/stop_scope.h"
#include "stoker/data/core/file_stamps.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/recent_results.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/transform.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/ops/read_anywhere_internal.h"
#include "stoker/data/ops/slice_internal.h"
#include "stoker/data/options/stages_before.h"

namespace stoker {
namespace {

constexpr size_t kRemembered = 4;

using RememberedPositions = RecentResults<ChosenPositions, kRemembered>;

RememberedPositions& Remembered() {
  static PerProcess<RememberedPositions> remembered;
  return remembered.Get();
}

// What determines the positions, as text; empty if that is not known, as of functions in C++.
std::string Describe(const Dataset& input, const std::string& options) {
  const std::string text = StagesBefore::Lines();
  if (text.empty()) return text;
  return text + options + "\n" + input.ToString() + FileStamps(input);
}

// Replaces an element by its hashes, on the thread that has made it.
class HashTransform final : public Transform {
 public:
  HashTransform(int64_t count, HashElement hash) : count_(count), hash_(std::move(hash)) {}

  Status Apply(Element& element, Rng& /*rng*/, Scratch& scratch) const override {
    Array hashes = scratch.NewArray(DType::kInt64, {count_});
    hash_(element, hashes.values<int64_t>());
    element.arrays = {std::move(hashes)};
    return OkStatus();
  }
  bool random() const override { return false; }

 private:
  const int64_t count_;
  const HashElement hash_;
};

class ChosenNode final : public DatasetNode {
 public:
  ChosenNode(Dataset input, std::string name, std::string details,
             std::shared_ptr<const ChosenPositions> positions, bool member)
      : DatasetNode(std::move(name), input.spec(), Cardinality::Of(positions->set.Count(member)),
                    {input}),
        details_(std::move(details)),
        positions_(std::move(positions)),
        member_(member) {}

  std::string Details() const override { return details_; }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "leaves elements out"; }
  bool fixed_order() const override { return true; }  // the input's is
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return MemoryToReadAnywhere(input().node(), count);
  }
  Status Prepare(const OpenContext& context) const override {
    positions_->kept.ChargeTo(*context.pass(), *this);
    return OkStatus();
  }
  bool random_access() const override { return true; }
  bool rereadable() const override { return input().node().rereadable(); }
  int64_t read_ahead() const override { return input().node().read_ahead(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("{}: is read by position", name());
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    return input().node().Read(positions_->set.Find(member_, position), context);
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    std::vector<int64_t> sources(positions.begin(), positions.end());
    for (int64_t& source : sources) source = positions_->set.Find(member_, source);
    return input().node().ReadRows(sources, context);
  }

 private:
  const std::string details_;
  const std::shared_ptr<const ChosenPositions> positions_;
  const bool member_;
};

}  // namespace

Result<std::shared_ptr<const ChosenPositions>> FindPositions(
    const Dataset& input, const std::string& options,
    const std::function<Status(PositionSet& set)>& find) {
  const std::string description = Describe(input, options);
  if (!description.empty()) {
    if (auto known = Remembered().Find(description); known != nullptr) return known;
  }
  auto positions = std::make_shared<ChosenPositions>();
  STOKER_RETURN_IF_ERROR(find(positions->set));
  positions->kept.Add(positions->set.bytes());
  if (!description.empty()) Remembered().Add(description, positions);
  return std::shared_ptr<const ChosenPositions>(std::move(positions));
}

Status ReadAndChoose(const std::string& who, const Dataset& input, int64_t count,
                     const HashElement& hash, const ChooseNext& choose, PositionSet& set) {
  constexpr int64_t kRowsAtOnce = 1024;
  const Dataset hashed =
      MapDataset(input, who + "_keys", "", Spec{{{"hashes", DType::kInt64, {count}}}},
                 std::make_shared<HashTransform>(count, hash));
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> elements,
                          hashed.Open(Runtime::Threaded(), {.losses = LossLogging::kNone}));
  while (true) {
    if (StopScope::AskedNowAndThen())
      return Cancelled("{}: was asked to stop while it read all elements", who);
    STOKER_ASSIGN_OR_RETURN(const std::optional<Rows> rows, elements->NextRows(kRowsAtOnce));
    if (!rows) return OkStatus();
    const std::span<const int64_t> hashes = rows->columns[0].values<int64_t>();
    for (int64_t row = 0; row < rows->size(); ++row) {
      const auto of_row =
          hashes.subspan(static_cast<size_t>(row * count), static_cast<size_t>(count));
      STOKER_ASSIGN_OR_RETURN(const bool member, choose(of_row, set.size()));
      set.Add(member);
    }
  }
}

Result<Element> ElementAt(const Dataset& input, int64_t position) {
  STOKER_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> elements,
                          SliceDataset(input, "skip", position, 1)
                              .Open(Runtime::Inline(), {.losses = LossLogging::kNone}));
  STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, elements->Next());
  if (!element) return DataLoss("'{}' has no element {} any more", input.node().name(), position);
  return *std::move(element);
}

bool HasFixedPositions(const Dataset& input) {
  return input.node().random_access() && input.node().fixed_order() && input.cardinality().known();
}

Dataset AtPositions(Dataset input, std::string name, std::string details,
                    std::shared_ptr<const ChosenPositions> positions, bool member) {
  return Dataset(std::make_shared<ChosenNode>(std::move(input), std::move(name), std::move(details),
                                              std::move(positions), member));
}

}  // namespace stoker
