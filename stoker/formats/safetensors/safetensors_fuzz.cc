// Any bytes are either a safetensors file, all of whose arrays of types that we have can be read
// and written again, or an error.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/formats/safetensors/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const Buffer buffer = CopyOf(std::as_bytes(std::span(data, size)));
  const Result<SafetensorsFile> file = SafetensorsFile::Parse(buffer, "input");
  if (!file.ok()) return 0;
  std::vector<NamedArray> arrays;
  for (const SafetensorsEntry& entry : file->entries()) {
    const Result<Array> array = file->Read(entry.name);
    if (!array.ok() && entry.dtype && entry.dtype != DType::kBool) std::abort();
    if (array.ok()) arrays.push_back({entry.name, *array});
  }
  const std::string path = (std::filesystem::temp_directory_path() /
                            fmt::format("stoker-safetensors-fuzz-{}", ::getpid()))
                               .string();
  if (!WriteSafetensors(path, arrays, file->metadata()).ok()) std::abort();
  const Result<SafetensorsFile> again = SafetensorsFile::Open(path);
  std::filesystem::remove(path);  // the mapping keeps its content
  if (!again.ok() || again->metadata() != file->metadata()) std::abort();
  for (const NamedArray& named : arrays) {
    const Result<Array> array = again->Read(named.name);
    if (!array.ok() || !SameBytes(*array, named.array)) std::abort();
  }
  return 0;
}
