#include "stoker/device/torch_error.h"

#include <c10/util/Exception.h>

#include <charconv>
#include <iterator>
#include <new>
#include <string>

namespace stoker {
namespace {

// torch's messages go on with notes for its own developers.
std::string FirstParagraph(const std::string& text) {
  return text.substr(0, text.find("\nException raised from"));
}

// Recognises the message of torch's host allocator, and std::bad_alloc where a library turned it
// into text. NoMemoryText keeps "you tried to allocate N bytes", because out_of_memory.h reads N.
bool SaysNoMemory(std::string_view what) {
  return what.find("can't allocate memory") != std::string_view::npos ||
         what.find("not enough memory: you tried to allocate") != std::string_view::npos ||
         what.find("std::bad_alloc") != std::string_view::npos;
}

// "4.0 MiB"
std::string RoundedSize(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string NoMemoryText(std::string_view what) {
  constexpr std::string_view kWanted = "you tried to allocate";
  constexpr std::string_view kAdvice =
      "use a smaller batch or model, or train.activation_checkpointing";
  const size_t wanted = what.find(kWanted);
  if (wanted == std::string_view::npos) return fmt::format("out of memory; {}", kAdvice);
  const std::string_view rest = what.substr(wanted);
  const std::string_view words = rest.substr(0, rest.find_first_of(".;\n"));
  int64_t bytes = 0;
  const std::string_view number = rest.substr(kWanted.size() + 1);
  std::from_chars(number.data(), number.data() + number.size(), bytes);
  return fmt::format("out of memory: an array of {} does not fit ({}); {}", RoundedSize(bytes),
                     words, kAdvice);
}

StatusCode CodeOf(const c10::Error& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) {
    return StatusCode::kResourceExhausted;
  }
  if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr) {
    return StatusCode::kUnimplemented;
  }
  if (dynamic_cast<const c10::AcceleratorError*>(&error) != nullptr) return StatusCode::kInternal;
  // Nearly all else that torch checks is what it was given: shapes, types, values.
  return StatusCode::kInvalidArgument;
}

}  // namespace

Status StatusOfException(const std::exception& error) {
  const auto* const from_torch = dynamic_cast<const c10::Error*>(&error);
  const std::string_view what =
      from_torch != nullptr ? from_torch->what_without_backtrace() : error.what();
  if (SaysNoMemory(what)) return ResourceExhausted("{}", NoMemoryText(what));
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error)) {
    return {CodeOf(*torch_error),
            "torch: " + FirstParagraph(torch_error->what_without_backtrace())};
  }
  return Internal("{}", error.what());
}

}  // namespace stoker
