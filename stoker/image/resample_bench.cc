// Pictures a second through resize, and through resize, flip and normalise into a batch's slot,
// beside the plain twin and beside memcpy of as many bytes.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "stoker/base/instruction_set.h"
#include "stoker/image/resample.h"
#include "stoker/image/store.h"

namespace stoker {
namespace {

constexpr int64_t kHeight = 375, kWidth = 500, kChannels = 3, kSide = 224;
constexpr ShiftScale kConstants[] = {
    {123.675f, 0.01712475f}, {116.28f, 0.017507f}, {103.53f, 0.0174291f}};

std::vector<uint8_t> Picture() {
  std::vector<uint8_t> bytes(kHeight * kWidth * kChannels);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  return bytes;
}
PixelView ViewOf(const std::vector<uint8_t>& bytes) {
  return {bytes.data(), kHeight, kWidth, kChannels, kWidth * kChannels, 0};
}

class Forget final : public RowReceiver {
 public:
  void Take(int64_t /*y*/, const uint8_t* pixels) override { benchmark::DoNotOptimize(*pixels); }
};

// A picture is read whole and written once.
void CountPictures(benchmark::State& state, int64_t out_bytes) {
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * (kHeight * kWidth * kChannels + out_bytes));
  state.SetLabel(std::string(InstructionSet()));
}

void BM_Resample(benchmark::State& state) {
  const auto filter = static_cast<ResampleFilter>(state.range(0));
  const std::vector<uint8_t> bytes = Picture();
  const PixelView source = ViewOf(bytes);
  ResampleScratch scratch;
  Forget rows;
  for (auto _ : state) {
    Resample(source, ResampleBox::Whole(source), filter, {kSide, kSide}, scratch, rows);
  }
  CountPictures(state, kSide * kSide * kChannels);
}

void BM_ResampleReference(benchmark::State& state) {
  const auto filter = static_cast<ResampleFilter>(state.range(0));
  const std::vector<uint8_t> bytes = Picture();
  const PixelView source = ViewOf(bytes);
  Forget rows;
  for (auto _ : state)
    ResampleReference(source, ResampleBox::Whole(source), filter, {kSide, kSide}, rows);
  CountPictures(state, kSide * kSide * kChannels);
}

// The box is another one each time, as random crops' are, so tables are made anew.
void BM_CropResizeToSlot(benchmark::State& state) {
  const int64_t part = state.range(0);  // of the picture's sides, in percent
  const std::vector<uint8_t> bytes = Picture();
  const PixelView source = ViewOf(bytes);
  std::vector<float> out(kSide * kSide * kChannels);
  const PixelSlot slot = PixelSlot::Of(DType::kFloat32, reinterpret_cast<std::byte*>(out.data()),
                                       kSide, kSide, kChannels, false);
  ResampleScratch scratch;
  int64_t turn = 0;
  for (auto _ : state) {
    const double height = static_cast<double>(kHeight * part / 100 - turn % 2);
    const double width = static_cast<double>(kWidth * part / 100 - turn % 2);
    ResampleToSlot(source, {0, 0, height, width}, ResampleFilter::kBilinear,
                   {turn++ % 2 == 0, kConstants}, slot, scratch);
    benchmark::DoNotOptimize(out.data());
  }
  CountPictures(state, kSide * kSide * kChannels * 4);
}

void BM_StoreRow(benchmark::State& state) {
  const auto dtype = static_cast<DType>(state.range(0));
  const std::vector<uint8_t> row(kSide * kPixelBytes + 64, 7);
  std::vector<float> out(kSide * kSide * kChannels);
  const PixelSlot slot = PixelSlot::Of(dtype, reinterpret_cast<std::byte*>(out.data()), kSide,
                                       kSide, kChannels, state.range(1) != 0);
  const PixelFinish finish{
      false, dtype == DType::kUInt8 ? std::span<const ShiftScale>() : std::span(kConstants)};
  for (auto _ : state) {
    for (int64_t y = 0; y < kSide; ++y) StoreRow(row.data(), y, finish, slot);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * kSide * kSide * kChannels *
                          static_cast<int64_t>(1 + DTypeSize(dtype)));
}

// The yardstick: as many bytes moved as a resize reads.
void BM_Memcpy(benchmark::State& state) {
  const std::vector<uint8_t> bytes = Picture();
  std::vector<uint8_t> out(bytes.size());
  for (auto _ : state) {
    std::memcpy(out.data(), bytes.data(), bytes.size());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(2 * bytes.size()));
  state.SetItemsProcessed(state.iterations());
}

constexpr int kBilinear = static_cast<int>(ResampleFilter::kBilinear);
constexpr int kLanczos = static_cast<int>(ResampleFilter::kLanczos3);
BENCHMARK(BM_Memcpy);
BENCHMARK(BM_Resample)->DenseRange(kBilinear, kLanczos);
BENCHMARK(BM_ResampleReference)->Arg(kBilinear);
BENCHMARK(BM_CropResizeToSlot)->Arg(100)->Arg(70)->Arg(35);
BENCHMARK(BM_StoreRow)
    ->ArgsProduct({{static_cast<int>(DType::kUInt8), static_cast<int>(DType::kFloat32),
                    static_cast<int>(DType::kBFloat16)},
                   {0, 1}});

}  // namespace
}  // namespace stoker
