// Reading a .stoker shard like Fashion-MNIST, 60,000 records {uint8[28, 28], int64}, in batches of
// 128 with 2 threads, each figure beside another measured in turn with it:
//   of_raw         records a second of a pass of several epochs, divided by those of two bare
//                  threads that copy the bytes of the mapped file, a batch at a time, and make
//                  nothing of them: each writes into the same 100 KB again and again, which never
//                  leave its core's cache
//   of_handed      divided by those of two bare threads that do what a reader of batches wants
//                  done: each batch into memory of its own, which its reader may keep, images apart
//                  from labels, in order, to a thread that reads the labels; with no more under way
//                  than our pass has, and memory that comes back used again
//   of_npy         divided by those of `npy` over mapped arrays
//   of_sequential  pages in random order, and the records of a window of some pages, divided by in
//                  order
//   bare           the same of two bare threads: the images of the same records in the same order,
//                  known beforehand, one by one (CopyRuns), divided by whole batches in order, both
//                  into memory that is used again after 100 batches
//   of_mapped      a pass that reads by position, as programs do that only link the library,
//                  divided by one over the mapped file, as all others here are
//   of_unchecked   the first pass over an open file, which checks the checksums, divided by one
//                  that does not
// And what opening one of ten million records takes, and keeps of memory.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "stoker/base/clock.h"
#include "stoker/base/mutex.h"
#include "stoker/data/core/copy_runs.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/core/runtime.h"
#include "stoker/data/ops/batch.h"
#include "stoker/data/ops/repeat.h"
#include "stoker/data/ops/shuffle.h"
#include "stoker/data/ops/window_order_internal.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/sources/npy.h"
#include "stoker/data/sources/stoker.h"
#include "stoker/formats/npy/npy.h"
#include "stoker/formats/shard/shard_file.h"
#include "stoker/formats/shard/shard_writer.h"
#include "stoker/io/file.h"
#include "stoker/io/file_bytes.h"

namespace stoker {
namespace {

constexpr int64_t kRecords = 60'000, kBatch = 128, kPixels = 28 * 28;
// In a pass, since the cost of beginning one is not measured here.
constexpr int64_t kEpochs = 20;
constexpr int64_t kPage = (8 << 20) / (kPixels + 8);

// The files, removed at the end of the program.
class Files {
 public:
  Files() : folder_(std::filesystem::temp_directory_path() / "stoker-bench-shard") {
    SetFileAccess(FileAccess::kMapped);
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

constexpr size_t kImageBytes = kBatch * kPixels;
constexpr size_t kBytes = kImageBytes + kBatch * sizeof(int64_t);

std::span<const std::byte> MappedShard() {
  static const Result<MappedFile> file = MappedFile::Open(TheFiles().shard());
  return file->bytes();
}

// Has two threads do the pieces of work 0..count-1 between them.
template <typename Piece>
double SecondsOnTwoThreads(size_t count, const Piece& piece) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      piece(i);
      benchmark::ClobberMemory();
    }
  };
  const Stopwatch watch;
  std::thread other(work);
  work();
  other.join();
  return watch.ElapsedSeconds();
}

double SecondsOfRawBytes(int64_t epochs) {
  const std::span<const std::byte> bytes = MappedShard();
  const size_t batches = bytes.size() / kBytes;
  return SecondsOnTwoThreads(static_cast<size_t>(epochs) * batches, [&](size_t i) {
    thread_local std::vector<std::byte> batch(kBytes);
    std::memcpy(batch.data(), bytes.data() + i % batches * kBytes, kBytes);
    benchmark::DoNotOptimize(batch.data());
  });
}

// Batches on their way from two threads to the one that calls Take, some together as chunks are.
class HandedBatches {
 public:
  struct Batch {
    std::vector<std::byte> image = std::vector<std::byte>(kImageBytes);
    std::vector<int64_t> label = std::vector<int64_t>(kBatch);
  };
  static constexpr size_t kTogether = (2 << 20) / kBytes, kUnderWay = 5;
  using Several = std::vector<Batch>;

  explicit HandedBatches(int64_t epochs)
      : count_(static_cast<size_t>(epochs) * (MappedShard().size() / kBytes) / kTogether),
        threads_{std::thread([this] { Work(); }), std::thread([this] { Work(); })} {}
  ~HandedBatches() {
    for (std::thread& thread : threads_) thread.join();
  }

  size_t count() const { return count_; }
  Several Take(size_t number) {
    const MutexLock lock(mutex_);
    while (!done_.contains(number)) ready_.Wait(mutex_);
    return std::move(done_.extract(number).mapped());
  }
  void GiveBack(Several batches) {
    {
      const MutexLock lock(mutex_);
      idle_.push_back(std::move(batches));
      ++given_back_;
    }
    room_.NotifyOne();
  }

 private:
  void Work() {
    while (true) {
      Several batches;
      size_t number = 0;
      {
        const MutexLock lock(mutex_);
        while (next_ != count_ && next_ - given_back_ >= kUnderWay) room_.Wait(mutex_);
        if (next_ == count_) break;
        number = next_++;
        if (!idle_.empty()) {
          batches = std::move(idle_.back());
          idle_.pop_back();
        }
      }
      batches.resize(kTogether);
      for (size_t i = 0; i < kTogether; ++i) Fill(number * kTogether + i, batches[i]);
      {
        const MutexLock lock(mutex_);
        done_.emplace(number, std::move(batches));
      }
      ready_.NotifyOne();
    }
    room_.NotifyOne();
  }
  static void Fill(size_t number, Batch& batch) {
    const std::span<const std::byte> bytes = MappedShard();
    const std::byte* const from = bytes.data() + number % (bytes.size() / kBytes) * kBytes;
    std::memcpy(batch.image.data(), from, kImageBytes);
    std::memcpy(batch.label.data(), from + kImageBytes, kBytes - kImageBytes);
  }

  const size_t count_;
  Mutex mutex_;
  CondVar ready_, room_;
  std::map<size_t, Several> done_ STOKER_GUARDED_BY(mutex_);
  std::vector<Several> idle_ STOKER_GUARDED_BY(mutex_);
  size_t next_ STOKER_GUARDED_BY(mutex_) = 0;
  size_t given_back_ STOKER_GUARDED_BY(mutex_) = 0;
  std::array<std::thread, 2> threads_;  // last: they use all of the above
};

double SecondsOfHandedBytes(int64_t epochs) {
  const Stopwatch watch;
  HandedBatches handed(epochs);
  int64_t sum = 0;
  for (size_t i = 0; i < handed.count(); ++i) {
    HandedBatches::Several batches = handed.Take(i);
    for (const HandedBatches::Batch& batch : batches) {
      for (const int64_t label : batch.label) sum += label;
    }
    handed.GiveBack(std::move(batches));
  }
  benchmark::DoNotOptimize(sum);
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
  double seconds = 0, raw = 0, handed = 0, arrays = 0;
  for (auto _ : state) {
    seconds += SecondsOf(shard, kEpochs, state);
    raw += SecondsOfRawBytes(kEpochs);
    handed += SecondsOfHandedBytes(kEpochs);
    arrays += SecondsOf(npy, kEpochs, state);
  }
  state.counters["of_raw"] = raw / seconds;
  state.counters["of_handed"] = handed / seconds;
  state.counters["of_npy"] = arrays / seconds;
  state.counters["records_per_s"] =
      static_cast<double>(kEpochs * kRecords * state.iterations()) / seconds;
}
BENCHMARK(BM_InOrder)->Unit(benchmark::kMillisecond)->UseRealTime();

// Where the images of all records lie, in an order: a function of the position.
template <typename Order>
std::vector<MemoryRun> ImagesIn(Order order) {
  static const Result<ShardFile> file = ShardFile::Open(TheFiles().shard());
  std::vector<MemoryRun> images;
  for (int64_t i = 0; i < kRecords; ++i) {
    const int64_t record = order(i), page = file->PageOf(record);
    images.push_back({file->file().bytes().data() + file->Values(page, 0) +
                          static_cast<size_t>(record - file->page(page).first) * kPixels,
                      kPixels});
  }
  return images;
}

// Copies them a batch at a time, `by` a function (runs, to).
template <typename Copy>
double SecondsOfCopies(const std::vector<MemoryRun>& images, int64_t epochs, const Copy& by) {
  constexpr size_t kPlaces = 100;
  static std::vector<std::byte> places(kPlaces * kImageBytes);
  const size_t batches = images.size() / kBatch;
  return SecondsOnTwoThreads(static_cast<size_t>(epochs) * batches, [&](size_t i) {
    by(std::span(images).subspan(i % batches * kBatch, kBatch),
       places.data() + i % kPlaces * kImageBytes);
  });
}

void BM_ShuffledByPages(benchmark::State& state) {
  const int64_t window = state.range(0) * kPage;
  const Result<Dataset> in_order = InOrder();
  const Result<Dataset> shuffled = Source(Stoker{.files = TheFiles().shard()}) |
                                   Shuffle{.window = window, .page = kPage} | Batch{.size = kBatch};
  const SharedPermutations permutations(nullptr);
  const std::vector<MemoryRun> images = ImagesIn(
      WindowOrder(permutations, kRecords, window, kPage, /*seed=*/0, /*epoch=*/0, /*stage=*/1));
  const std::vector<MemoryRun> ordered = ImagesIn([](int64_t i) { return i; });
  double seconds = 0, sequential = 0, bare = 0, bare_sequential = 0;
  for (auto _ : state) {
    seconds += SecondsOf(shuffled, kEpochs, state);
    sequential += SecondsOf(in_order, kEpochs, state);
    bare += SecondsOfCopies(images, kEpochs, CopyRuns);
    bare_sequential += SecondsOfCopies(ordered, kEpochs, [](const auto& runs, std::byte* to) {
      std::memcpy(to, runs.front().from, kImageBytes);
    });
  }
  state.counters["of_sequential"] = sequential / seconds;
  state.counters["bare"] = bare_sequential / bare;
}
BENCHMARK(BM_ShuffledByPages)
    ->ArgName("window_pages")
    ->Arg(1)
    ->Arg(4)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Shuffled within so many pages; 0: in order; -1: each record from anywhere.
Result<Dataset> InOrderOf(int64_t pages) {
  const Result<Dataset> records = Source(Stoker{.files = TheFiles().shard()});
  if (pages == 0) return records | Batch{.size = kBatch};
  if (pages < 0) return records | Shuffle{} | Batch{.size = kBatch};
  return records | Shuffle{.window = pages * kPage, .page = kPage} | Batch{.size = kBatch};
}

void BM_ByPosition(benchmark::State& state) {
  const Result<Dataset> mapped = InOrderOf(state.range(0));
  SetFileAccess(FileAccess::kByPosition);
  const Result<Dataset> by_position = InOrderOf(state.range(0));
  SetFileAccess(FileAccess::kMapped);
  double seconds = 0, seconds_mapped = 0;
  for (auto _ : state) {
    seconds += SecondsOf(by_position, kEpochs, state);
    seconds_mapped += SecondsOf(mapped, kEpochs, state);
  }
  state.counters["of_mapped"] = seconds_mapped / seconds;
}
BENCHMARK(BM_ByPosition)
    ->ArgName("window_pages")
    ->Arg(0)
    ->Arg(4)
    ->Arg(-1)
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
