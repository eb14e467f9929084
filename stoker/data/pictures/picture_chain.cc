#include "stoker/data/pictures/picture_chain.h"

#include <algorithm>
#include <utility>

#include "stoker/data/pictures/picture_scratch.h"
#include "stoker/data/pictures/picture_store.h"
#include "stoker/image/cast.h"

namespace stoker {
namespace {

template <typename Part>
const Part* As(const DatasetNode& map) {
  return dynamic_cast<const Part*>(map.element_wise());
}

bool CanBeStored(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kFloat32 || dtype == DType::kBFloat16;
}

}  // namespace

struct PictureChain::Picture {
  std::span<const std::byte> file;
  ImageInfo info;
  int fast_scale = 1;
  PicturePlan plan;
  PictureFinish finish;

  ImageRegion region() const {
    const CropWindow& needed = plan.region();
    return {needed.y, needed.x, needed.height, needed.width, fast_scale};
  }
  bool DecodeAndStore(const DecodeOptions& options, std::byte* slot, bool streamed,
                      Scratch& scratch) const;
  bool Store(const PixelView& pixels, std::byte* slot, bool streamed, Scratch& scratch) const;
};

bool PictureChain::Picture::DecodeAndStore(const DecodeOptions& options, std::byte* slot,
                                           bool streamed, Scratch& scratch) const {
  const ImageRegion needed = region();
  const int64_t stride = needed.width * info.channels;
  DecodeScratch pixels = DecodeScratchFrom(scratch), working = DecodeScratchFrom(scratch);
  const PixelRows rows{
      reinterpret_cast<uint8_t*>(pixels.Take(static_cast<size_t>(needed.height * stride))), stride};
  if (!DecodeImageRegion(file, "", info, needed, options, rows, working).ok()) return false;
  TurnBeforeResize(plan, info.channels, rows);
  return Store({.data = rows.data,
                .height = needed.height,
                .width = needed.width,
                .channels = info.channels,
                .row_stride = stride},
               slot, streamed, scratch);
}

// What the store does not write, a mask of int64 for one, is cast from what it does.
bool PictureChain::Picture::Store(const PixelView& pixels, std::byte* slot, bool streamed,
                                  Scratch& scratch) const {
  const bool direct = CanBeStored(finish.dtype);
  const int64_t values = plan.height() * plan.width() * info.channels;
  const DType stored = direct ? finish.dtype : finish.computed;
  const Array aside = direct ? Array() : scratch.NewArray(stored, {values});
  PixelSlot place = PixelSlot::Of(stored, direct ? slot : aside.data(), plan.height(), plan.width(),
                                  info.channels, finish.channels_last);
  place.streamed = streamed && direct;
  const PixelFinish row_finish{.flip = plan.mirrored(), .channels = finish.channels};
  if (!StorePlanned(pixels, plan, row_finish, place)) return false;
  if (place.streamed) FinishStreaming();
  if (!direct) CastValues(stored, aside.data(), static_cast<size_t>(values), finish.dtype, slot);
  return true;
}

bool IsPictureMap(const DatasetNode& node) {
  if (const auto* finishing = As<PictureFinishing>(node))
    return finishing->picture_field().has_value();
  if (const auto* geometry = As<PictureGeometry>(node)) return !geometry->picture_fields().empty();
  const auto* decoder = As<PictureDecoder>(node);
  return decoder != nullptr && decoder->picture_field().has_value();
}

std::optional<PictureChain> PictureChain::LongestFrom(std::span<const DatasetNode* const> maps) {
  PictureChain grown;
  size_t longest = 0;
  for (size_t i = 0; i < maps.size() && grown.Add(*maps[i]); ++i) {
    if (grown.ShapesAreKnown()) longest = i + 1;
  }
  if (longest == 0) return std::nullopt;
  PictureChain chain;
  for (const DatasetNode* map : maps.first(longest)) chain.Add(*map);
  return chain;
}

std::optional<PictureChain> PictureChain::FirstIn(std::span<const DatasetNode* const> stages) {
  const auto is_picture_map = [](const DatasetNode* stage) { return IsPictureMap(*stage); };
  auto begin = std::ranges::find_if(stages, is_picture_map);
  while (begin != stages.end()) {
    const auto end = std::find_if_not(begin, stages.end(), is_picture_map);
    std::optional<PictureChain> latest;
    for (auto latest_end = begin; begin != end; ++begin) {
      std::optional<PictureChain> chain = LongestFrom({begin, end});
      if (!chain || begin + std::ssize(chain->maps()) <= latest_end) continue;
      latest_end = begin + std::ssize(chain->maps());
      latest = std::move(chain);
    }
    if (latest) return latest;
    begin = std::find_if(end, stages.end(), is_picture_map);
  }
  return std::nullopt;
}

bool PictureChain::Add(const DatasetNode& map) {
  maps_.push_back(&map);
  if (const auto* finishing = As<PictureFinishing>(map)) return AddFinishing(*finishing);
  if (const auto* geometry = As<PictureGeometry>(map)) return AddGeometry(map, *geometry);
  const auto* decoder = As<PictureDecoder>(map);
  if (decoder == nullptr) return false;
  const std::optional<size_t> field = decoder->picture_field();
  if (!field || PartOf(*field)) return false;
  parts_.push_back({.field = *field, .decoder = decoder, .finishing = {}});
  return true;
}

bool PictureChain::AddGeometry(const DatasetNode& map, const PictureGeometry& geometry) {
  Move move{.map = &map, .geometry = &geometry, .parts = {}};
  for (const size_t field : geometry.picture_fields()) {
    const std::optional<size_t> part = PartOf(field);
    if (!part || !parts_[*part].finishing.empty()) return false;
    move.parts.push_back(*part);
  }
  const bool any = !move.parts.empty();
  moves_.push_back(std::move(move));
  return any;
}

bool PictureChain::AddFinishing(const PictureFinishing& finishing) {
  const std::optional<size_t> field = finishing.picture_field();
  const std::optional<size_t> part = field ? PartOf(*field) : std::nullopt;
  if (part) parts_[*part].finishing.push_back(&finishing);
  return part.has_value();
}

std::optional<size_t> PictureChain::PartOf(size_t field) const {
  const auto part = std::ranges::find(parts_, field, &Part::field);
  if (part == parts_.end()) return std::nullopt;
  return static_cast<size_t>(part - parts_.begin());
}

bool PictureChain::ShapesAreKnown() const {
  return std::ranges::all_of(
      parts_, [&](const Part& part) { return IsFullyKnown(spec().fields[part.field].shape); });
}

std::vector<size_t> PictureChain::fields() const {
  std::vector<size_t> fields;
  for (const Part& part : parts_) fields.push_back(part.field);
  return fields;
}

std::string PictureChain::ToString() const {
  std::string text;
  for (const DatasetNode* map : maps_) text += (text.empty() ? "" : ", ") + map->name();
  return text;
}

std::optional<PictureChain::Picture> PictureChain::Probe(const Part& part,
                                                         const Element& element) const {
  const Array& array = element.arrays[part.field];
  const std::span<const std::byte> file{array.data(), array.num_bytes()};
  const Result<ImageInfo> info = ProbeImage(file, "", part.decoder->decode_options());
  if (!info.ok()) return std::nullopt;
  const int fast_scale = part.decoder->FastScaleOf(*info);
  const ImageRegion whole = WholeImage(*info, fast_scale);
  Picture picture{.file = file,
                  .info = *info,
                  .fast_scale = fast_scale,
                  .plan = PicturePlan(whole.height, whole.width),
                  .finish = {}};
  for (const PictureFinishing* finishing : part.finishing) {
    if (!finishing->AddTo(picture.finish, info->channels)) return std::nullopt;
  }
  return picture;
}

bool PictureChain::PlanMoves(const SampleKey& key, const ReadContext& context,
                             std::vector<Picture>& pictures) const {
  for (const Move& move : moves_) {
    std::vector<PicturePlan*> plans;
    for (const size_t part : move.parts) plans.push_back(&pictures[part].plan);
    Rng rng = context.rngs(*move.map).For(key);
    if (!move.geometry->AddTo(plans, rng)) return false;
  }
  return true;
}

bool PictureChain::FitsItsField(const Part& part, const Picture& picture) const {
  const Field& field = spec().fields[part.field];
  Shape shape{picture.plan.height(), picture.plan.width()};
  shape.insert(picture.finish.channels_last ? shape.end() : shape.begin(), picture.info.channels);
  return shape == field.shape && picture.finish.dtype == field.dtype;
}

bool PictureChain::MakeInto(const Element& element, std::span<std::byte* const> slots,
                            bool streamed, const ReadContext& context, Scratch& scratch) const {
  std::vector<Picture> pictures;
  for (const Part& part : parts_) {
    std::optional<Picture> picture = Probe(part, element);
    if (!picture) return false;
    pictures.push_back(*std::move(picture));
  }
  if (!PlanMoves(element.key, context, pictures)) return false;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!FitsItsField(parts_[i], pictures[i])) return false;
    if (!pictures[i].DecodeAndStore(parts_[i].decoder->decode_options(), slots[i], streamed,
                                    scratch))
      return false;
  }
  return true;
}

void PictureChain::CountElement(const ReadContext& context) const {
  for (const DatasetNode* map : maps_) context.stats(*map).AddElements(1, 0);
}

bool PictureChain::Apply(Element& element, const ReadContext& context, Scratch& scratch) const {
  std::vector<Array> made;
  std::vector<std::byte*> slots;
  for (const Part& part : parts_) {
    const Field& field = spec().fields[part.field];
    made.push_back(scratch.NewArray(field.dtype, field.shape));
    slots.push_back(made.back().data());
  }
  if (!MakeInto(element, slots, /*streamed=*/false, context, scratch)) return false;
  for (size_t i = 0; i < parts_.size(); ++i) element.arrays[parts_[i].field] = std::move(made[i]);
  return true;
}

}  // namespace stoker
