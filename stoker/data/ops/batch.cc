#include "stoker/data/ops/batch.h"

#include <algorithm>
#include <numeric>

#include "stoker/data/check_key.h"
#include "stoker/data/failure.h"
#include "stoker/data/iterator.h"
#include "stoker/data/ops/batching_internal.h"
#include "stoker/data/runtime.h"
#include "stoker/data/saved_unsigned.h"

namespace stoker {
namespace {

constexpr double kMaxSize = 1 << 30;

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
  std::string_view Disturbs() const override {
    return options_.drop_remainder
               ? "leaves out the elements of a last batch that is not full (drop_remainder)"
               : "";
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    const std::optional<int64_t> samples = MultiplySizes(count, options_.size);
    if (!samples) return std::nullopt;
    const std::optional<int64_t> bytes = input().node().MemoryToRead(*samples);
    // By position, the columns that the input makes are the batch.
    if (random_access() && count == 1) return bytes;
    return AddSizes(bytes, MultiplySizes(input().spec().BytesTogether(options_.size), count));
  }
  bool random_access() const override { return input().node().random_access(); }
  // The number of a batch is its position; in order, it does not say where its elements came from.
  bool rereadable() const override { return random_access(); }
  bool tolerates_errors() const override { return true; }
  Grouping grouping() const override {
    return {.size = options_.size, .full = options_.drop_remainder, .numbered = true};
  }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;
  const Batch& options() const { return options_; }

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
    std::vector<Element> elements;
    for (int64_t i = begin; i < end; ++i) {
      STOKER_ASSIGN_OR_RETURN(Element element, input().node().Read(i, context));
      elements.push_back(std::move(element));
    }
    Scratch scratch = context.scratch(*this);
    return StackElements(input().spec(), elements, scratch);
  }

  const Batch options_;
};

class BatchIterator final : public Iterator {
 public:
  BatchIterator(const OpenContext& context, const BatchNode& node, std::unique_ptr<Iterator> input)
      : Iterator(context, node),
        context_(context),
        node_(node),
        input_(std::move(input)),
        tolerant_(context.tolerant()),
        epoch_(context.epoch()) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    std::vector<Element> elements;
    while (std::ssize(elements) < node_.options().size) {
      STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (!element) break;
      elements.push_back(*std::move(element));
    }
    const bool ragged = std::ssize(elements) < node_.options().size;
    if (elements.empty() || (ragged && node_.options().drop_remainder)) return std::nullopt;
    Scratch scratch(pass().stage(node_).pool);
    Result<Rows> rows = StackElements(node_.input().spec(), elements, scratch);
    const SampleKey key{epoch_, context_.NumberInPass(node_, batches_++)};
    if (rows.ok()) return RowsAsElement(*std::move(rows), key);
    if (!tolerant_) return rows.status();
    return FailedElement(rows.status(), {node_.name(), key});
  }

  // No element is held between calls, so the input's position and the batch's key are the whole
  // state.
  Result<Json> DoSave() const override {
    STOKER_ASSIGN_OR_RETURN(Json input, input_->Save());
    return Json{{"epoch", epoch_}, {"batches", batches_}, {"input", std::move(input)}};
  }

  Status DoRestore(const Json& state) override {
    STOKER_ASSIGN_OR_RETURN(epoch_, SavedUnsigned(state, "epoch"));
    STOKER_ASSIGN_OR_RETURN(batches_, SavedInteger(state, "batches"));
    STOKER_ASSIGN_OR_RETURN(const Json input, SavedObject(state, "input"));
    return input_->Restore(input);
  }

  const OpenContext context_;
  const BatchNode& node_;
  const std::unique_ptr<Iterator> input_;
  const bool tolerant_;
  uint64_t epoch_;
  int64_t batches_ = 0;
};

Result<std::unique_ptr<Iterator>> BatchNode::OpenStream(const OpenContext& context) const {
  // Which elements a remainder is made of depends on their order.
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input,
                          options_.drop_remainder ? context.OpenInput(this->input())
                                                  : context.OpenInputInAnyOrder(this->input()));
  return std::make_unique<BatchIterator>(context, *this, std::move(input));
}

}  // namespace

void Batch::Describe(OptionTable<Batch>& table) {
  table.Field("size", &Batch::size, "elements in a batch", Between(1, kMaxSize))
      .Field("drop_remainder", &Batch::drop_remainder,
             "leave out an epoch's last batch where it is not full");
}

Result<Dataset> Batch::Build(Dataset input) const {
  STOKER_ASSIGN_OR_RETURN(Spec spec, BatchedSpec(input, *this));
  return Dataset(std::make_shared<BatchNode>(std::move(input), *this, std::move(spec)));
}

}  // namespace stoker
