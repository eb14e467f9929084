#include "stoker/data/nodes/map.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stoker/data/core/apply_transform.h"
#include "stoker/data/core/check_element.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/failure_policy.h"
#include "stoker/data/core/gathering_transform.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/read_singly.h"
#include "stoker/data/core/user_transform.h"
#include "stoker/data/nodes/name_maps.h"
#include "stoker/data/runtime/pass_through_iterator.h"

namespace stoker {
namespace {

class MapNode final : public DatasetNode {
 public:
  MapNode(Dataset input, std::string name, std::string details, Spec output,
          std::shared_ptr<const Transform> transform)
      : DatasetNode(std::move(name), std::move(output), input.cardinality(), {input}),
        details_(std::move(details)),
        transform_(std::move(transform)) {}

  std::string Details() const override { return details_; }
  std::vector<std::string> files() const override { return transform_->files(); }
  std::string_view Disturbs() const override {
    return transform_->random() ? "alters elements at random" : "";
  }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    if (!transform_->works_on_columns()) return DatasetNode::MemoryToRead(count);
    std::optional<int64_t> bytes =
        AddSizes(input().node().MemoryToRead(count), spec().BytesApart(count));
    // Elements of a stream, and those whose sizes are not known before, are stacked first.
    const bool stacked = !random_access() || !input().spec().ElementBytes();
    if (count > 1 && stacked) bytes = AddSizes(bytes, input().spec().BytesTogether(count));
    return bytes;
  }
  Dataset Over(Dataset input, const std::string& note) const {
    const std::string_view between = details_.empty() || note.empty() ? "" : "; ";
    return Dataset(std::make_shared<MapNode>(std::move(input), name(),
                                             fmt::format("{}{}{}", details_, between, note), spec(),
                                             transform_));
  }
  // The same stage under another name; null where it is none of a function.
  std::shared_ptr<const MapNode> Named(const std::string& name, Dataset input) const;

  Grouping grouping() const override { return {.size = 1}; }
  const Transform* element_wise() const override { return transform_.get(); }
  bool fixed_order() const override { return input().node().fixed_order(); }
  bool random_access() const override { return input().node().random_access(); }
  bool rereadable() const override { return input().node().rereadable(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext& context) const override {
    return PassThroughIterator::Open(context, *this);
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Element element, input().node().Read(position, context));
    return Mapped(std::move(element), context);
  }
  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    STOKER_ASSIGN_OR_RETURN(Element element, input().node().ReadKey(key, context));
    return Mapped(std::move(element), context);
  }

  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    // Samples whose sizes differ before this stage make no rows there.
    if (!input().spec().ElementBytes()) return GatherRows(positions, context);
    std::vector<LostElement> lost;
    Result<Rows> rows = input().node().ReadRows(positions, CollectingLosses(context, lost));
    if (rows.ok()) {
      Scratch scratch = context.scratch(*this);
      const Status status = transform_->ApplyRows(*rows, context.rngs(*this), scratch);
      if (!status.ok()) return ReadOneByOne(positions, context, status);
    }
    HandOnLosses(std::move(lost), context);
    return rows;
  }

 private:
  Result<Element> Mapped(Element element, const ReadContext& context) const {
    const SampleKey key = element.key;
    const Status status = ApplyTransform(*this, context, element);
    if (!status.ok()) {
      CountFailure(key, context);
      return status;
    }
    return element;
  }

  Result<Rows> GatherRows(std::span<const int64_t> positions, const ReadContext& context) const {
    const auto* const gathering = dynamic_cast<const GatheringTransform*>(transform_.get());
    if (gathering == nullptr || !gathering->gathers())
      return DatasetNode::DoReadRows(positions, context);
    std::vector<LostElement> lost;
    const Result<std::vector<Element>> elements =
        ReadInputsSingly(*this, positions, CollectingLosses(context, lost));
    Result<Rows> rows = elements.status();
    if (elements.ok()) {
      Scratch scratch = context.scratch(*this);
      rows = gathering->Gather(*elements, scratch);
      if (!rows.ok()) return ReadOneByOne(positions, context, rows.status());
    }
    HandOnLosses(std::move(lost), context);
    return rows;
  }

  // What the stages below lose is collected first, because ReadOneByOne reads the same elements
  // again and loses the same ones.
  static ReadContext CollectingLosses(const ReadContext& context, std::vector<LostElement>& lost) {
    return context.WithLost(context.lost() == nullptr ? nullptr : &lost);
  }
  static void HandOnLosses(std::vector<LostElement> lost, const ReadContext& context) {
    if (context.lost() == nullptr) return;
    std::ranges::move(lost, std::back_inserter(*context.lost()));
  }

  // Called where the elements could not be mapped together, with the error of that: reads and maps
  // them one by one, so that the error names the element at fault. A trial ends with `together`,
  // because its caller drops the error and reads singly itself.
  Result<Rows> ReadOneByOne(std::span<const int64_t> positions, const ReadContext& context,
                            const Status& together) const {
    if (context.trial() || !IsAboutOneElement(together)) return together;
    return DatasetNode::DoReadRows(positions, context);
  }

  const std::string details_;
  const std::shared_ptr<const Transform> transform_;
};

// A function, whose stage has a name.
class NamedTransform : public UserTransform {
 public:
  virtual std::shared_ptr<const Transform> Named(const std::string& name) const = 0;
};

class FunctionTransform final : public NamedTransform {
 public:
  FunctionTransform(const Map& map, Spec output)
      : function_(map.function), output_(std::move(output)), random_(map.random) {}

  std::shared_ptr<const Transform> Named(const std::string& name) const override {
    auto named = std::make_shared<FunctionTransform>(*this);
    named->name_ = name;
    return named;
  }
  bool random() const override { return random_; }

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    const auto call = [&] { return FromFunction(function_(element, rng, scratch)); };
    STOKER_RETURN_IF_ERROR(
        CatchExceptions(call, "{}: element {}: the function", name_, element.key.index));
    return CheckElement(name_, output_, element);
  }

 private:
  const std::function<Status(Element&, Rng&, Scratch&)> function_;
  const Spec output_;
  const bool random_;
  std::string name_{Map::kName};
};

class RowsFunctionTransform final : public NamedTransform {
 public:
  RowsFunctionTransform(const MapRows& map, Spec output)
      : function_(map.function), output_(std::move(output)), random_(map.random) {}

  std::shared_ptr<const Transform> Named(const std::string& name) const override {
    auto named = std::make_shared<RowsFunctionTransform>(*this);
    named->name_ = name;
    return named;
  }
  bool random() const override { return random_; }

  Status Apply(Element& element, Rng& rng, Scratch& scratch) const override {
    Rows rows = ElementAsRows(std::move(element));
    STOKER_RETURN_IF_ERROR(CallAndCheck(
        rows, [&](int64_t) { return rng; }, scratch));
    element = rows.RowElement(0);
    return OkStatus();
  }

  Status ApplyRows(Rows& rows, const RngFactory& rngs, Scratch& scratch) const override {
    const auto rng = [&](int64_t row) { return rngs.For(rows.keys[static_cast<size_t>(row)]); };
    return CallAndCheck(rows, rng, scratch);
  }

  bool works_on_columns() const override { return true; }

 private:
  Status CallAndCheck(Rows& rows, const MapRows::RowRng& rng, Scratch& scratch) const {
    const std::vector<SampleKey> keys = rows.keys;
    STOKER_RETURN_IF_ERROR(Call(rows, rng, scratch));
    if (rows.keys != keys) {
      return InvalidArgument(
          "{}: element {}: the function changed which rows there are; it may change columns only",
          name_, keys.front().index);
    }
    for (const Array& column : rows.columns) {
      if (!column.shape().empty() && column.shape()[0] == rows.size()) continue;
      return InvalidArgument(
          "{}: element {}: the function gave {} for {} rows; the first dimension must be the rows",
          name_, keys.front().index, column.ToString(), rows.size());
    }
    return CheckElement(name_, output_, rows.RowElement(0));
  }

  Status Call(Rows& rows, const MapRows::RowRng& rng, Scratch& scratch) const {
    const int64_t first = rows.keys.front().index;
    return CatchExceptions([&] { return FromFunction(function_(rows, rng, scratch)); },
                           "{}: element {}: the function", name_, first);
  }

  const std::function<Status(Rows&, const MapRows::RowRng&, Scratch&)> function_;
  const Spec output_;
  const bool random_;
  std::string name_{MapRows::kName};
};

std::shared_ptr<const MapNode> MapNode::Named(const std::string& name, Dataset input) const {
  const auto* const function = dynamic_cast<const NamedTransform*>(transform_.get());
  if (function == nullptr) return nullptr;
  return std::make_shared<MapNode>(std::move(input), name, details_, spec(), function->Named(name));
}

}  // namespace

Dataset NameMaps(Dataset built, const DatasetNode* before, const std::string& name) {
  const auto* const map = dynamic_cast<const MapNode*>(&built.node());
  if (map == nullptr || map == before) return built;
  std::shared_ptr<const MapNode> named = map->Named(name, NameMaps(map->input(), before, name));
  return named == nullptr ? built : Dataset(std::move(named));
}

Dataset MapDataset(Dataset input, std::string name, std::string details, Spec output,
                   std::shared_ptr<const Transform> transform) {
  return Dataset(std::make_shared<MapNode>(std::move(input), std::move(name), std::move(details),
                                           std::move(output), std::move(transform)));
}

bool IsMapDataset(const DatasetNode& node) {
  return dynamic_cast<const MapNode*>(&node) != nullptr;
}

Dataset MapOver(const DatasetNode& map, Dataset input, const std::string& note) {
  return dynamic_cast<const MapNode&>(map).Over(std::move(input), note);
}

Result<Dataset> Map::Build(Dataset input) const {
  if (!function) return InvalidArgument("map: no function is given; set Map::function");
  Spec spec = output.fields.empty() ? input.spec() : output;
  auto transform = std::make_shared<FunctionTransform>(*this, spec);
  return MapDataset(std::move(input), std::string(kName), "", std::move(spec),
                    std::move(transform));
}

Result<Dataset> operator|(Result<Dataset> input, const Map& map) {
  if (!input.ok()) return input;
  return CheckDepth(map.Build(*std::move(input)));
}

Result<Dataset> MapRows::Build(Dataset input) const {
  if (!function) return InvalidArgument("map: no function is given; set MapRows::function");
  Spec spec = output.fields.empty() ? input.spec() : output;
  auto transform = std::make_shared<RowsFunctionTransform>(*this, spec);
  return MapDataset(std::move(input), std::string(kName), "by rows", std::move(spec),
                    std::move(transform));
}

Result<Dataset> operator|(Result<Dataset> input, const MapRows& map) {
  if (!input.ok()) return input;
  return CheckDepth(map.Build(*std::move(input)));
}

}  // namespace stoker
