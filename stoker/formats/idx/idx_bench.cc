// Reading a training set of Fashion-MNIST's size, against inflating it with zlib (what Python's
// gzip module does) in the same run. Bytes are those of the array.
#include <benchmark/benchmark.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "stoker/formats/idx/idx.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

// Noisy blobs on black, which pack by a factor of about two, as pictures of clothes do.
Array Images() {
  Array images = Array::Allocate(DType::kUInt8, {60'000, 28, 28});
  uint32_t state = 1;
  for (size_t i = 0; i < images.num_bytes(); ++i) {
    const int x = static_cast<int>(i % 28) - 14, y = static_cast<int>(i / 28 % 28) - 14;
    state = state * 1664525 + 1013904223;
    images.data()[i] = static_cast<std::byte>(x * x + y * y < 130 ? 150 + (state >> 26) : 0);
  }
  return images;
}

// The files of one run of the benchmark, written once.
class Files {
 public:
  static const Files& Get() {
    static const Files files;
    return files;
  }
  ~Files() { fs::remove_all(folder_); }

  const Array images = Images();
  std::string Path(IdxCompression compression) const {
    return (folder_ / (compression == IdxCompression::kGzip ? "images.gz" : "images")).string();
  }

 private:
  Files() {
    fs::create_directories(folder_);
    for (const auto compression : {IdxCompression::kNone, IdxCompression::kGzip}) {
      if (!WriteIdx(Path(compression), images, compression).ok()) std::abort();
    }
  }
  const fs::path folder_ =
      fs::temp_directory_path() / fmt::format("stoker-idx-bench-{}", ::getpid());
};

template <IdxCompression kCompression>
void BM_ReadIdx(benchmark::State& state) {
  const Files& files = Files::Get();
  Array array;
  for (auto _ : state) {
    Result<Array> read = ReadIdx(files.Path(kCompression));
    if (!read.ok()) return state.SkipWithError("failed");
    array = *std::move(read);
  }
  if (!SameBytes(array, files.images)) state.SkipWithError("wrong answer");
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(array.num_bytes()));
}

void BM_Zlib(benchmark::State& state) {
  const Files& files = Files::Get();
  constexpr size_t kHeader = 16;
  std::vector<char> out(kHeader + files.images.num_bytes());
  for (auto _ : state) {
    gzFile file = gzopen(files.Path(IdxCompression::kGzip).c_str(), "rb");
    if (gzread(file, out.data(), static_cast<unsigned>(out.size())) !=
        static_cast<int>(out.size())) {
      state.SkipWithError("failed");
    }
    gzclose(file);
  }
  if (std::memcmp(out.data() + kHeader, files.images.data(), files.images.num_bytes()) != 0) {
    state.SkipWithError("wrong answer");
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(files.images.num_bytes()));
}

BENCHMARK(BM_ReadIdx<IdxCompression::kNone>)
    ->Name("BM_ReadIdx/plain")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadIdx<IdxCompression::kGzip>)
    ->Name("BM_ReadIdx/gzip")
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Zlib)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stoker
