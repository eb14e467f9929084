// Where the time of one picture goes on its way into a batch (random-resized crop to 224, mirrored
// or not, normalised to float32), in percent, and how far the whole is from the floor: Huffman
// decoding down to the last row that is needed, of what is needed alone. Done on one thread.
//
// The pictures are those of the folder that STOKER_PHOTOS names (`./dev photos` makes it); where it
// is not set, made up. All are taken five times, each time a step further, so a step's time is the
// difference of two.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "stoker/base/buffer.h"
#include "stoker/image/decode.h"
#include "stoker/image/jpeg_baseline/entropy_decoder.h"
#include "stoker/image/jpeg_baseline/region_plan.h"
#include "stoker/image/jpeg_baseline/strip.h"
#include "stoker/image/random_crop_bench.h"
#include "stoker/image/resample.h"
#include "stoker/image/store.h"
#include "stoker/image/testing.h"

namespace stoker {
namespace {

using namespace jpeg_baseline;  // NOLINT: it takes that decoder apart

constexpr int64_t kSide = 224;
constexpr size_t kBatch = 64, kSlotBytes = 3 * kSide * kSide * sizeof(float);
constexpr ShiftScale kConstants[] = {
    {123.675f, 0.01712475f}, {116.28f, 0.017507f}, {103.53f, 0.0174291f}};

enum Kind { kQ92, kQ98, kNumKinds };
constexpr const char* kFolders[kNumKinds] = {"q92-420", "q98-444"};

std::vector<std::string> Tiles(const std::filesystem::path& folder) {
  constexpr size_t kEvery = 9, kMost = 256;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> files;
  for (size_t i = 0; i < paths.size() && files.size() < kMost; i += kEvery) {
    std::ifstream in(paths[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return files;
}

std::vector<std::string> MadeUp(Kind kind) {
  std::vector<std::string> files;
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    TestPicture picture = MakePicture(500, 375, 3, seed);
    for (size_t i = 0; i < picture.samples.size(); ++i) {
      const int grain = static_cast<int>(HashOf(static_cast<uint32_t>(i), seed, 0) % 9) - 4;
      picture.samples[i] = static_cast<uint8_t>(std::clamp(picture.samples[i] + grain, 0, 255));
    }
    files.push_back(kind == kQ98
                        ? EncodeJpeg(picture, {.quality = 98})
                        : EncodeJpeg(picture, {.quality = 92, .sampling = Sampling(2, 2)}));
  }
  return files;
}

const std::vector<std::string>& Files(Kind kind) {
  static std::array<std::vector<std::string>, kNumKinds> files;
  if (files[kind].empty()) {
    const char* photos = std::getenv("STOKER_PHOTOS");
    files[kind] = photos != nullptr
                      ? Tiles(std::filesystem::path(photos) / kFolders[kind] / "train")
                      : MadeUp(kind);
  }
  return files[kind];
}

enum Step { kEntropy, kInverseDct, kColour, kResize, kStore, kNumSteps };
constexpr const char* kStepNames[kNumSteps] = {"entropy_%", "idct_%", "colour_%", "resize_%",
                                               "store_%"};

// What a step of the decoder alone needs.
struct Decoder {
  Frame frame;
  EntropyDecoder entropy;
  CoefficientBatch batch;
};

// Decodes what the region needs, up to `last`.
bool DecodeTo(Step last, const std::string& jpeg, const ImageRegion& region, Decoder& decoder,
              const PixelRows& out, DecodeScratch& scratch) {
  const auto bytes = BytesOf(jpeg);
  const Result<bool> ours = ParseFrame(bytes, "tile", decoder.frame);
  if (!ours.ok() || !*ours || !decoder.entropy.Start(decoder.frame, bytes, "tile").ok())
    return false;
  const RegionPlan plan = PlanRegion(decoder.frame, region, 3);
  Strip strip(decoder.frame, plan, scratch);
  PixelWriter pixels(plan, decoder.frame.mcus_down(), region, 3, out, scratch);
  int64_t unwanted =
      int64_t{plan.mcu_rows.begin} * decoder.frame.mcus_across() + plan.mcu_columns.begin;
  for (int row = plan.mcu_rows.begin; row < plan.mcu_rows.end; ++row) {
    if (!decoder.entropy.Skip(unwanted).ok()) return false;
    unwanted = decoder.frame.mcus_across() - plan.mcu_columns.size();
    for (int column = 0; column < plan.mcu_columns.size(); column += kGroupBlocks) {
      const int count = std::min(kGroupBlocks, plan.mcu_columns.size() - column);
      if (!decoder.entropy.Decode(count, decoder.batch).ok()) return false;
      if (last >= kInverseDct) strip.Put(decoder.batch, row, column);
    }
    if (last >= kColour) pixels.WriteRows(strip, row);
  }
  return true;
}

class Rows final : public RowReceiver {
 public:
  Rows(const PixelFinish* finish, const PixelSlot& slot) : finish_(finish), slot_(slot) {}
  void Take(int64_t y, const uint8_t* pixels) override {
    benchmark::DoNotOptimize(*pixels);
    if (finish_ != nullptr) StoreRow(pixels, y, *finish_, slot_);
  }

 private:
  const PixelFinish* finish_;  // null: nothing is stored
  const PixelSlot& slot_;
};

// Takes pictures as far as each step, and adds up the time to there.
class Walk {
 public:
  explicit Walk(Kind kind) : files_(Files(kind)) {
    for (const std::string& file : files_) infos_.push_back(*ProbeImage(BytesOf(file), "tile"));
  }

  // All pictures, by other regions than before; false if one cannot be taken.
  bool TakeAll() {
    std::vector<ImageRegion> regions;
    for (const ImageInfo& info : infos_)
      regions.push_back(DrawRandomCrop(rng_, info.width, info.height));
    if (!Go(kStore, regions)) return false;  // memory and tables are there from here on
    for (int last = 0; last < kNumSteps; ++last) {
      const auto began = std::chrono::steady_clock::now();
      if (!Go(static_cast<Step>(last), regions)) return false;
      const std::chrono::duration<double, std::nano> took =
          std::chrono::steady_clock::now() - began;
      ns_to_[static_cast<size_t>(last)] += took.count();
    }
    return true;
  }

  size_t pictures() const { return files_.size(); }
  double whole_ns() const { return ns_to_.back(); }
  double floor_ns() const { return ns_to_.front(); }
  double share(int step) const {
    const double before = step == 0 ? 0 : ns_to_[static_cast<size_t>(step) - 1];
    return (ns_to_[static_cast<size_t>(step)] - before) / whole_ns();
  }

 private:
  bool Go(Step last, const std::vector<ImageRegion>& regions) {
    for (size_t i = 0; i < files_.size(); ++i)
      if (!GoTo(last, files_[i], regions[i], i % 2 == 0)) return false;
    return true;
  }

  bool GoTo(Step last, const std::string& file, const ImageRegion& region, bool flip) {
    scratch_.Reset();
    const int64_t stride = 3 * region.width;
    const PixelRows rows{
        reinterpret_cast<uint8_t*>(scratch_.Take(static_cast<size_t>(region.height * stride))),
        stride};
    if (!DecodeTo(last, file, region, *decoder_, rows, scratch_)) return false;
    if (last < kResize) return true;
    const PixelView source{rows.data, region.height, region.width, 3, stride, 0};
    const PixelFinish finish{.flip = flip, .channels = kConstants};
    slot_ = PixelSlot::Of(DType::kFloat32, batch_.data() + turn_++ % kBatch * kSlotBytes, kSide,
                          kSide, 3, /*channels_last=*/false);
    slot_.streamed = true;
    Rows receiver(last >= kStore ? &finish : nullptr, slot_);
    Resample(source, ResampleBox::Whole(source), ResampleFilter::kBilinear, {kSide, kSide},
             resampler_, receiver);
    FinishStreaming();
    return true;
  }

  const std::vector<std::string>& files_;
  std::vector<ImageInfo> infos_;
  Rng rng_{/*seed=*/1, 0, 0, 0};
  size_t turn_ = 0;
  std::array<double, kNumSteps> ns_to_{};
  DecodeScratch scratch_;
  std::unique_ptr<Decoder> decoder_ = std::make_unique<Decoder>();
  ResampleScratch resampler_;
  // A batch, and the place of the picture under way.
  Buffer batch_ = Buffer::Allocate(kBatch * kSlotBytes);
  PixelSlot slot_;
};

void BM_WhereTimeGoes(benchmark::State& state) {
  const auto kind = static_cast<Kind>(state.range(0));
  Walk walk(kind);
  for (auto _ : state) {
    const double before = walk.whole_ns();
    if (!walk.TakeAll()) return state.SkipWithError("a picture was not decoded");
    state.SetIterationTime((walk.whole_ns() - before) * 1e-9);
  }
  for (int step = 0; step < kNumSteps; ++step)
    state.counters[kStepNames[step]] = 100 * walk.share(step);
  state.counters["of_floor"] = walk.whole_ns() / walk.floor_ns();
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(walk.pictures()));
  state.SetLabel(kFolders[kind]);
}

BENCHMARK(BM_WhereTimeGoes)->Arg(kQ92)->Arg(kQ98)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker
