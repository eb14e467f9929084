#include "stoker/data/nodes/rank_rows.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/ragged_fields.h"
#include "stoker/data/core/runtime.h"

namespace stoker {
namespace {

// What the rows of a batch's fields are.
struct RowFields {
  Spec spec;                                   // of the batch
  std::vector<std::optional<size_t>> offsets;  // of each ragged field: the place of its offsets
  std::vector<bool> are_offsets;               // of each field
};

RowFields RowFieldsOf(const Dataset& batches) {
  RowFields fields{.spec = batches.spec(), .offsets = {}, .are_offsets = {}};
  const std::vector<Field>& all = fields.spec.fields;
  fields.are_offsets.resize(all.size());
  for (const Field& field : all) {
    const std::optional<std::string> name = FindOffsets(batches, field.name);
    const auto place = std::ranges::find(all, name.value_or(""), &Field::name);
    const bool ragged = name && place != all.end() && place->dtype == DType::kInt64;
    fields.offsets.push_back(ragged ? std::optional<size_t>(place - all.begin()) : std::nullopt);
    if (ragged) fields.are_offsets[*fields.offsets.back()] = true;
  }
  return fields;
}

// The rows of field `f` of an element.
int64_t RowsOfField(const RowFields& fields, const Element& element, size_t f) {
  if (fields.offsets[f]) return element.arrays[*fields.offsets[f]].shape().front() - 1;
  return element.arrays[f].shape().front() - (fields.are_offsets[f] ? 1 : 0);
}

// How many rows an element has that is no batch of one extent: of all fields as many.
Result<int64_t> RowsIn(const DatasetNode& node, const RowFields& fields, const Element& element) {
  const int64_t rows = RowsOfField(fields, element, 0);
  for (size_t i = 1; i < element.arrays.size(); ++i) {
    const int64_t other = RowsOfField(fields, element, i);
    if (other == rows) continue;
    return InvalidArgument(
        "{}: ranks that train together share the rows of a batch, and in batch {} field '{}' has "
        "{} rows where '{}' has {}",
        node.name(), element.key.index, node.spec().fields[i].name, other,
        node.spec().fields.front().name, rows);
  }
  return rows;
}

// The values of rows `begin` to below `end` of a ragged field.
Result<Array> CutValues(const Array& values, const Array& offsets, int64_t begin, int64_t end) {
  const std::span<const int64_t> places = offsets.values<int64_t>();
  const int64_t first = places[static_cast<size_t>(begin)], last = places[static_cast<size_t>(end)];
  if (first < 0 || first > last || last > values.shape().front()) {
    return InvalidArgument(
        "rank: the offsets of a ragged field do not fit its {} values: rows {} to {} begin at {} "
        "and end at {}",
        values.shape().front(), begin, end, first, last);
  }
  return values.Rows(first, last);
}

// The offsets of rows `begin` to below `end`, from 0 on.
Array CutOffsets(const Array& offsets, int64_t begin, int64_t end) {
  const std::span<const int64_t> places =
      offsets.values<int64_t>().subspan(static_cast<size_t>(begin));
  std::vector<int64_t> own;
  for (size_t i = 0; i <= static_cast<size_t>(end - begin); ++i)
    own.push_back(places[i] - places[0]);
  return Array::Of<int64_t>(own);
}

Result<Element> Cut(const DatasetNode& node, const RowFields& fields, const RowShare& share,
                    Element element) {
  if (element.failure || element.arrays.empty()) return element;
  STOKER_ASSIGN_OR_RETURN(const int64_t rows, RowsIn(node, fields, element));
  const int64_t begin = share.Begin(rows), end = share.End(rows);
  std::vector<Array> cut;
  for (size_t f = 0; f < element.arrays.size(); ++f) {
    const Array& array = element.arrays[f];
    if (fields.offsets[f]) {
      STOKER_ASSIGN_OR_RETURN(cut.emplace_back(),
                              CutValues(array, element.arrays[*fields.offsets[f]], begin, end));
    } else {
      cut.push_back(fields.are_offsets[f] ? CutOffsets(array, begin, end) : array.Rows(begin, end));
    }
  }
  element.arrays = std::move(cut);
  return element;
}

Spec SpecOfRows(const RowFields& fields, const RowShare& share) {
  Spec spec = fields.spec;
  for (size_t f = 0; f < spec.fields.size(); ++f) {
    int64_t& rows = spec.fields[f].shape.front();
    const int64_t more = fields.are_offsets[f] ? 1 : 0;
    if (rows != kUnknownDim && !fields.offsets[f]) rows = share.Count(rows - more) + more;
  }
  return spec;
}

// Makes all rows of each element, and keeps some.
class RankRowsNode final : public DatasetNode, public SharesRows {
 public:
  RankRowsNode(const Dataset& batches, RowFields fields, const RowShare& share)
      : DatasetNode("rank", SpecOfRows(fields, share), batches.cardinality(), {batches}),
        fields_(std::move(fields)),
        share_(share) {}

  std::string Details() const override {
    return fmt::format("rows {} of {}", share_.rank, share_.world);
  }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return "leaves rows out"; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    const std::optional<int64_t> bytes = input().node().MemoryToRead(count);
    return count == 1 ? bytes : AddSizes(bytes, spec().BytesTogether(count));
  }
  int64_t read_ahead() const override { return random_access() ? input().node().read_ahead() : 0; }
  bool random_access() const override { return input().node().random_access(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override;

  std::optional<Dataset> OnlyRows(const RowShare& /*share*/) const override { return std::nullopt; }
  RowShare rows_made() const override { return share_; }
  Result<Element> OwnRows(Element element) const {
    return Cut(*this, fields_, share_, std::move(element));
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Element element, input().node().Read(position, context));
    return OwnRows(std::move(element));
  }

 private:
  const RowFields fields_;
  const RowShare share_;
};

// Its position is that of its input.
class RankRowsIterator final : public Iterator {
 public:
  RankRowsIterator(const OpenContext& context, const RankRowsNode& node,
                   std::unique_ptr<Iterator> input)
      : Iterator(context, node), node_(node), input_(std::move(input)) {}

 private:
  Result<std::optional<Element>> DoNext() override {
    STOKER_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (!element) return std::nullopt;
    STOKER_ASSIGN_OR_RETURN(Element own, node_.OwnRows(*std::move(element)));
    return own;
  }
  Result<Json> DoSave() const override { return input_->Save(); }
  Status DoRestore(const Json& state) override {
    TakeSkip();  // the input's, which finds it in the same state
    return input_->Restore(state);
  }

  const RankRowsNode& node_;
  const std::unique_ptr<Iterator> input_;
};

Result<std::unique_ptr<Iterator>> RankRowsNode::OpenStream(const OpenContext& context) const {
  STOKER_ASSIGN_OR_RETURN(std::unique_ptr<Iterator> input, context.OpenInput(this->input()));
  return std::make_unique<RankRowsIterator>(context, *this, std::move(input));
}

Status CheckHaveRows(const Dataset& batches) {
  for (const Field& field : batches.spec().fields) {
    if (!field.shape.empty()) continue;
    return InvalidArgument(
        "ranks that train together share the rows of each batch, and field '{}' has none, since "
        "it is one number; end the pipeline with `batch`",
        field.name);
  }
  return OkStatus();
}

}  // namespace

Result<RankRows> RowsOfRank(const Dataset& batches, const RowShare& share) {
  if (share.whole()) return RankRows{batches, /*makes_all=*/false};
  STOKER_RETURN_IF_ERROR(CheckHaveRows(batches));
  const auto* const shares = dynamic_cast<const SharesRows*>(&batches.node());
  const std::optional<Dataset> rows = shares ? shares->OnlyRows(share) : std::nullopt;
  if (rows) return RankRows{*rows, /*makes_all=*/!rows->node().random_access()};
  return RankRows{Dataset(std::make_shared<RankRowsNode>(batches, RowFieldsOf(batches), share)),
                  /*makes_all=*/true};
}

}  // namespace stoker
