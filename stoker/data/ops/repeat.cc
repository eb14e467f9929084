#include "stoker/data/ops/repeat.h"

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/row_share.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/core/saved_unsigned.h"

namespace stoker {
namespace {

Cardinality RepeatedCardinality(const Cardinality& input, int64_t count) {
  if (input == Cardinality::Of(0)) return input;
  if (count == 0 || input.infinite()) return Cardinality::Infinite();
  if (!input.known()) return input;
  int64_t total = 0;
  if (__builtin_mul_overflow(input.value(), count, &total)) return Cardinality::Infinite();
  return Cardinality::Of(total);
}

class RepeatNode final : public DatasetNode, public SharesRows {
 public:
  RepeatNode(Dataset input, int64_t count)
      : DatasetNode(std::string(Repeat::kName), input.spec(),
                    RepeatedCardinality(input.cardinality(), count), {input}),
        count_(count) {}

  std::string Details() const override {
    return count_ == 0 ? "for ever" : fmt::format("{} times", count_);
  }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "gives elements several times"; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    const std::optional<int64_t> bytes = input().node().MemoryToRead(count);
    // Where the elements reach from one round into the next, the parts are put together.
    return count == 1 ? bytes : AddSizes(bytes, spec().BytesTogether(count));
  }
  bool fixed_order() const override { return input().node().fixed_order(); }
  bool random_access() const override { return input().node().random_access(); }
  bool rereadable() const override { return input().node().rereadable(); }
  int64_t read_ahead() const override { return random_access() ? input().node().read_ahead() : 0; }
  bool any_order() const override { return random_access() && input().node().any_order(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
  std::optional<Dataset> OnlyRows(const RowShare& share) const override {
    std::optional<Dataset> rows = OnlyRowsOf(input(), share);
    if (rows) rows = Dataset(std::make_shared<RepeatNode>(*rows, count_));
    return rows;
  }

  // The input's epoch in round `round` of this dataset's epoch `outer`. Where the rounds end, those
  // of all epochs differ; where they do not, they count on from the pass's epoch.
  uint64_t InnerEpoch(uint64_t outer, uint64_t round) const {
    return count_ == 0 ? outer + round : outer * static_cast<uint64_t>(count_) + round;
  }
  int64_t count() const { return count_; }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const int64_t n = input().cardinality().value();
    return input().node().Read(position % n, RoundContext(position / n, context));
  }

  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    const int64_t n = input().cardinality().value();
    std::vector<Rows> parts;
    std::vector<int64_t> inner;
    for (size_t begin = 0; begin < positions.size(); begin += inner.size()) {
      const int64_t round = positions[begin] / n;
      inner.clear();
      for (size_t i = begin; i < positions.size() && positions[i] / n == round; ++i)
        inner.push_back(positions[i] % n);
      STOKER_ASSIGN_OR_RETURN(Rows part,
                              input().node().ReadRows(inner, RoundContext(round, context)));
      parts.push_back(std::move(part));
    }
    if (parts.size() == 1) return std::move(parts.front());
    Scratch scratch = context.scratch(*this);
    return ConcatenateRows(parts, scratch);
  }

 private:
  ReadContext RoundContext(int64_t round, const ReadContext& context) const {
    return context.WithEpoch(InnerEpoch(context.epoch(), static_cast<uint64_t>(round)));
  }

  const int64_t count_;  // 0: for ever
};

class RepeatIterator final : public Iterator {
 public:
  RepeatIterator(const OpenContext& context, const RepeatNode& node)
      : Iterator(context, node), context_(context), node_(node), epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    while (node_.count() == 0 || round_ < node_.count()) {
      if (!input_) STOKER_RETURN_IF_ERROR(OpenRound());
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (element) {
        round_is_empty_ = false;
        return element;
      }
      if (round_is_empty_ && node_.count() == 0)
        return std::nullopt;  // an empty input, repeated for ever, is empty
      input_.reset();
      ++round_;
    }
    return std::nullopt;
  }

  Status OpenRound() {
    const uint64_t epoch = node_.InnerEpoch(epoch_, static_cast<uint64_t>(round_));
    STOKER_ASSIGN_OR_RETURN(input_, context_.WithEpoch(epoch).OpenInputInAnyOrder(node_.input()));
    round_is_empty_ = true;
    return OkStatus();
  }

  Result<Json> DoSave() const override {
    Json state{{"epoch", epoch_}, {"round", round_}};
    if (input_) {
      STOKER_ASSIGN_OR_RETURN(state["input"], input_->Save());
    }
    return state;
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    const int64_t most = node_.count() == 0 ? kMostCounted : node_.count();
    STOKER_ASSIGN_OR_RETURN(round_, SavedCount(node_.name(), state, "round", most));
    if (!state.contains("input")) return OkStatus();
    STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
    STOKER_RETURN_IF_ERROR(OpenRound());
    round_is_empty_ = false;
    return input_->Restore(input);
  }

  const OpenContext context_;
  const RepeatNode& node_;
  uint64_t epoch_;
  int64_t round_ = 0;
  bool round_is_empty_ = true;
  std::unique_ptr<Iterator> input_;
};

Result<std::unique_ptr<Iterator>> RepeatNode::OpenStream(const OpenContext& context) const {
  return std::make_unique<RepeatIterator>(context, *this);
}

}  // namespace

void Repeat::Describe(OptionTable<Repeat>& table) {
  table.Field("count", &Repeat::count, "how many times; 0: for ever", AtLeast(0));
}

Result<Dataset> Repeat::Build(Dataset input) const {
  return Dataset(std::make_shared<RepeatNode>(std::move(input), count));
}

}  // namespace stoker
