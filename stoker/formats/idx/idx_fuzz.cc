// Any bytes are either an IDX file or an error; what is read can be written and reads back the
// same.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "stoker/formats/idx/idx.h"
#include "stoker/io/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  const auto bytes = std::as_bytes(std::span(data, size));
  const Result<Array> array = ParseIdx(bytes, "input");
  if (!array.ok()) return 0;
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("stoker-idx-fuzz-{}", ::getpid()))
          .string();
  if (!WriteIdx(path, *array).ok()) std::abort();
  const Result<Buffer> written = ReadWholeFile(path);
  std::filesystem::remove(path);
  const bool same =
      written.ok() && written->size() == size && std::memcmp(written->data(), data, size) == 0;
  if (!same) std::abort();
  return 0;
}
