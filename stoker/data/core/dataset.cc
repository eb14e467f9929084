#include "stoker/data/core/dataset.h"

#include <algorithm>
#include <new>

#include "stoker/data/core/failure.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/read_singly.h"
#include "stoker/data/core/row_stack.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/stage_time.h"
#include "stoker/data/core/transform.h"

namespace stoker {
namespace {

// Gives what `read` returns. Where memory runs out, the innermost stage that reads says that it was
// there.
template <typename Read>
auto NamingItsStage(const DatasetNode& node, int64_t index, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    return ThrownError(fmt::format("{}: element {}", node.name(), index));
  }
}

void AppendLines(const Dataset& dataset, std::string& text) {
  for (const Dataset& input : dataset.node().inputs()) AppendLines(input, text);
  const DatasetNode& node = dataset.node();
  const std::string details = node.Details();
  text += fmt::format("{}{}{}  {} x {}\n", node.name(), details.empty() ? "" : ": ", details,
                      node.cardinality().ToString(), node.spec().ToString());
}

int64_t DepthOver(const std::vector<Dataset>& inputs) {
  int64_t deepest = 0;
  for (const Dataset& input : inputs) deepest = std::max(deepest, input.node().depth());
  return deepest + 1;
}

}  // namespace

std::string Cardinality::ToString() const {
  if (infinite()) return "infinite";
  return known() ? fmt::format("{}", n_) : "unknown";
}

const Spec& Dataset::spec() const { return node_->spec(); }
Cardinality Dataset::cardinality() const { return node_->cardinality(); }

Status Dataset::Prepare(const OpenContext& context) const {
  for (const Dataset& input : node_->inputs()) STOKER_RETURN_IF_ERROR(input.Prepare(context));
  return node_->Prepare(context);
}

std::string Dataset::ToString() const {
  std::string text;
  AppendLines(*this, text);
  return text;
}

DatasetNode::DatasetNode(std::string name, Spec spec, Cardinality cardinality,
                         std::vector<Dataset> inputs)
    : name_(std::move(name)),
      spec_(std::move(spec)),
      cardinality_(cardinality),
      inputs_(std::move(inputs)),
      depth_(DepthOver(inputs_)) {}

bool DatasetNode::fixed_order() const {
  return !inputs_.empty() && Disturbs().empty() &&
         std::ranges::all_of(inputs_,
                             [](const Dataset& input) { return input.node().fixed_order(); });
}

KeyOrigin DatasetNode::key_origin() const {
  return element_wise() != nullptr ? KeyOrigin::kInput : KeyOrigin::kItself;
}

bool DatasetNode::random() const { return element_wise() != nullptr && element_wise()->random(); }

std::optional<int64_t> DatasetNode::MemoryToRead(int64_t count) const {
  std::optional<int64_t> bytes = spec_.BytesApart(count);
  if (count > 1) bytes = AddSizes(bytes, spec_.BytesTogether(count));  // stacked by DoReadRows
  for (const Dataset& input : inputs_) bytes = AddSizes(bytes, input.node().MemoryToRead(count));
  return bytes;
}

Result<Element> DatasetNode::Read(int64_t position, const ReadContext& context) const {
  if (context.stopped()) return AskedToStop(name_);
  StageStats& stats = context.stats(*this);
  const ScopedStageTime time(stats);
  const FailureScope failures;
  Result<Element> element =
      NamingItsStage(*this, position, [&] { return DoRead(position, context); });
  if (element.ok()) {
    stats.AddElements(1, element->num_bytes());
  } else {
    CountFailure({context.epoch(), position}, context);
  }
  return element;
}

Result<Rows> DatasetNode::ReadRows(std::span<const int64_t> positions,
                                   const ReadContext& context) const {
  if (context.stopped()) return AskedToStop(name_);
  StageStats& stats = context.stats(*this);
  const ScopedStageTime time(stats);
  const FailureScope failures;
  Result<Rows> rows =
      NamingItsStage(*this, positions.front(), [&] { return DoReadRows(positions, context); });
  if (rows.ok()) {
    stats.AddElements(rows->size(), rows->num_bytes());
  } else {
    const int64_t index = positions.size() == 1 ? positions.front() : -1;
    CountFailure({context.epoch(), index}, context);
  }
  return rows;
}

Result<Element> DatasetNode::ReadKey(const SampleKey& key, const ReadContext& context) const {
  if (context.stopped()) return AskedToStop(name_);
  StageStats& stats = context.stats(*this);
  const ScopedStageTime time(stats);
  const FailureScope failures;
  Result<Element> element =
      NamingItsStage(*this, key.index, [&] { return DoReadKey(key, context); });
  if (element.ok()) {
    stats.AddElements(1, element->num_bytes());
  } else {
    CountFailure(key, context);
  }
  return element;
}

void DatasetNode::CountFailure(SampleKey key, const ReadContext& context) const {
  if (context.stopped()) return;
  if (FailureScope::Note(*this, key) && !context.trial()) context.stats(*this).AddError();
}

Result<Element> DatasetNode::DoRead(int64_t, const ReadContext&) const {
  return Internal("{}: cannot read by position", name_);
}

Result<Element> DatasetNode::DoReadKey(const SampleKey&, const ReadContext&) const {
  return Internal("{}: cannot read by key", name_);
}

Result<Rows> DatasetNode::DoReadRows(std::span<const int64_t> positions,
                                     const ReadContext& context) const {
  Scratch scratch = context.scratch(*this);
  RowStack stack(spec_, std::ssize(positions), scratch);
  STOKER_RETURN_IF_ERROR(ReadElementsSingly(
      *this, std::ssize(positions), context,
      [&](int64_t i, const ReadContext& how) {
        return DoRead(positions[static_cast<size_t>(i)], how);
      },
      [&](const Element& element) { return stack.Add(element); }));
  return std::move(stack).Take();
}

Result<Dataset> CheckDepth(Result<Dataset> built) {
  if (!built.ok() || built->node().depth() <= kMaxPipelineDepth) return built;
  return InvalidArgument(
      "{}: {} stages would follow each other; a pipeline may have at most {}, and one `map` or "
      "transform can do the work of several",
      built->node().name(), built->node().depth(), kMaxPipelineDepth);
}

}  // namespace stoker
