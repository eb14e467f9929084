#include "stoker/data/ops/unbatch.h"

#include <algorithm>

#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/nodes/unpack.h"

namespace stoker {
namespace {

// Larger batches are read in order: what reads ahead by position reads some tens of KiB at once, so
// it would make a larger batch several times.
constexpr int64_t kMaxBatchBytes = 64 << 10;

bool FitsIntoAChunk(const Spec& sample, int64_t size) {
  const std::optional<int64_t> bytes = MultiplySizes(sample.ElementBytes(), size);
  return bytes && *bytes <= kMaxBatchBytes;
}

Cardinality UnbatchedCardinality(const Cardinality& input, int64_t size) {
  if (input == Cardinality::Of(0) || input.infinite()) return input;
  int64_t total = 0;
  if (!input.known() || size == kUnknownDim) return Cardinality::Unknown();
  if (__builtin_mul_overflow(input.value(), size, &total)) return Cardinality::Infinite();
  return Cardinality::Of(total);
}

class UnbatchNode final : public UnpackingNode {
 public:
  // `size` of every batch, or -1.
  UnbatchNode(Dataset input, int64_t size, Spec spec)
      : UnpackingNode(std::string(Unbatch::kName), std::move(spec),
                      UnbatchedCardinality(input.cardinality(), size), {input}),
        size_(size) {}

  std::string Details() const override { return known() ? fmt::format("of {}", size_) : ""; }
  std::string_view Disturbs() const override { return ""; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    if (!known()) return std::nullopt;
    const int64_t batches = (count + size_ - 1) / size_ + 1;
    return AddSizes(input().node().MemoryToRead(batches), spec().BytesTogether(count));
  }
  bool random_access() const override {
    return known() && FitsIntoAChunk(spec(), size_) && input().node().random_access();
  }
  bool rereadable() const override { return known() && input().node().rereadable(); }

  Result<int64_t> CountPieces(const Element& whole) const override {
    const int64_t n = whole.arrays.front().shape()[0];
    for (size_t f = 1; f < whole.arrays.size(); ++f) {
      if (whole.arrays[f].shape()[0] == n) continue;
      return InvalidArgument(
          "unbatch: element {}: field '{}' has {} parts, '{}' has {}; "
          "all fields of an element must agree",
          whole.key.index, spec().fields[0].name, n, spec().fields[f].name,
          whole.arrays[f].shape()[0]);
    }
    if (known() && n != size_) {
      return InvalidArgument("unbatch: element {} has {} parts, but {} were promised",
                             whole.key.index, n, size_);
    }
    return n;
  }

  Element Piece(const Element& whole, int64_t i, int64_t made) const override {
    Element piece{.key = {whole.key.epoch, known() ? whole.key.index * size_ + i : made},
                  .arrays = {}};
    for (const Array& array : whole.arrays) piece.arrays.push_back(array.Row(i));
    return piece;
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(const Element whole, input().node().Read(position / size_, context));
    STOKER_RETURN_IF_ERROR(CountPieces(whole).status());
    return Piece(whole, position % size_, 0);
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    // Which batches there are, the input knows: keys count those that skip and filter leave out.
    const int64_t batch = key.index < 0 ? key.index : key.index / size_;
    STOKER_ASSIGN_OR_RETURN(const Element whole,
                            input().node().ReadKey({.epoch = key.epoch, .index = batch}, context));
    STOKER_RETURN_IF_ERROR(CountPieces(whole).status());
    return Piece(whole, key.index % size_, 0);
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    std::vector<Rows> parts;
    for (size_t begin = 0, end = 0; begin < positions.size(); begin = end) {
      const int64_t batch = positions[begin] / size_;
      STOKER_ASSIGN_OR_RETURN(const Element whole, input().node().Read(batch, context));
      STOKER_RETURN_IF_ERROR(CountPieces(whole).status());
      while (end < positions.size() && positions[end] / size_ == batch) {
        const size_t run = RunFrom(positions, end);
        parts.push_back(RowsOf(whole, positions[end] % size_, static_cast<int64_t>(run)));
        end += run;
      }
    }
    if (parts.size() == 1) return std::move(parts.front());
    Scratch scratch = context.scratch(*this);
    return ConcatenateRows(parts, scratch);
  }

 private:
  bool known() const { return size_ != kUnknownDim; }

  // How many positions from `begin` on follow each other in one batch.
  size_t RunFrom(std::span<const int64_t> positions, size_t begin) const {
    size_t end = begin + 1;
    while (end < positions.size() && positions[end] == positions[end - 1] + 1 &&
           positions[end] % size_ != 0)
      ++end;
    return end - begin;
  }

  Rows RowsOf(const Element& whole, int64_t begin, int64_t count) const {
    Rows rows;
    for (int64_t i = begin; i < begin + count; ++i)
      rows.keys.push_back({whole.key.epoch, whole.key.index * size_ + i});
    for (const Array& array : whole.arrays)
      rows.columns.push_back(array.Rows(begin, begin + count));
    return rows;
  }

  const int64_t size_;
};

}  // namespace

void Unbatch::Describe(OptionTable<Unbatch>& /*table*/) {}

Result<Dataset> Unbatch::Build(Dataset input) const {
  Spec spec = input.spec();
  if (spec.fields.empty())
    return InvalidArgument("unbatch: the elements have no fields, so nothing to split");
  int64_t size = kUnknownDim;
  for (Field& field : spec.fields) {
    if (field.shape.empty()) {
      return InvalidArgument(
          "unbatch: field '{}' is a scalar; every field is split along its first dimension: put "
          "unbatch after `batch`",
          field.name);
    }
    if (FindOffsets(input, field.name)) {
      return InvalidArgument(
          "unbatch: field '{}' is ragged, the values of all elements of a batch, and is not split; "
          "take padded_batch in the place of `batch`",
          field.name);
    }
    const int64_t extent = field.shape.front();
    if (size != kUnknownDim && extent != kUnknownDim && extent != size) {
      return InvalidArgument("unbatch: field '{}' has {} parts, but others have {}; all must agree",
                             field.name, extent, size);
    }
    if (extent != kUnknownDim) size = extent;
    field.shape.erase(field.shape.begin());
  }
  if (size == 0) size = kUnknownDim;  // splitting nothing gives nothing, in order
  return Dataset(std::make_shared<UnbatchNode>(std::move(input), size, std::move(spec)));
}

}  // namespace stoker
