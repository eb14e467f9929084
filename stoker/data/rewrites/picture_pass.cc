#include "stoker/data/rewrites/picture_pass.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "stoker/data/picture_scratch.h"
#include "stoker/data/rewrites/picture_plan.h"
#include "stoker/data/runtime.h"
#include "stoker/data/runtime/shared_loops.h"
#include "stoker/image/store.h"

namespace stoker {
namespace {

// The maps, from the decoder to the last.
struct Chain {
  std::vector<const DatasetNode*> maps;
  const PictureDecoder* decoder = nullptr;
  std::vector<const PictureGeometry*> geometry;  // of maps[1 + i]
  const PictureFinishing* finishing = nullptr;
  size_t field = 0;

  const DatasetNode& source() const { return maps.front()->input().node(); }
};

template <typename Part>
const Part* As(const DatasetNode& map, size_t field) {
  const auto* part = dynamic_cast<const Part*>(map.element_wise());
  return part != nullptr && part->picture_field() == field ? part : nullptr;
}

std::optional<size_t> FieldOf(const Transform* transform) {
  if (const auto* finishing = dynamic_cast<const PictureFinishing*>(transform))
    return finishing->picture_field();
  if (const auto* geometry = dynamic_cast<const PictureGeometry*>(transform))
    return geometry->picture_field();
  return std::nullopt;
}

std::optional<Chain> FindChain(const DatasetNode& last) {
  const std::optional<size_t> field = FieldOf(last.element_wise());
  if (!last.random_access() || !field) return std::nullopt;
  if (!IsFullyKnown(last.spec().fields[*field].shape)) return std::nullopt;
  Chain chain{.field = *field};
  const DatasetNode* map = &last;
  const auto step = [&] {
    chain.maps.push_back(map);
    map = &map->input().node();
  };
  chain.finishing = As<PictureFinishing>(*map, *field);
  if (chain.finishing != nullptr) step();
  while (const auto* geometry = As<PictureGeometry>(*map, *field)) {
    chain.geometry.push_back(geometry);
    step();
  }
  chain.decoder = As<PictureDecoder>(*map, *field);
  if (chain.decoder == nullptr) return std::nullopt;
  step();
  std::ranges::reverse(chain.maps);
  std::ranges::reverse(chain.geometry);
  return chain;
}

// Takes the rows of a resized picture and stores those of a window.
class WindowReceiver final : public RowReceiver {
 public:
  WindowReceiver(const CropWindow& window, const PixelFinish& finish, const PixelSlot& slot)
      : window_(window), finish_(finish), slot_(slot) {}

  void Take(int64_t y, const uint8_t* pixels) override {
    if (y < window_.y || y >= window_.y + window_.height) return;
    StoreRow(pixels + window_.x * kPixelBytes, y - window_.y, finish_, slot_);
  }

 private:
  const CropWindow& window_;
  const PixelFinish& finish_;
  const PixelSlot& slot_;
};

// The pictures of many rows in one block, which is asked for when the first row is made: until then
// those of chunks before it may come back. Thread-safe.
class PictureColumn {
 public:
  PictureColumn(const Field& field, int64_t rows, Scratch& scratch)
      : field_(field), rows_(rows), scratch_(scratch) {}

  std::byte* Slot(int64_t row) {
    std::lock_guard lock(mutex_);
    if (!pictures_) {
      Shape shape = field_.shape;
      shape.insert(shape.begin(), rows_);
      pictures_ = scratch_.NewArray(field_.dtype, std::move(shape));
    }
    return pictures_->data() + static_cast<size_t>(row) * (pictures_->num_bytes() / rows_);
  }
  // Whether it is larger than what caches keep until somebody reads it.
  bool large() const {
    constexpr int64_t kLarge = 8 << 20;
    return Spec{{field_}}.ElementBytes().value_or(0) * rows_ >= kLarge;
  }
  Array Take() { return *std::move(pictures_); }  // after the first Slot

 private:
  const Field& field_;
  const int64_t rows_;
  Scratch& scratch_;
  std::mutex mutex_;
  std::optional<Array> pictures_;
};

// Neighbouring rows share the pages at their border, and a fresh page of 2 MiB, which holds
// several, takes long to clear: the rounds that run at one time work far apart.
int64_t RowOfRound(int64_t round, int64_t rows) {
  constexpr int64_t kApart = 8;
  const int64_t strides = rows / kApart * kApart;
  return round < strides ? round % kApart * (strides / kApart) + round / kApart : round;
}

class PicturePassNode final : public DatasetNode {
 public:
  PicturePassNode(const Dataset& maps, Chain chain)
      : DatasetNode("one_pass", maps.spec(), maps.cardinality(), {maps}),
        chain_(std::move(chain)) {}

  std::string Details() const override {
    std::string text;
    for (const DatasetNode* map : chain_.maps) text += (text.empty() ? "" : ", ") + map->name();
    return text + " done together";
  }
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
    STOKER_ASSIGN_OR_RETURN(Element element, chain_.source().Read(position, context));
    const Field& field = spec().fields[chain_.field];
    Array picture = context.scratch(*this).NewArray(field.dtype, field.shape);
    if (!Make(element, picture.data(), /*streamed=*/false, context))
      return input().node().Read(position, context);
    element.arrays[chain_.field] = std::move(picture);
    return element;
  }

  Result<Element> DoReadKey(const SampleKey& key, const ReadContext& context) const override {
    return input().node().ReadKey(key, context);
  }

  // A row each for all threads that are free. Where that fails, the policy of a stage below may say
  // otherwise, so rows that fail are read again, in order, by whoever reads here.
  Result<Rows> DoReadRows(std::span<const int64_t> positions,
                          const ReadContext& context) const override {
    const int64_t count = std::ssize(positions);
    Scratch scratch = context.scratch(*this);
    PictureColumn pictures(spec().fields[chain_.field], count, scratch);
    std::vector<std::optional<Element>> others(positions.size());
    const auto read = [&](int64_t row, const ReadContext& how) -> Status {
      const auto i = static_cast<size_t>(row);
      STOKER_ASSIGN_OR_RETURN(others[i],
                              ReadInto(positions[i], pictures.Slot(row), pictures.large(), how));
      return OkStatus();
    };
    ForEachShared(count, context.stats(*this),
                  [&](int64_t round) { (void)read(RowOfRound(round, count), context.AsTrial()); });
    for (int64_t row = 0; row < count; ++row) {
      if (!others[static_cast<size_t>(row)]) STOKER_RETURN_IF_ERROR(read(row, context));
    }
    return WithOthers(others, pictures.Take(), scratch);
  }

 private:
  // The element without its picture, which is at `slot`.
  Result<Element> ReadInto(int64_t position, std::byte* slot, bool streamed,
                           const ReadContext& context) const {
    STOKER_ASSIGN_OR_RETURN(Element element, chain_.source().Read(position, context));
    if (!Make(element, slot, streamed, context)) {
      STOKER_ASSIGN_OR_RETURN(element, input().node().Read(position, context));
      const Array& picture = element.arrays[chain_.field];
      std::copy_n(picture.data(), picture.num_bytes(), slot);
    }
    element.arrays.erase(element.arrays.begin() + static_cast<std::ptrdiff_t>(chain_.field));
    return element;
  }

  // The rows of elements without their pictures, and those.
  Result<Rows> WithOthers(std::vector<std::optional<Element>>& others, Array pictures,
                          Scratch& scratch) const {
    std::vector<Element> elements;
    elements.reserve(others.size());
    for (std::optional<Element>& element : others) elements.push_back(*std::move(element));
    Spec fields = spec();
    const auto at = static_cast<std::ptrdiff_t>(chain_.field);
    fields.fields.erase(fields.fields.begin() + at);
    STOKER_ASSIGN_OR_RETURN(Rows rows, StackElements(fields, elements, scratch));
    rows.columns.insert(rows.columns.begin() + at, std::move(pictures));
    return rows;
  }

  // False where this cannot be done in one pass, or fails: the maps then say how.
  bool Make(const Element& element, std::byte* slot, bool streamed,
            const ReadContext& context) const;
  std::optional<PicturePlan> PlanFor(const SampleKey& key, int64_t height, int64_t width,
                                     const ReadContext& context) const;
  bool Decode(const Element& element, const ImageInfo& info, const ImageRegion& region,
              const PixelRows& rows, Scratch& scratch) const;
  void CountStages(const ReadContext& context) const;

  const Chain chain_;
};

std::optional<PicturePlan> PicturePassNode::PlanFor(const SampleKey& key, int64_t height,
                                                    int64_t width,
                                                    const ReadContext& context) const {
  PicturePlan plan(height, width);
  for (size_t i = 0; i < chain_.geometry.size(); ++i) {
    Rng rng = context.rngs(*chain_.maps[1 + i]).For(key);
    if (!chain_.geometry[i]->AddTo(plan, rng)) return std::nullopt;
  }
  return plan;
}

bool PicturePassNode::Decode(const Element& element, const ImageInfo& info,
                             const ImageRegion& region, const PixelRows& rows,
                             Scratch& scratch) const {
  const Array& file = element.arrays[chain_.field];
  DecodeScratch working = DecodeScratchFrom(scratch);
  return DecodeImageRegion({file.data(), file.num_bytes()}, "", info, region,
                           chain_.decoder->decode_options(), rows, working)
      .ok();
}

bool PicturePassNode::Make(const Element& element, std::byte* slot, bool streamed,
                           const ReadContext& context) const {
  const Array& file = element.arrays[chain_.field];
  const Result<ImageInfo> info =
      ProbeImage({file.data(), file.num_bytes()}, "", chain_.decoder->decode_options());
  if (!info.ok()) return false;
  const Field& field = spec().fields[chain_.field];
  const ImageRegion whole = WholeImage(*info, chain_.decoder->FastScaleOf(*info));
  const std::optional<PicturePlan> plan = PlanFor(element.key, whole.height, whole.width, context);
  const Shape made{info->channels, plan ? plan->height() : 0, plan ? plan->width() : 0};
  if (!plan || made != field.shape) return false;
  std::optional<std::vector<ShiftScale>> constants =
      chain_.finishing != nullptr ? chain_.finishing->ShiftScales(info->channels)
                                  : std::vector<ShiftScale>();
  if (!constants) return false;

  const CropWindow& needed = plan->region();
  const ImageRegion region{needed.y, needed.x, needed.height, needed.width, whole.fast_scale};
  const int64_t stride = region.width * info->channels;
  Scratch scratch = context.scratch(*this);
  DecodeScratch pixels = DecodeScratchFrom(scratch);
  const PixelRows rows{
      reinterpret_cast<uint8_t*>(pixels.Take(static_cast<size_t>(region.height * stride))), stride};
  if (!Decode(element, *info, region, rows, scratch)) return false;

  const PixelView source{.data = rows.data,
                         .height = region.height,
                         .width = region.width,
                         .channels = info->channels,
                         .row_stride = stride};
  const PixelFinish finish{.flip = plan->mirrored(), .channels = *constants};
  PixelSlot place = PixelSlot::Of(field.dtype, slot, plan->height(), plan->width(), info->channels,
                                  /*channels_last=*/false);
  place.streamed = streamed;
  if (!plan->resized()) {
    CopyToSlot(source, finish, place, ResampleScratchOfThisThread());
  } else {
    WindowReceiver window(plan->window(), finish, place);
    const auto& [filter, size] = *plan->resized();
    if (!CheckResample("one_pass", source, ResampleBox::Whole(source), size).ok()) return false;
    Resample(source, ResampleBox::Whole(source), filter, size, ResampleScratchOfThisThread(),
             window);
    if (streamed) FinishStreaming();
  }
  CountStages(context);
  return true;
}

// The maps' work is done here, and its time counted here.
void PicturePassNode::CountStages(const ReadContext& context) const {
  for (const DatasetNode* map : chain_.maps) context.stats(*map).AddElements(1, 0);
}

}  // namespace

Dataset InOnePass(Dataset pipeline) {
  std::optional<Chain> chain = FindChain(pipeline.node());
  if (!chain) return pipeline;
  return Dataset(std::make_shared<PicturePassNode>(pipeline, *std::move(chain)));
}

}  // namespace stoker
