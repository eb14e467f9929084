#include "stoker/data/ops/shuffle.h"

#include "stoker/base/permutation.h"
#include "stoker/data/iterator.h"
#include "stoker/data/runtime.h"

namespace stoker {
namespace {

class ShuffleNode final : public DatasetNode {
 public:
  ShuffleNode(Dataset input, std::optional<int64_t> seed)
      : DatasetNode(std::string(Shuffle::kName), input.spec(), input.cardinality(), {input}),
        seed_(seed) {}

  std::string Details() const override { return seed_ ? fmt::format("seed {}", *seed_) : ""; }
  std::string_view Disturbs() const override { return "reorders elements"; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  bool random_access() const override { return true; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("shuffle: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    return input().node().Read(Order(context)(position), context);
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    const IndexPermutation order = Order(context);
    std::vector<int64_t> sources(positions.size());
    for (size_t i = 0; i < positions.size(); ++i) sources[i] = order(positions[i]);
    return input().node().ReadRows(sources, context);
  }

 private:
  IndexPermutation Order(const ReadContext& context) const {
    const uint64_t seed = seed_ ? static_cast<uint64_t>(*seed_) : context.seed();
    return IndexPermutation(cardinality().value(), seed, context.epoch(),
                            context.stage_number(*this));
  }

  const std::optional<int64_t> seed_;
};

}  // namespace

void Shuffle::Describe(OptionTable<Shuffle>& table) {
  table.Field("seed", &Shuffle::seed,
              "fixes this order whatever the run's seed is; auto: the run's seed");
}

Result<Dataset> Shuffle::Build(Dataset input) const {
  if (!input.node().random_access()) {
    return InvalidArgument(
        "shuffle: '{}' can only be read in order; shuffle straight after a source that is readable "
        "by position",
        input.node().name());
  }
  if (input.cardinality().infinite())
    return InvalidArgument("shuffle: the input has no end; put repeat after shuffle");
  return Dataset(std::make_shared<ShuffleNode>(std::move(input), seed));
}

}  // namespace stoker
