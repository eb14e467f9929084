// Reading and parsing TFRecords of 784 bytes and a label, beside copying the same bytes.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "stoker/formats/tfrecord/example.h"
#include "stoker/formats/tfrecord/example_writer.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/io/checksum.h"

namespace stoker {
namespace {

constexpr size_t kImageBytes = 784;
constexpr int64_t kRecords = 1000;

const std::vector<std::string>& Examples() {
  static const std::vector<std::string> examples = [] {
    std::vector<std::string> made;
    for (int64_t i = 0; i < kRecords; ++i) {
      const std::vector<int64_t> label = {i % 10};
      made.push_back(ExampleBuilder()
                         .Add("image", BytesFeature(std::string(kImageBytes, static_cast<char>(i))))
                         .Add("label", Int64Feature(label))
                         .Example());
    }
    return made;
  }();
  return examples;
}

std::string File() {
  std::string file;
  const auto add = [&file](const auto& value) {
    file.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (const std::string& record : Examples()) {
    const uint64_t length = record.size();
    add(length);
    add(MaskCrc32c(Crc32c(std::as_bytes(std::span(&length, 1)))));
    file += record;
    add(MaskCrc32c(Crc32c(record)));
  }
  return file;
}

void BM_ReadInOrder(benchmark::State& state) {
  const std::string file = File();
  for (auto _ : state) {
    TfRecordReader reader(MakeMemorySource(std::as_bytes(std::span(file)), "x"),
                          {.verify = state.range(0) != 0});
    for (int64_t i = 0; i < kRecords; ++i) {
      const Result<std::optional<TfRecord>> record = reader.Next();
      if (!record.ok() || !*record || (*record)->damaged)
        return state.SkipWithError("wrong answer");
      benchmark::DoNotOptimize((*record)->data.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * kRecords);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(file.size()));
}
BENCHMARK(BM_ReadInOrder)->Arg(0)->Arg(1)->ArgName("verify");

void BM_ParseImageAndLabel(benchmark::State& state) {
  const FeatureNames names({"image", "label"});
  std::vector<FeatureValues> found(2);
  std::vector<std::byte> image(kImageBytes);
  int64_t label = 0, sum = 0;
  for (auto _ : state) {
    for (const std::string& example : Examples()) {
      const auto record = std::as_bytes(std::span(example));
      std::span<const std::byte> text;
      if (!FindFeatures(record, names, found).ok() ||
          !FindByteStrings(record, found[0], {&text, 1}).ok() || text.size() != kImageBytes ||
          !CopyInt64s(record, found[1], {&label, 1}).ok())
        return state.SkipWithError("wrong answer");
      std::memcpy(image.data(), text.data(), text.size());
      benchmark::DoNotOptimize(image.data());
      sum += label;
    }
  }
  if (sum != state.iterations() * kRecords * 9 / 2) state.SkipWithError("wrong answer");
  state.SetItemsProcessed(state.iterations() * kRecords);
}
BENCHMARK(BM_ParseImageAndLabel);

// The yardstick.
void BM_CopyImage(benchmark::State& state) {
  std::vector<std::byte> image(kImageBytes);
  for (auto _ : state) {
    for (const std::string& example : Examples()) {
      std::memcpy(image.data(), example.data(), kImageBytes);
      benchmark::DoNotOptimize(image.data());
      benchmark::ClobberMemory();
    }
  }
  state.SetItemsProcessed(state.iterations() * kRecords);
}
BENCHMARK(BM_CopyImage);

}  // namespace
}  // namespace stoker
