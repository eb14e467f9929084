#include "stoker/tools/program/print.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>

#include "stoker/base/printable.h"
#include "stoker/base/remote_path.h"
#include "stoker/base/write_text.h"
#include "stoker/tools/program/terminal.h"

namespace stoker {
namespace {

// Something that was written to standard output is not there.
std::atomic<bool> result_is_incomplete{false};

// The length of what terminal.h and the charts write to steer a terminal, where `text` begins with
// it: kEraseLine, or a colour ("\x1b[31m").
size_t OwnCommandLength(std::string_view text) {
  if (text.starts_with(kEraseLine)) return kEraseLine.size();
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// PrintableLines, but for those commands.
std::string PrintableOnTerminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t command = OwnCommandLength(text);
    out += text.substr(0, command);
    text.remove_prefix(command);
    const size_t plain = std::min(text.find_first_of("\r\x1b", command == 0 ? 1 : 0), text.size());
    out += PrintableLines(text.substr(0, plain));
    text.remove_prefix(plain);
  }
  return out;
}

bool Write(std::FILE* stream, std::string_view text) {
  const std::string shown =
      IsTerminal(::fileno(stream)) ? PrintableOnTerminal(text) : PrintableLines(text);
  if (WriteText(::fileno(stream), shown)) return true;
  if (stream == stdout) result_is_incomplete = true;
  return false;
}

}  // namespace

Status PrintResult(std::string_view text) {
  const bool written = Write(stdout, WithoutSecrets(text));
  const std::string reason = std::generic_category().message(errno);
  if (written && !result_is_incomplete) return OkStatus();
  return ResourceExhausted(
      "standard output: {}; what was printed is not complete: free space or print elsewhere",
      written ? "an earlier line could not be written" : reason);
}

void PrintProgress(std::FILE* stream, std::string_view text) {
  (void)Write(stream, WithoutSecrets(text));
}

}  // namespace stoker
