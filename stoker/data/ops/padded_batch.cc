#include "stoker/data/ops/padded_batch.h"

#include <numeric>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/padded_fields.h"
#include "stoker/data/core/read_singly.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batching_internal.h"
#include "stoker/data/ops/padding_internal.h"
#include "stoker/data/ops/read_anywhere_internal.h"

namespace stoker {
namespace {

class PaddedBatchNode final : public FixedBatchNode, public PadsFields {
 public:
  PaddedBatchNode(Dataset input, const PaddedBatch& options, PaddingPlan plan)
      : FixedBatchNode(PaddedBatch::kName, plan.output(), std::move(input), options.size,
                       options.drop_remainder),
        plan_(std::move(plan)) {}

  std::string Details() const override {
    return fmt::format("{}, {}", FixedBatchNode::Details(), plan_.ToString());
  }
  std::optional<double> PaddingOf(std::string_view field) const override {
    return plan_.PaddingOf(field);
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    const std::optional<int64_t> samples = MultiplySizes(count, size());
    if (!samples) return std::nullopt;
    Spec full = spec();
    for (Field& field : full.fields) field.shape[0] = size();
    // By position the samples are read one by one, in order they may come together.
    std::optional<int64_t> bytes =
        AddSizes(MemoryToReadAnywhere(input().node(), *samples), full.BytesApart(count));
    if (count > 1) bytes = AddSizes(bytes, full.BytesTogether(count));  // stacked by DoReadRows
    return bytes;
  }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    std::vector<int64_t> positions(static_cast<size_t>(CountOf(position)));
    std::iota(positions.begin(), positions.end(), FirstOf(position));
    STOKER_ASSIGN_OR_RETURN(const std::vector<Element> elements,
                            ReadInputsSingly(*this, positions, context));
    Scratch scratch = context.scratch(*this);
    return plan_.Pad(elements, std::nullopt, {context.epoch(), position}, scratch);
  }

 private:
  const PaddingPlan plan_;
};

Result<std::unique_ptr<Iterator>> PaddedBatchNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return BatchesInOrder(
      context, *this, std::move(input),
      [&plan = plan_](std::span<const Element> elements, const SampleKey& key, Scratch& scratch) {
        return plan.Pad(elements, std::nullopt, key, scratch);
      });
}

}  // namespace

void PaddedBatch::Describe(OptionTable<PaddedBatch>& table) {
  table.Field("size", &PaddedBatch::size, "elements in a batch", Between(1, kMaxBatchSize))
      .Field("drop_remainder", &PaddedBatch::drop_remainder,
             "leave out an epoch's last batch where it is not full")
      .Field("fields", &PaddedBatch::fields,
             "what is padded; empty: every field whose shape differs between elements")
      .Field("padding", &PaddedBatch::padding, "value to pad with: one, or one for each field")
      .Field("shape", &PaddedBatch::shape,
             "pad to this, such as 512 or \"3x?x224\" (quoted), ? the longest: one, or one for "
             "each field; empty: to the longest")
      .Field("lengths", &PaddedBatch::lengths, "add a field x_length for each padded field x")
      .Field("mask", &PaddedBatch::mask, "add a field x_mask, true where a value is no padding");
}

Result<Dataset> PaddedBatch::Build(Dataset input) const {
  const int64_t extent = BatchExtent(input.cardinality(), size, drop_remainder);
  STOKER_ASSIGN_OR_RETURN(PaddingPlan plan, PaddingPlan::Make({.who = kName,
                                                               .fields = fields,
                                                               .padding = padding,
                                                               .shape = shape,
                                                               .lengths = lengths,
                                                               .mask = mask},
                                                              input.spec(), extent));
  return Dataset(std::make_shared<PaddedBatchNode>(std::move(input), *this, std::move(plan)));
}

}  // namespace stoker
