#include "stoker/data/ops/slice_internal.h"

#include <algorithm>
#include <limits>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/row_share.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/saved_count.h"

namespace stoker {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

Cardinality SlicedCardinality(const Cardinality& input, int64_t begin, int64_t count) {
  if (input.infinite()) return count == kNoLimit ? input : Cardinality::Of(count);
  if (!input.known()) return input;
  return Cardinality::Of(std::clamp<int64_t>(input.value() - begin, 0, count));
}

class SliceNode final : public DatasetNode, public SharesRows {
 public:
  SliceNode(Dataset input, std::string name, int64_t begin, int64_t count)
      : DatasetNode(std::move(name), input.spec(),
                    SlicedCardinality(input.cardinality(), begin, count), {input}),
        begin_(begin),
        count_(count) {}

  std::string Details() const override { return fmt::format("{}", begin_ > 0 ? begin_ : count_); }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "leaves elements out"; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  bool fixed_order() const override { return input().node().fixed_order(); }
  bool random_access() const override { return input().node().random_access(); }
  bool rereadable() const override { return input().node().rereadable(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
  std::optional<Dataset> OnlyRows(const RowShare& share) const override {
    std::optional<Dataset> rows = OnlyRowsOf(input(), share);
    if (rows) rows = SliceDataset(*std::move(rows), name(), begin_, count_);
    return rows;
  }
  int64_t begin() const { return begin_; }
  int64_t count() const { return count_; }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    return input().node().Read(begin_ + position, context);
  }

  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    std::vector<int64_t> shifted(positions.begin(), positions.end());
    for (int64_t& position : shifted) position += begin_;
    return input().node().ReadRows(shifted, context);
  }

 private:
  const int64_t begin_;
  const int64_t count_;
};

class SliceIterator final : public Iterator {
 public:
  SliceIterator(const OpenContext& context, const SliceNode& node, std::unique_ptr<Iterator> input)
      : Iterator(context, node), node_(node), input_(std::move(input)) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    for (; read_ < node_.begin(); ++read_) {
      STOKER_ASSIGN_OR_RETURN(const std::optional<Element> skipped, input_->Next());
      if (!skipped) return std::nullopt;
    }
    if (read_ - node_.begin() >= node_.count()) return std::nullopt;
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    ++read_;
    return element;
  }

  Result<Json> DoSave() const override { return WithInputState({{"read", read_}}, *input_); }

  Status DoRestore(const Json& state) override {
    const int64_t most = AddSizes(node_.begin(), node_.count()).value_or(kNoLimit);
    STOKER_ASSIGN_OR_RETURN(read_,
                            SavedCount(node_.name(), state, "read", std::min(most, kMostCounted)));
    return RestoreInput(state, *input_);
  }

  const SliceNode& node_;
  const std::unique_ptr<Iterator> input_;
  int64_t read_ = 0;  // elements of the input that are used up
};

Result<std::unique_ptr<Iterator>> SliceNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<SliceIterator>(context, *this, std::move(input));
}

}  // namespace

Dataset SliceDataset(Dataset input, std::string name, int64_t begin, int64_t count) {
  return Dataset(std::make_shared<SliceNode>(std::move(input), std::move(name), begin, count));
}

}  // namespace stoker
