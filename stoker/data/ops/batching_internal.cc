#include "stoker/data/ops/batching_internal.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "stoker/data/core/check_key.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/saved_count.h"
#include "stoker/data/core/saved_unsigned.h"

namespace stoker {
namespace {

class BatchIterator final : public Iterator {
 public:
  BatchIterator(const OpenContext& context, const FixedBatchNode& node,
                std::unique_ptr<Iterator> input, MakeBatch make)
      : Iterator(context, node),
        context_(context),
        node_(node),
        input_(std::move(input)),
        size_(node.grouping().size),
        drop_remainder_(node.grouping().full),
        make_(std::move(make)),
        epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    std::vector<Element> elements;
    while (std::ssize(elements) < size_) {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (!element) break;
      elements.push_back(*std::move(element));
    }
    const bool ragged = std::ssize(elements) < size_;
    if (elements.empty() || (ragged && drop_remainder_)) return std::nullopt;
    Scratch scratch(pass().stage(node_).pool);
    const SampleKey key{epoch_, context_.NumberInPass(node_, batches_++)};
    Result<Element> batch = make_(elements, key, scratch);
    if (batch.ok()) return *std::move(batch);
    if (!context_.tolerant() || !IsAboutOneElement(batch.status())) return batch.status();
    return FailedElement(batch.status(), {node_.name(), key});
  }

  // No element is held between calls, so the input's position and the batch's key are the whole
  // state.
  Result<Json> DoSave() const override {
    return WithInputState({{"epoch", epoch_}, {"batches", batches_}}, *input_);
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(batches_, SavedCount(node_.name(), state, "batches"));
    return RestoreInput(state, *input_);
  }

  const OpenContext context_;
  const FixedBatchNode& node_;
  const std::unique_ptr<Iterator> input_;
  const int64_t size_;
  const bool drop_remainder_;
  const MakeBatch make_;
  uint64_t epoch_;
  int64_t batches_ = 0;
};

}  // namespace

Cardinality BatchedCardinality(const Cardinality& input, int64_t size, bool drop_remainder) {
  if (!input.known()) return input;
  const int64_t full = input.value() / size;
  const bool ragged = input.value() % size != 0;
  return Cardinality::Of(full + (ragged && !drop_remainder ? 1 : 0));
}

int64_t BatchExtent(const Cardinality& input, int64_t size, bool drop_remainder) {
  const bool always_full =
      drop_remainder || input.infinite() || (input.known() && input.value() % size == 0);
  return always_full ? size : kUnknownDim;
}

FixedBatchNode::FixedBatchNode(std::string_view name, Spec spec, Dataset input, int64_t size,
                               bool drop_remainder)
    : DatasetNode(std::string(name), std::move(spec),
                  BatchedCardinality(input.cardinality(), size, drop_remainder), {input}),
      size_(size),
      drop_remainder_(drop_remainder) {}

std::string FixedBatchNode::Details() const {
  return fmt::format("size {}{}", size_, drop_remainder_ ? ", drop_remainder" : "");
}

std::string_view FixedBatchNode::Disturbs() const {
  return drop_remainder_
             ? "leaves out the elements of a last batch that is not full (drop_remainder)"
             : "";
}

Result<Element> FixedBatchNode::DoReadKey(const SampleKey& key, const ReadContext& context) const {
  STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
  return DoRead(key.index, context.WithEpoch(key.epoch));
}

int64_t FixedBatchNode::CountOf(int64_t position) const {
  return std::min(size_, input().cardinality().value() - FirstOf(position));
}

std::unique_ptr<Iterator> BatchesInOrder(const OpenContext& context, const FixedBatchNode& node,
                                         std::unique_ptr<Iterator> input, MakeBatch make) {
  return std::make_unique<BatchIterator>(context, node, std::move(input), std::move(make));
}

}  // namespace stoker
