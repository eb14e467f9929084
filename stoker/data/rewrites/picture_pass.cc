#include "stoker/data/rewrites/picture_pass.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "stoker/base/mutex.h"
#include "stoker/data/core/failure.h"
#include "stoker/data/core/gathering_transform.h"
#include "stoker/data/core/row_stack.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/core/shared_loops.h"
#include "stoker/data/core/shared_trials.h"
#include "stoker/data/core/stage_time.h"
#include "stoker/data/nodes/map.h"
#include "stoker/data/pictures/picture_chain.h"

namespace stoker {
namespace {

// The pictures of many rows, a block for each field, which are asked for when the first row is
// made: until then those of chunks before it may come back. Thread-safe.
class PictureColumns {
 public:
  PictureColumns(std::vector<Field> fields, int64_t rows, Scratch& scratch)
      : fields_(std::move(fields)), rows_(rows), scratch_(scratch) {}

  std::vector<std::byte*> Slots(int64_t row) {
    const MutexLock lock(mutex_);
    if (pictures_.empty()) pictures_ = NewPictures();  // all, or none if there is no memory
    std::vector<std::byte*> slots;
    for (const Array& column : pictures_)
      slots.push_back(column.data() +
                      static_cast<size_t>(row) * (column.num_bytes() / static_cast<size_t>(rows_)));
    return slots;
  }
  // Whether they are too large to stay in the CPU's caches until they are read.
  bool large() const {
    constexpr int64_t kLarge = 8 << 20;
    return Spec{fields_}.ElementBytes().value_or(0) * rows_ >= kLarge;
  }
  // After the first Slots.
  std::vector<Array> Take() {
    const MutexLock lock(mutex_);
    return std::move(pictures_);
  }

 private:
  std::vector<Array> NewPictures() const {
    std::vector<Array> pictures;
    for (const Field& field : fields_)
      pictures.push_back(scratch_.NewRows(rows_, field.dtype, field.shape));
    return pictures;
  }

  const std::vector<Field> fields_;
  const int64_t rows_;
  Scratch& scratch_;
  Mutex mutex_;
  std::vector<Array> pictures_ STOKER_GUARDED_BY(mutex_);
};

// Neighbouring rows share the pages at their border, and a fresh page of 2 MiB, which holds
// several, takes long to clear: the rounds that run at one time work far apart.
int64_t RowOfRound(int64_t round, int64_t rows) {
  constexpr int64_t kApart = 8;
  const int64_t strides = rows / kApart * kApart;
  return round < strides ? round % kApart * (strides / kApart) + round / kApart : round;
}

// Maps of which the first are done in one go, and the others one after the other.
struct PictureMaps {
  PictureChain chain;
  std::vector<const DatasetNode*> others;

  // What becomes columns as soon as it is made: what the chain makes, or, where other maps follow,
  // all that may be a picture.
  std::vector<size_t> Fields(const Spec& spec) const {
    if (others.empty()) return chain.fields();
    std::vector<size_t> fields;
    for (size_t i = 0; i < spec.fields.size(); ++i) {
      const Shape& shape = spec.fields[i].shape;
      if (shape.size() >= 3 && IsFullyKnown(shape)) fields.push_back(i);
    }
    return fields;
  }
};

class PicturePassNode final : public DatasetNode {
 public:
  PicturePassNode(const Dataset& input, PictureMaps maps)
      : DatasetNode(std::string(kOnePassName), input.spec(), input.cardinality(), {input}),
        maps_(std::move(maps)),
        fields_(maps_.Fields(spec())) {
    for (size_t field = 0; field < spec().fields.size(); ++field) {
      if (!IsPicture(field)) other_fields_.fields.push_back(spec().fields[field]);
    }
  }

  std::string Details() const override {
    std::string text = maps_.chain.ToString() + " done together";
    for (const DatasetNode* map : maps_.others) text += ", then " + map->name();
    return text;
  }
  const DatasetNode& first_map() const { return *maps_.chain.maps().front(); }
  KeyOrigin key_origin() const override { return KeyOrigin::kInput; }
  std::string_view Disturbs() const override { return {}; }
  std::optional<int64_t> MemoryToRead(int64_t count) const override {
    return input().node().MemoryToRead(count);
  }
  bool fixed_order() const override { return input().node().fixed_order(); }
  bool random_access() const override { return true; }
  bool rereadable() const override { return input().node().rereadable(); }
  int64_t read_ahead() const override { return input().node().read_ahead(); }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Internal("one_pass: is read by position");
  }

 protected:
  Result<Element> DoRead(int64_t position, const ReadContext& context) const override {
    if (!context.vectorized()) return input().node().Read(position, context);
    STOKER_ASSIGN_OR_RETURN(Element element, source().Read(position, context));
    Scratch scratch = context.scratch(*this);
    if (Tried([&] { return Apply(element, context, scratch); })) return element;
    return input().node().Read(position, context);
  }

  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }

  // One row for each free thread. If a row fails, the failure policy of an earlier stage may allow
  // that, so it is read again, in order, by the calling thread.
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    const int64_t count = std::ssize(positions);
    Scratch scratch = context.scratch(*this);
    PictureColumns pictures(FieldsOfPictures(), count, scratch);
    std::vector<std::optional<Element>> others(positions.size());
    const auto slots = [&](int64_t row) -> Result<std::vector<std::byte*>> {
      try {
        return pictures.Slots(row);
      } catch (const std::bad_alloc&) {
        return ThrownError(fmt::format("{}: elements from {} on, {} together", LastMap().name(),
                                       positions.front(), count));
      }
    };
    const auto read = [&](int64_t row, const ReadContext& how) -> Status {
      const auto i = static_cast<size_t>(row);
      STOKER_ASSIGN_OR_RETURN(const std::vector<std::byte*> places, slots(row));
      STOKER_ASSIGN_OR_RETURN(others[i], ReadInto(positions[i], places, pictures.large(), how));
      return OkStatus();
    };
    SharedTrials trials(count, context);
    ForEachShared(count, context.stats(*this),
                  [&](int64_t round) { trials.Try(RowOfRound(round, count), read); });
    STOKER_RETURN_IF_ERROR(trials.trouble());
    RowStack stack(other_fields_, count, scratch);
    for (int64_t row = 0; row < count; ++row) {
      STOKER_RETURN_IF_ERROR(trials.Settle(row, read));
      STOKER_RETURN_IF_ERROR(stack.Add(*others[static_cast<size_t>(row)]));
    }
    return Together(pictures.Take(), std::move(stack).Take());
  }

 private:
  const DatasetNode& source() const { return maps_.chain.maps().front()->input().node(); }
  bool IsPicture(size_t field) const { return std::ranges::find(fields_, field) != fields_.end(); }

  std::vector<Field> FieldsOfPictures() const {
    std::vector<Field> fields;
    for (const size_t field : fields_) fields.push_back(spec().fields[field]);
    return fields;
  }

  const DatasetNode& LastMap() const {
    return maps_.others.empty() ? *maps_.chain.maps().back() : *maps_.others.back();
  }

  // False also where there is no memory: the maps, one by one, then say which of them has none.
  template <typename Make>
  static bool Tried(const Make& make) {
    try {
      return make();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  // Puts the element through all maps. False if that fails: they then say why.
  bool Apply(Element& element, const ReadContext& context, Scratch& scratch) const {
    if (!maps_.chain.Apply(element, context, scratch))
      return ApplyEach(AllMaps(), element, context);
    if (!ApplyEach(maps_.others, element, context)) return false;
    maps_.chain.CountElement(context);
    return true;
  }

  // Puts the element through `maps` one by one; they count it where all succeed.
  bool ApplyEach(std::span<const DatasetNode* const> maps, Element& element,
                 const ReadContext& context) const {
    std::vector<int64_t> bytes;
    for (const DatasetNode* map : maps) {
      const ScopedStageTime time(context.stats(*map));
      Rng rng = context.rngs(*map).For(element.key);
      Scratch scratch = context.scratch(*map);
      if (!map->element_wise()->Apply(element, rng, scratch).ok()) return false;
      bytes.push_back(element.num_bytes());
    }
    for (size_t i = 0; i < maps.size(); ++i) context.stats(*maps[i]).AddElements(1, bytes[i]);
    return true;
  }

  std::vector<const DatasetNode*> AllMaps() const {
    std::vector<const DatasetNode*> maps = maps_.chain.maps();
    maps.insert(maps.end(), maps_.others.begin(), maps_.others.end());
    return maps;
  }

  bool MakeInto(Element& element, std::span<std::byte* const> slots, bool streamed,
                const ReadContext& context, Scratch& scratch) const {
    if (maps_.others.empty() && maps_.chain.MakeInto(element, slots, streamed, context, scratch)) {
      maps_.chain.CountElement(context);
      return true;
    }
    const bool made = maps_.others.empty() ? ApplyEach(maps_.chain.maps(), element, context)
                                           : Apply(element, context, scratch);
    return made && CopyInto(element, slots);
  }

  // False if an array is not what the Spec says, and so has no place.
  bool CopyInto(const Element& element, std::span<std::byte* const> slots) const {
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Array& picture = element.arrays[fields_[i]];
      const Field& field = spec().fields[fields_[i]];
      if (picture.dtype() != field.dtype || picture.shape() != field.shape) return false;
      std::copy_n(picture.data(), picture.num_bytes(), slots[i]);
    }
    return true;
  }

  // The element with its pictures at `slots`, and without them among its arrays.
  Result<Element> ReadInto(int64_t position, std::span<std::byte* const> slots, bool streamed,
                           const ReadContext& context) const {
    STOKER_ASSIGN_OR_RETURN(Element element, source().Read(position, context));
    Scratch scratch = context.scratch(*this);
    if (!Tried([&] { return MakeInto(element, slots, streamed, context, scratch); })) {
      STOKER_ASSIGN_OR_RETURN(element, input().node().Read(position, context));
      if (!CopyInto(element, slots)) {
        return InvalidArgument(
            "element {}: a map gave an array of another shape or type than it says",
            element.key.index);
      }
    }
    std::vector<Array> others;
    for (size_t field = 0; field < element.arrays.size(); ++field) {
      if (!IsPicture(field)) others.push_back(std::move(element.arrays[field]));
    }
    element.arrays = std::move(others);
    return element;
  }

  Rows Together(std::vector<Array> pictures, Rows rows) const {
    std::vector<Array> columns(spec().fields.size());
    for (size_t i = 0; i < fields_.size(); ++i) columns[fields_[i]] = std::move(pictures[i]);
    size_t next = 0;
    for (size_t field = 0; field < columns.size(); ++field) {
      if (!IsPicture(field)) columns[field] = std::move(rows.columns[next++]);
    }
    rows.columns = std::move(columns);
    return rows;
  }

  const PictureMaps maps_;
  const std::vector<size_t> fields_;
  Spec other_fields_;  // those that are no pictures
};

// Whether the node puts each element through its transform by itself.
bool MapsEachAlone(const DatasetNode& node) {
  const auto* gathering = dynamic_cast<const GatheringTransform*>(node.element_wise());
  return IsMapDataset(node) && (gathering == nullptr || !gathering->gathers());
}

bool StaysBehind(const DatasetNode& map) {
  return map.element_wise()->works_on_columns() && !IsPictureMap(map);
}

// The consecutive maps that end with `last`, from the first that decodes a picture on.
std::optional<PictureMaps> MapsAtEnd(const DatasetNode& last) {
  std::vector<const DatasetNode*> maps;
  for (const DatasetNode* map = &last; MapsEachAlone(*map); map = &map->input().node())
    maps.push_back(map);
  std::ranges::reverse(maps);
  std::optional<PictureChain> chain = PictureChain::FirstIn(maps);
  if (!chain) return std::nullopt;
  const auto behind = std::ranges::find(maps, chain->maps().back()) + 1;
  return PictureMaps{*std::move(chain), {behind, maps.end()}};
}

}  // namespace

Dataset InOnePass(Dataset pipeline) {
  const DatasetNode& last = pipeline.node();
  if (!last.random_access() || !MapsEachAlone(last)) return pipeline;
  Dataset maps = pipeline;
  // A pass that ends before this map is replaced by one that includes it.
  if (const auto* before = dynamic_cast<const PicturePassNode*>(&last.input().node()))
    maps = MapOver(last, before->input(), "");
  std::optional<PictureMaps> found = MapsAtEnd(maps.node());
  if (!found) return pipeline;
  // Maps at the end that take many elements at once, and not pictures, run after the pass, which
  // may then write straight into a batch.
  const Dataset all_maps = maps;  // keeps those after the pass alive
  std::vector<const DatasetNode*> behind;
  while (!found->others.empty() && StaysBehind(*found->others.back())) {
    behind.insert(behind.begin(), found->others.back());
    found->others.pop_back();
    maps = Dataset(maps.node().input());
  }
  Dataset passed(std::make_shared<PicturePassNode>(maps, *std::move(found)));
  for (const DatasetNode* map : behind) passed = MapOver(*map, std::move(passed), "");
  return passed;
}

const DatasetNode& FirstMapOf(const DatasetNode& node) {
  const auto* pass = dynamic_cast<const PicturePassNode*>(&node);
  return pass == nullptr ? node : pass->first_map();
}

}  // namespace stoker
