// Any bytes are either a file of PyTorch, all of whose tensors can be read and written again, or an
// error.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "stoker/formats/copied_bytes_testing_internal.h"
#include "stoker/formats/pt/pt_file.h"
#include "stoker/formats/pt/pt_writer.h"

namespace stoker {
namespace {

void ReadAndWriteAgain(const PtFile& file) {
  std::vector<NamedArray> arrays;
  for (const PtEntry& entry : file.entries()) {
    const Result<Array> array = file.Read(entry.name);
    if (!array.ok()) return;  // damaged values
    if (array->shape() != entry.shape || array->dtype() != entry.dtype) std::abort();
    arrays.push_back({entry.name, *array});
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("stoker-pt-fuzz-{}", ::getpid()))
          .string();
  if (!WritePt(path, arrays).ok()) std::abort();
  const Result<PtFile> again = PtFile::Open(path);
  std::filesystem::remove(path);  // the mapping keeps its content
  if (!again.ok()) std::abort();
  const Result<std::vector<NamedArray>> all = again->ReadAll();
  if (!all.ok() || all->size() != arrays.size()) std::abort();
  for (size_t i = 0; i < arrays.size(); ++i) {
    if ((*all)[i].name != arrays[i].name || !SameBytes((*all)[i].array, arrays[i].array))
      std::abort();
  }
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const Buffer buffer = CopyOf(std::as_bytes(std::span(data, size)));
  const Result<PtFile> file = PtFile::Parse(buffer, "input");
  if (file.ok()) ReadAndWriteAgain(*file);
  return 0;
}
