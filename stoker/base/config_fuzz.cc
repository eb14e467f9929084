// Bytes up to the first NUL are a document; what follows is one --set on it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stoker/base/config.h"

namespace {

void Require(bool holds, const char* what, const std::string& text) {
  if (holds) return;
  fmt::print(stderr, "{}:\n{}\n", what, text);
  std::abort();
}

// What is written must be read back to an equal tree, and written to the same text again.
void CheckRoundTrip(const stoker::ConfigNode& node) {
  const std::string text = stoker::ToYaml(node);
  const stoker::Result<stoker::ConfigNode> back = stoker::ParseYaml(text, "written");
  Require(back.ok(), "what was written cannot be read", text);
  Require(stoker::Differences(node, *back).empty(), "what was written is read differently", text);
  Require(stoker::ToYaml(*back) == text, "what was read is written differently", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t split = input.find('\0');
  stoker::Result<stoker::ConfigNode> root = stoker::ParseYaml(input.substr(0, split), "fuzz");
  if (!root.ok()) return 0;
  CheckRoundTrip(*root);
  if (split == std::string_view::npos) return 0;
  // --set may nest a value as deep as a document inside one, which is deeper than ParseYaml reads:
  // no round trip here.
  const stoker::ConfigNode before = *root;
  const stoker::Status set = stoker::SetByPath(*root, input.substr(split + 1));
  Require(set.ok() || stoker::Differences(before, *root).empty(),
          "a failed --set changed the recipe", set.ToString());
  return 0;
}
