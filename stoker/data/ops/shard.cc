#include "stoker/data/ops/shard.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/rewrites/map_order.h"

namespace stoker {
namespace {

Cardinality ShardedCardinality(const Cardinality& input, const Shard& options) {
  if (!input.known()) return input;
  const int64_t behind = input.value() - options.index;
  return Cardinality::Of(behind <= 0 ? 0 : (behind - 1) / options.count + 1);
}

class ShardNode final : public DatasetNode {
 public:
  ShardNode(Dataset input, const Shard& options)
      : DatasetNode(std::string(Shard::kName), input.spec(),
                    ShardedCardinality(input.cardinality(), options), {input}),
        options_(options) {}

  std::string Details() const override {
    return fmt::format("{} of {}", options_.index, options_.count);
  }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "leaves elements out"; }
  bool fixed_order() const override { return input().node().fixed_order(); }
  // For its own elements; in order, one of another shard is freed before the next is asked for.
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  bool random_access() const override { return input().node().random_access(); }
  bool rereadable() const override { return input().node().rereadable(); }
  int64_t read_ahead() const override { return random_access() ? input().node().read_ahead() : 0; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
  const Shard& options() const { return options_; }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    return input().node().Read(options_.index + position * options_.count, context);
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    std::vector<int64_t> sources(positions.begin(), positions.end());
    for (int64_t& source : sources) source = options_.index + source * options_.count;
    return input().node().ReadRows(sources, context);
  }

 private:
  const Shard options_;
};

class ShardIterator final : public Iterator {
 public:
  ShardIterator(const OpenContext& context, const ShardNode& node, std::unique_ptr<Iterator> input)
      : Iterator(context, node), options_(node.options()), input_(std::move(input)) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    while (true) {
      const bool mine = read_ % options_.count == options_.index;
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (!element) return std::nullopt;
      ++read_;
      if (mine) return element;
    }
  }

  Result<Json> DoSave() const override { return WithInputState({{"read", read_}}, *input_); }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(read_, SavedCount(Shard::kName, state, "read"));
    return RestoreInput(state, *input_);
  }

  const Shard options_;
  const std::unique_ptr<Iterator> input_;
  int64_t read_ = 0;  // elements of the input that are used up
};

Result<std::unique_ptr<Iterator>> ShardNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<ShardIterator>(context, *this, std::move(input));
}

}  // namespace

void Shard::Describe(OptionTable<Shard>& table) {
  constexpr double kMaxShards = 1 << 30;
  table
      .Field("count", &Shard::count, "how many parts the input is dealt out to",
             Between(1, kMaxShards))
      .Required()
      .Field("index", &Shard::index, "which of them this is, from 0", Between(0, kMaxShards - 1));
}

Result<Dataset> Shard::Build(Dataset input) const {
  if (index >= count) {
    return InvalidArgument("shard: index is {}, but there are {} shards, 0 to {}", index, count,
                           count - 1);
  }
  return LeaveOutBeforeMaps(kName, std::move(input), [&](Dataset before) -> Result<Dataset> {
    return Dataset(std::make_shared<ShardNode>(std::move(before), *this));
  });
}

}  // namespace stoker
