#include "stoker/device/torch_error.h"

#include <c10/util/Exception.h>

#include <new>
#include <string>

namespace stoker {
namespace {

// torch's messages go on with notes for its own developers.
std::string FirstParagraph(const std::string& text) {
  return text.substr(0, text.find("\nException raised from"));
}

StatusCode CodeOf(const c10::Error& error) {
  const std::string_view what = error.what_without_backtrace();
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      what.find("can't allocate memory") != std::string_view::npos) {
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
  if (const auto* torch_error = dynamic_cast<const c10::Error*>(&error)) {
    return {CodeOf(*torch_error),
            "torch: " + FirstParagraph(torch_error->what_without_backtrace())};
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return ResourceExhausted("out of memory; use a smaller batch");
  }
  return Internal("{}", error.what());
}

}  // namespace stoker
