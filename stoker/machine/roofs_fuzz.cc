// The file of `stoker env`, which the doctor reads: whatever it holds, it is refused in a line, or
// read and written to the same figures again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stoker/base/json_file.h"
#include "stoker/machine/roofs.h"

namespace {

constexpr size_t kLongestMessage = 1000;

void Require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  fmt::print(stderr, "{}:\n{}\n", what, text);
  std::abort();
}

bool IsOneLine(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) return false;
  }
  return text.size() <= kLongestMessage;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const stoker::Result<stoker::Roofs> roofs = stoker::ParseRoofs(input);
  if (!roofs.ok()) {
    Require(IsOneLine(roofs.status().message()), "a message is no line",
            std::string(roofs.status().message()));
    return 0;
  }
  Require(roofs->cpus >= 0, "there are fewer CPUs than none", std::to_string(roofs->cpus));
  const std::string text = stoker::JsonFileText(roofs->ToJson());
  const stoker::Result<stoker::Roofs> again = stoker::ParseRoofs(text);
  Require(again.ok(), "what was written cannot be read", text);
  Require(again->ToJson() == roofs->ToJson(), "what was written is read differently", text);
  return 0;
}
