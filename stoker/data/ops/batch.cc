#include "stoker/data/ops/batch.h"

#include <numeric>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/core/read_singly.h"
#include "stoker/data/core/row_share.h"
#include "stoker/data/core/row_stack.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batching_internal.h"
#include "stoker/data/ops/ragged_internal.h"
#include "stoker/data/rewrites/picture_pass.h"

namespace stoker {
namespace {

// What makes elements of one shape of those in a field whose shape differs: a row of bytes may be a
// text or the file of a picture, any other row is no picture.
std::string_view MendOf(const Field& field) {
  if (field.dtype != DType::kUInt8 && IsFullyKnown(std::span(field.shape).subspan(1)))
    return "use padded_batch, or `ragged: true` for values without padding";
  if (field.shape.size() > 1) return "resize or crop before batch, or use padded_batch";
  return "of a text make numbers (wordpiece, sentencepiece, words) and use padded_batch; of a word "
         "that is a class, its number (lookup); of a picture's file, decode, then resize or crop "
         "before batch; a column that is no feature is left out by `drop` in data.features";
}

// The first extent of each batch, or of a share of it; -1 if it varies.
int64_t ExtentOf(const Dataset& input, const Batch& options, const RowShare& share) {
  const int64_t extent = BatchExtent(input.cardinality(), options.size, options.drop_remainder);
  return extent == kUnknownDim ? extent : share.Count(extent);
}

Result<Spec> StackedSpec(const Dataset& input, int64_t extent) {
  Spec out = input.spec();
  for (Field& field : out.fields) {
    if (!IsFullyKnown(field.shape)) {
      return InvalidArgument("batch: field '{}' has shape {}, which differs between elements; {}",
                             field.name, ShapeToString(field.shape), MendOf(field));
    }
    field.shape = ShapeOfRows(extent, field.shape);
  }
  return out;
}

// How elements become batches.
struct BatchPlan {
  Spec spec;  // of the batches
  std::optional<RaggedPlan> ragged;
};

Result<BatchPlan> PlanOf(const Dataset& input, const Batch& options, const RowShare& share) {
  const int64_t extent = ExtentOf(input, options, share);
  BatchPlan plan;
  if (options.ragged) {
    STOKER_ASSIGN_OR_RETURN(plan.ragged, RaggedPlan::Make(input.spec(), extent));
  }
  if (plan.ragged) {
    plan.spec = plan.ragged->output();
  } else {
    STOKER_ASSIGN_OR_RETURN(plan.spec, StackedSpec(input, extent));
  }
  return plan;
}

// A batch without a row, in which no input is read.
Rows NoRows(const Spec& spec, Scratch& scratch) {
  Rows rows;
  for (const Field& field : spec.fields)
    rows.columns.push_back(scratch.NewArray(field.dtype, ShapeOfRows(0, field.shape)));
  return rows;
}

class BatchNode final : public FixedBatchNode, public SharesRows, public RaggedFields {
 public:
  BatchNode(Dataset input, const Batch& options, BatchPlan plan, const RowShare& share = {})
      : FixedBatchNode(Batch::kName, std::move(plan.spec), std::move(input), options.size,
                       options.drop_remainder),
        ragged_(std::move(plan.ragged)),
        share_(share) {}

  std::string Details() const override {
    std::string details = FixedBatchNode::Details();
    if (ragged_) details += fmt::format(", ragged {}", ragged_->FieldsText());
    if (share_.whole()) return details;
    return fmt::format("{}, rows {} of {}", details, share_.rank, share_.world);
  }
  std::optional<std::string> OffsetsOf(std::string_view field) const override {
    return ragged_ ? ragged_->OffsetsOf(field) : std::nullopt;
  }
  std::optional<Dataset> OnlyRows(const RowShare& share) const override;
  RowShare rows_made() const override { return share_; }

  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    // In order a whole batch is collected before its rows are chosen. A last batch that is not full
    // may have a row more here.
    const bool some = random_access() && !share_.whole();
    const std::optional<int64_t> samples =
        MultiplySizes(count, some ? share_.Count(size()) + 1 : size());
    if (!samples) return std::nullopt;
    const std::optional<int64_t> bytes = input().node().MemoryToRead(*samples);
    // By position, the columns that the input makes are the batch.
    if (random_access() && count == 1) return bytes;
    return AddSizes(bytes, MultiplySizes(input().spec().BytesTogether(size()), count));
  }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    if (ragged_) return ReadRagged(position, context);
    STOKER_ASSIGN_OR_RETURN(Rows rows, context.vectorized() ? ReadVectorized(position, context)
                                                            : ReadOneByOne(position, context));
    return RowsAsElement(std::move(rows), {context.epoch(), position});
  }

 private:
  Result<Rows> ReadVectorized(int64_t position, const ReadContext& context) const {
    const std::vector<int64_t> positions = PositionsOf(position);
    if (!positions.empty()) return input().node().ReadRows(positions, context);
    Scratch scratch = context.scratch(*this);
    return NoRows(input().spec(), scratch);
  }

  Result<Rows> ReadOneByOne(int64_t position, const ReadContext& context) const {
    Scratch scratch = context.scratch(*this);
    const int64_t count = share_.Count(CountOf(position));
    if (count == 0) return NoRows(input().spec(), scratch);
    RowStack stack(input().spec(), count, scratch);
    for (int64_t i = 0; i < count; ++i) {
      STOKER_ASSIGN_OR_RETURN(const Element element,
                              input().node().Read(FirstOfShare(position) + i, context));
      STOKER_RETURN_IF_ERROR(stack.Add(element));
    }
    return std::move(stack).Take();
  }

  Result<Element> ReadRagged(int64_t position, const ReadContext& context) const {
    STOKER_ASSIGN_OR_RETURN(const std::vector<Element> elements,
                            ReadInputsSingly(*this, PositionsOf(position), context));
    Scratch scratch = context.scratch(*this);
    return ragged_->Join(elements, {context.epoch(), position}, scratch);
  }

  // By position, those of the input's elements that become rows here.
  std::vector<int64_t> PositionsOf(int64_t position) const {
    std::vector<int64_t> positions(static_cast<size_t>(share_.Count(CountOf(position))));
    std::iota(positions.begin(), positions.end(), FirstOfShare(position));
    return positions;
  }

  // The first of them.
  int64_t FirstOfShare(int64_t position) const {
    return FirstOf(position) + share_.Begin(CountOf(position));
  }

  const std::optional<RaggedPlan> ragged_;
  const RowShare share_;
};

std::optional<Dataset> BatchNode::OnlyRows(const RowShare& share) const {
  if (!share_.whole()) return std::nullopt;
  const Batch options{
      .size = size(), .drop_remainder = drop_remainder(), .ragged = ragged_.has_value()};
  Result<BatchPlan> plan = PlanOf(input(), options, share);
  if (!plan.ok()) return std::nullopt;
  return Dataset(std::make_shared<BatchNode>(input(), options, *std::move(plan), share));
}

Result<std::unique_ptr<Iterator>> BatchNode::OpenStream(const OpenContext& context) const {
  // Which elements a remainder is made of depends on their order, as does which are a rank's.
  const bool in_order = drop_remainder() || !share_.whole();
  STOKER_ASSIGN_OR_RETURN(
      std::unique_ptr<Iterator> input,
      in_order ? context.OpenInput(this->input()) : context.OpenInputInAnyOrder(this->input()));
  return BatchesInOrder(context, *this, std::move(input),
                        [&spec = this->input().spec(), &ragged = ragged_, share = share_](
                            std::span<const Element> elements, const SampleKey& key,
                            Scratch& scratch) -> Result<Element> {
                          const std::span<const Element> mine = elements.subspan(
                              static_cast<size_t>(share.Begin(std::ssize(elements))),
                              static_cast<size_t>(share.Count(std::ssize(elements))));
                          if (ragged) return ragged->Join(mine, key, scratch);
                          if (mine.empty()) return RowsAsElement(NoRows(spec, scratch), key);
                          STOKER_ASSIGN_OR_RETURN(Rows rows, StackElements(spec, mine, scratch));
                          return RowsAsElement(std::move(rows), key);
                        });
}

}  // namespace

void Batch::Describe(OptionTable<Batch>& table) {
  table.Field("size", &Batch::size, "elements in a batch", Between(1, kMaxBatchSize))
      .Field("drop_remainder", &Batch::drop_remainder,
             "leave out an epoch's last batch where it is not full")
      .Field("ragged", &Batch::ragged,
             "where the lengths of a field x differ, keep the values of all elements one after the "
             "other, and add x_offsets, where each element's begin");
}

Result<Dataset> Batch::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(BatchPlan plan, PlanOf(input, *this, /*share=*/{}));
  if (!plan.ragged) input = InOnePass(std::move(input));  // for samples of equal shapes
  return Dataset(std::make_shared<BatchNode>(std::move(input), *this, std::move(plan)));
}

}  // namespace stoker
