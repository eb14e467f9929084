#include "stoker/tools/print.h"

#include <cerrno>
#include <system_error>

namespace stoker {
namespace {

bool Write(std::FILE* stream, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
         std::fflush(stream) == 0;
}

}  // namespace

Status PrintResult(std::string_view text) {
  const bool written = Write(stdout, text);
  const std::string reason = std::generic_category().message(errno);
  if (written && std::ferror(stdout) == 0) return OkStatus();
  return ResourceExhausted(
      "standard output: {}; what was printed is not complete: free space or print elsewhere",
      written ? "an earlier line could not be written" : reason);
}

void PrintProgress(std::FILE* stream, std::string_view text) { (void)Write(stream, text); }

}  // namespace stoker
