#include "stoker/data/ops/prefetch.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/row_share.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/runtime/pass_through_iterator.h"

namespace stoker {
namespace {

// More would only hold memory: a queue this deep never runs dry.
constexpr double kMaxDepth = 1 << 16;

Prefetch InOrder(Prefetch options) {
  options.deterministic = true;
  return options;
}

class PrefetchNode final : public DatasetNode, public SharesRows {
 public:
  PrefetchNode(Dataset input, const Prefetch& options)
      : DatasetNode(std::string(Prefetch::kName), input.spec(), input.cardinality(), {input}),
        options_(options) {}

  std::string Details() const override {
    std::string details = options_.depth ? fmt::format("depth {}", *options_.depth) : "";
    if (!options_.deterministic) details += details.empty() ? "in any order" : ", in any order";
    return details;
  }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override {
    return options_.deterministic ? "" : "gives elements in any order (deterministic: false)";
  }
  Grouping grouping() const override { return {.size = 1}; }
  int64_t read_ahead() const override { return options_.depth.value_or(-1); }
  bool any_order() const override { return !options_.deterministic; }
  bool tolerates_errors() const override { return input().node().tolerates_errors(); }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  bool random_access() const override { return input().node().random_access(); }
  bool rereadable() const override { return input().node().rereadable(); }
  std::optional<Dataset> OnlyRows(const RowShare& share) const override {
    // Elements that come in any order are not the same ones on all ranks.
    std::optional<Dataset> rows = OnlyRowsOf(input(), share);
    if (rows) rows = Dataset(std::make_shared<PrefetchNode>(*rows, InOrder(options_)));
    return rows;
  }

  // Only the inline runtime comes here: the threaded one reads ahead itself.
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    return PassThroughIterator::Open(context, *this);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    return input().node().Read(position, context);
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    return input().node().ReadRows(positions, context);
  }

 private:
  const Prefetch options_;
};

}  // namespace

void Prefetch::Describe(OptionTable<Prefetch>& table) {
  table
      .Field("depth", &Prefetch::depth,
             "elements kept ready; auto: enough for the threads that make them",
             Between(1, kMaxDepth))
      .Field("deterministic", &Prefetch::deterministic,
             "false: hand elements out as they are finished, in an order that differs from run to "
             "run");
}

Result<Dataset> Prefetch::Build(Dataset input) const {
  return Dataset(std::make_shared<PrefetchNode>(std::move(input), *this));
}

}  // namespace stoker
