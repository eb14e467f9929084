#include "stoker/data/nodes/rank_rows.h"

#include <optional>
#include <utility>

#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"

namespace stoker {
namespace {

// How many rows an element has that is no batch of one extent: of all fields as many.
Result<int64_t> RowsIn(const DatasetNode& node, const Element& element) {
  const int64_t rows = element.arrays.front().shape().front();
  for (size_t i = 1; i < element.arrays.size(); ++i) {
    const int64_t other = element.arrays[i].shape().front();
    if (other == rows) continue;
    return InvalidArgument(
        "{}: ranks that train together share the rows of a batch, and in batch {} field '{}' has "
        "{} rows where '{}' has {}",
        node.name(), element.key.index, node.spec().fields[i].name, other,
        node.spec().fields.front().name, rows);
  }
  return rows;
}

Result<Element> Cut(const DatasetNode& node, const RowShare& share, Element element) {
  if (element.failure || element.arrays.empty()) return element;
  STOKER_ASSIGN_OR_RETURN(const int64_t rows, RowsIn(node, element));
  for (Array& array : element.arrays) array = array.Rows(share.Begin(rows), share.End(rows));
  return element;
}

Spec SpecOfRows(Spec spec, const RowShare& share) {
  for (Field& field : spec.fields) {
    int64_t& rows = field.shape.front();
    if (rows != kUnknownDim) rows = share.Count(rows);
  }
  return spec;
}

// Makes all rows of each element, and keeps some.
class RankRowsNode final : public DatasetNode, public SharesRows {
 public:
  RankRowsNode(const Dataset& batches, const RowShare& share)
      : DatasetNode("rank", SpecOfRows(batches.spec(), share), batches.cardinality(), {batches}),
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

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Element element, input().node().Read(position, context));
    return Cut(*this, share_, std::move(element));
  }

 private:
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
    STOKER_ASSIGN_OR_RETURN(Element cut, Cut(node_, node_.rows_made(), *std::move(element)));
    return cut;
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
  STOKER_RETURN_IF_ERROR(CheckHaveRows(batches));
  if (share.whole()) return RankRows{batches, /*makes_all=*/false};
  const auto* const shares = dynamic_cast<const SharesRows*>(&batches.node());
  const std::optional<Dataset> rows = shares ? shares->OnlyRows(share) : std::nullopt;
  if (rows) return RankRows{*rows, /*makes_all=*/!rows->node().random_access()};
  return RankRows{Dataset(std::make_shared<RankRowsNode>(batches, share)), /*makes_all=*/true};
}

}  // namespace stoker
