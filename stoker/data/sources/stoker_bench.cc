// Reading a .stoker shard like Fashion-MNIST, 60,000 records {uint8[28, 28], int64}, in batches of
// 128 with 2 threads, each figure beside another measured in turn with it:
//   of_raw         records a second of a pass of several epochs, divided by those of two bare
//   threads
//                  that copy the bytes of the mapped file, whole batches at a time, into memory of
//                  their own and make nothing of them
//   of_npy         likewise, divided by those of `npy` over mapped arrays
//   of_sequential  pages in random order, and the records of a window of some pages, divided by in
//                  order
//   of_unchecked   the first pass over an open file, which checks the checksums, divided by one
//                  that does not
// And what opening one of ten million records takes, and keeps of memory.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/data/iterator.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/registry.h"
#include "stoker/data/runtime.h"
#include "stoker/data/sources/npy.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/shard/shard_file.h"
#include "stoker/formats/shard/shard_writer.h"
#include "stoker/io/file.h"

namespace stoker {
namespace {

constexpr int64_t kRecords = 60'000, kBatch = 128, kPixels = 28 * 28;
// Of a pass: what it takes to begin one is not what is measured here.
constexpr int64_t kEpochs = 20;
constexpr int64_t kPage = (8 << 20) / (kPixels + 8);

// The files, removed at the end of the program.
class Files {
 public:
  Files() : folder_(std::filesystem::temp_directory_path() / "stoker-bench-shard") {
    std::filesystem::create_directories(folder_);
    Array images = Array::Allocate(DType::kUInt8, {kRecords, 28, 28});
    Array labels = Array::Allocate(DType::kInt64, {kRecords});
    for (size_t i = 0; i < images.num_bytes(); ++i)
      images.data()[i] = static_cast<std::byte>(i * 7 + i / 1000);
    for (int64_t i = 0; i < kRecords; ++i) labels.values<int64_t>()[static_cast<size_t>(i)] = i;
    Result<ShardWriter> writer = ShardWriter::Create(
        shard(), {.fields = {{"image", DType::kUInt8, {28, 28}}, {"label", DType::kInt64, {}}},
                  .origin = ""});
    for (int64_t i = 0; i < kRecords; ++i)
      (void)writer->Append(std::vector{images.Row(i), labels.Row(i)});
    (void)writer->Commit();
    (void)WriteNpy(images_npy(), images);
    (void)WriteNpy(labels_npy(), labels);
  }
  ~Files() { std::filesystem::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  std::string shard() const { return path("a.stoker"); }
  std::string images_npy() const { return path("images.npy"); }
  std::string labels_npy() const { return path("labels.npy"); }

 private:
  std::filesystem::path folder_;
};

const Files& TheFiles() {
  static const Files files;
  return files;
}

// Seconds of `epochs` in one pass, in which every label is seen.
double SecondsOf(const Result<Dataset>& dataset, int64_t epochs, benchmark::State& state) {
  const Result<Dataset> repeated = dataset | Repeat{.count = epochs};
  const auto iterator = repeated->Open(Runtime::Threaded(2));
  const Stopwatch watch;
  int64_t sum = 0;
  for (auto next = (*iterator)->Next(); next.ok() && *next; next = (*iterator)->Next())
    for (const int64_t label : (*next)->arrays[1].values<int64_t>()) sum += label;
  if (sum != epochs * (kRecords * (kRecords - 1) / 2)) state.SkipWithError("wrong answer");
  return watch.ElapsedSeconds();
}

double SecondsOfRawBytes(int64_t epochs) {
  static const Result<MappedFile> file = MappedFile::Open(TheFiles().shard());
  const std::span<const std::byte> bytes = file->bytes();
  constexpr size_t kBytes = kBatch * (kPixels + 8);
  const size_t batches = bytes.size() / kBytes;
  std::atomic<size_t> next = 0;
  const auto read = [&] {
    std::vector<std::byte> batch(kBytes);
    for (size_t i = next++; i < static_cast<size_t>(epochs) * batches; i = next++) {
      std::memcpy(batch.data(), bytes.data() + i % batches * kBytes, kBytes);
      benchmark::DoNotOptimize(batch.data());
      benchmark::ClobberMemory();
    }
  };
  const Stopwatch watch;
  std::thread other(read);
  read();
  other.join();
  return watch.ElapsedSeconds();
}

Result<Dataset> InOrder(bool verify = true) {
  return Source(Stoker{.files = TheFiles().shard(), .verify = verify}) | Batch{.size = kBatch};
}

void BM_InOrder(benchmark::State& state) {
  const Result<Dataset> shard = InOrder();
  const Result<Dataset> npy = Source(Npy{.fields = {{"image", TheFiles().images_npy()},
                                                    {"label", TheFiles().labels_npy()}}}) |
                              Batch{.size = kBatch};
  double seconds = 0, raw = 0, arrays = 0;
  for (auto _ : state) {
    seconds += SecondsOf(shard, kEpochs, state);
    raw += SecondsOfRawBytes(kEpochs);
    arrays += SecondsOf(npy, kEpochs, state);
  }
  state.counters["of_raw"] = raw / seconds;
  state.counters["of_npy"] = arrays / seconds;
  state.counters["records_per_s"] =
      static_cast<double>(kEpochs * kRecords * state.iterations()) / seconds;
}
BENCHMARK(BM_InOrder)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_ShuffledByPages(benchmark::State& state) {
  const Result<Dataset> in_order = InOrder();
  const Result<Dataset> shuffled = Source(Stoker{.files = TheFiles().shard()}) |
                                   Shuffle{.window = state.range(0) * kPage, .page = kPage} |
                                   Batch{.size = kBatch};
  double seconds = 0, sequential = 0;
  for (auto _ : state) {
    seconds += SecondsOf(shuffled, kEpochs, state);
    sequential += SecondsOf(in_order, kEpochs, state);
  }
  state.counters["of_sequential"] = sequential / seconds;
}
BENCHMARK(BM_ShuffledByPages)
    ->ArgName("window_pages")
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_FirstPass(benchmark::State& state) {
  double seconds = 0, unchecked = 0;
  for (auto _ : state) {
    seconds += SecondsOf(InOrder(), /*epochs=*/1, state);
    unchecked += SecondsOf(InOrder(/*verify=*/false), /*epochs=*/1, state);
  }
  state.counters["of_unchecked"] = unchecked / seconds;
}
BENCHMARK(BM_FirstPass)->Unit(benchmark::kMillisecond)->UseRealTime();

int64_t ResidentBytes() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

void BM_OpenTenMillionRecords(benchmark::State& state) {
  // As many pages as with records of 785 bytes.
  constexpr int64_t kMany = 10'000'000, kPages = 936;
  const std::string path = TheFiles().path("ten-million.stoker");
  Result<ShardWriter> writer =
      ShardWriter::Create(path, {.fields = {{"label", DType::kInt64, {}}}, .origin = ""},
                          kMany / kPages * sizeof(int64_t));
  const std::vector<Array> record{Array::Of(std::vector<int64_t>{1}).Reshaped({})};
  for (int64_t i = 0; i < kMany; ++i) (void)writer->Append(record);
  (void)writer->Commit();
  int64_t most = 0;
  for (auto _ : state) {
    const int64_t before = ResidentBytes();
    const Result<ShardFile> file = ShardFile::Open(path);
    if (!file.ok() || file->size() != kMany) state.SkipWithError("wrong answer");
    most = std::max(most, ResidentBytes() - before);
  }
  if (most > 1 << 20) state.SkipWithError("more than 1 MiB stays resident");
  state.counters["resident_bytes"] = static_cast<double>(most);
}
BENCHMARK(BM_OpenTenMillionRecords)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace stoker
