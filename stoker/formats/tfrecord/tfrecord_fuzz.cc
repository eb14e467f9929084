// Any bytes are TFRecords or an error, the same read in order and by an index, and whatever is in a
// record is an Example or an error.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "stoker/formats/tfrecord/example.h"
#include "stoker/formats/tfrecord/record_check.h"
#include "stoker/formats/tfrecord/record_reader.h"
#include "stoker/io/atomic_file.h"

namespace {

using namespace stoker;
using Bytes = std::span<const std::byte>;

void CheckValues(Bytes record, const FeatureValues& values) {
  const Result<int64_t> count = CountValues(record, values);
  if (!count.ok()) return;
  // Values take at least one byte each, but for byte strings, whose length does.
  if (*count < 0 || *count > std::ssize(record)) std::abort();
  const auto n = static_cast<size_t>(*count);
  std::vector<int64_t> integers(n);
  std::vector<float> floats(n);
  std::vector<Bytes> strings(n);
  Result<int64_t> copied = *count;
  if (values.kind == FeatureKind::kInt64) copied = CopyInt64s(record, values, integers);
  if (values.kind == FeatureKind::kFloat) copied = CopyFloats(record, values, floats);
  if (values.kind == FeatureKind::kBytes) copied = FindByteStrings(record, values, strings);
  if (copied.ok() && *copied != *count) std::abort();
}

void CheckExample(Bytes record) {
  static const FeatureNames names({"a", "b", "image"});
  FeatureValues found[3];
  FeatureSteps lists[3];
  if (FindFeatures(record, names, found).ok()) {
    for (const FeatureValues& values : found) CheckValues(record, values);
  }
  if (!FindSequenceFeatures(record, names, found, names, lists).ok()) return;
  for (const FeatureSteps& steps : lists) {
    std::vector<FeatureValues> values;
    if (!SplitSteps(record, steps, values).ok()) continue;
    for (const FeatureValues& one : values) CheckValues(record, one);
  }
}

// The offsets of the records, or nothing if there is an error.
std::vector<uint64_t> InOrder(Bytes bytes) {
  TfRecordReader reader(MakeMemorySource(bytes, "input"), {});
  std::vector<uint64_t> offsets = {0};
  while (true) {
    const Result<std::optional<TfRecord>> record = reader.Next();
    if (!record.ok()) return {};
    if (!*record) return offsets;
    CheckExample((*record)->data);
    offsets.push_back(reader.offset());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  CheckExample(bytes);
  const std::vector<uint64_t> in_order = InOrder(bytes);
  // Damages lie one after the other, inside the file.
  const TfRecordCheck check = CheckTfRecords(bytes);
  uint64_t end = 0;
  for (const TfRecordDamage& damage : check.damages) {
    if (damage.begin < end || damage.bytes == 0 || damage.bytes > size - damage.begin) std::abort();
    end = damage.begin + damage.bytes;
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("stoker-tfrecord-fuzz-{}", ::getpid()))
          .string();
  if (!WriteFileAtomically(path, bytes).ok()) std::abort();
  const Result<File> file = File::Open(path);
  std::filesystem::remove(path);
  if (!file.ok()) std::abort();
  const Result<std::vector<uint64_t>> scanned = ScanTfRecords(*file);
  if (scanned.ok() ? *scanned != in_order : !in_order.empty()) std::abort();
  return 0;
}
