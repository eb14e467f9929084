#include "stoker/data/ops/batch.h"

#include <algorithm>
#include <numeric>

#include "stoker/data/check_key.h"
#include "stoker/data/iterator.h"
#include "stoker/data/ops/batching_internal.h"
#include "stoker/data/rewrites/picture_pass.h"
#include "stoker/data/row_stack.h"
#include "stoker/data/runtime.h"

namespace stoker {
namespace {

Result<Spec> BatchedSpec(const Dataset& input, const Batch& options) {
  Spec out = input.spec();
  const int64_t extent = BatchExtent(input.cardinality(), options.size, options.drop_remainder);
  for (Field& field : out.fields) {
    if (!IsFullyKnown(field.shape)) {
      return InvalidArgument(
          "batch: field '{}' has shape {}, which differs between elements; resize or crop before "
          "batch, or use padded_batch",
          field.name, ShapeToString(field.shape));
    }
    field.shape.insert(field.shape.begin(), extent);
  }
  return out;
}

class BatchNode final : public DatasetNode {
 public:
  BatchNode(Dataset input, const Batch& options, Spec spec)
      : DatasetNode(std::string(Batch::kName), std::move(spec),
                    BatchedCardinality(input.cardinality(), options.size, options.drop_remainder),
                    {input}),
        options_(options) {}

  std::string Details() const override {
    return fmt::format("size {}{}", options_.size,
                       options_.drop_remainder ? ", drop_remainder" : "");
  }
  std::string_view Disturbs() const override { return DisturbsWhere(options_.drop_remainder); }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    const std::optional<int64_t> samples = MultiplySizes(count, options_.size);
    if (!samples) return std::nullopt;
    const std::optional<int64_t> bytes = input().node().MemoryToRead(*samples);
    // By position, the columns that the input makes are the batch.
    if (random_access() && count == 1) return bytes;
    return AddSizes(bytes, MultiplySizes(input().spec().BytesTogether(options_.size), count));
  }
  bool fixed_order() const override { return input().node().fixed_order(); }
  bool random_access() const override { return input().node().random_access(); }
  // The number of a batch is its position; in order, it does not say where its elements came from.
  bool rereadable() const override { return random_access(); }
  bool tolerates_errors() const override { return true; }
  Grouping grouping() const override {
    return {.size = options_.size, .full = options_.drop_remainder, .numbered = true};
  }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    const int64_t begin = position * options_.size;
    const int64_t end = std::min(begin + options_.size, input().cardinality().value());
    STOKER_ASSIGN_OR_RETURN(Rows rows, context.vectorized() ? ReadVectorized(begin, end, context)
                                                            : ReadOneByOne(begin, end, context));
    return RowsAsElement(std::move(rows), {context.epoch(), position});
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    STOKER_RETURN_IF_ERROR(CheckKey(*this, key));
    return DoRead(key.index, context.WithEpoch(key.epoch));
  }

 private:
  Result<Rows> ReadVectorized(int64_t begin, int64_t end, const ReadContext& context) const {
    std::vector<int64_t> positions(static_cast<size_t>(end - begin));
    std::iota(positions.begin(), positions.end(), begin);
    return input().node().ReadRows(positions, context);
  }

  Result<Rows> ReadOneByOne(int64_t begin, int64_t end, const ReadContext& context) const {
    Scratch scratch = context.scratch(*this);
    RowStack stack(input().spec(), end - begin, scratch);
    for (int64_t i = begin; i < end; ++i) {
      STOKER_ASSIGN_OR_RETURN(const Element element, input().node().Read(i, context));
      STOKER_RETURN_IF_ERROR(stack.Add(element));
    }
    return std::move(stack).Take();
  }

  const Batch options_;
};

Result<std::unique_ptr<Iterator>> BatchNode::OpenStream(const OpenContext& context) const {
  // Which elements a remainder is made of depends on their order.
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input,
                          options_.drop_remainder ? context.OpenInput(this->input())
                                                  : context.OpenInputInAnyOrder(this->input()));
  return BatchesInOrder(
      context, *this, std::move(input), options_.size, options_.drop_remainder,
      [&spec = this->input().spec()](std::span<const Element> elements, const SampleKey& key,
                                     Scratch& scratch) -> Result<Element> {
        STOKER_ASSIGN_OR_RETURN(Rows rows, StackElements(spec, elements, scratch));
        return RowsAsElement(std::move(rows), key);
      });
}

}  // namespace

void Batch::Describe(OptionTable<Batch>& table) {
  table.Field("size", &Batch::size, "elements in a batch", Between(1, kMaxBatchSize))
      .Field("drop_remainder", &Batch::drop_remainder,
             "leave out an epoch's last batch where it is not full");
}

Result<Dataset> Batch::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(Spec spec, BatchedSpec(input, *this));
  return Dataset(std::make_shared<BatchNode>(InOnePass(std::move(input)), *this, std::move(spec)));
}

}  // namespace stoker
