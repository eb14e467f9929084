// Failed elements: what stands in the place of an element that could not be made, where the pass
// goes on all the same. How a stage asks for that is in ops/ignore_errors.h.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "stoker/data/core/dataset.h"

namespace stoker {

// Whether this error says that something is wrong with an element: its bytes are damaged
// (kDataLoss), its file is missing (kNotFound), it is of a kind or size that cannot be handled
// (kUnimplemented, kOutOfRange, kInvalidArgument), or the code that makes it fails on it
// (kInternal). Such an element fails again whenever it is read, so leaving it out gives the same
// bytes on every machine and at any time.
//
// Trouble is not about an element: a server or disk that does not answer (kUnavailable), no memory,
// no space or too many open files (kResourceExhausted), access that is refused (kPermissionDenied:
// whose rights they are decides, or a token that has run out), files that change while they are
// read (kFailedPrecondition), and being asked to stop (kCancelled). It ends the pass, whatever
// policy the pipeline has for elements that fail; what may pass is tried again before, where it is
// met (io/local_retry.h, io/remote/remote_request.h).
bool IsAboutOneElement(const Status& error);

// Call it in a catch block: the error for what has been thrown. `where` says what was being done
// ("map: element 7: the function"). Memory that ran out and the errors of the operating system keep
// their codes (kResourceExhausted, those of ErrnoStatus); anything else is kInternal.
Status ThrownError(std::string_view where);

// kCancelled: what ends the work of `where` (a stage) when its pass ends.
Status AskedToStop(std::string_view where);

// Where an error arose: at the innermost stage that reported it.
struct FailureOrigin {
  std::string_view stage;  // its name; lives as long as the dataset
  SampleKey key;           // of the element; index -1 where several were made together
};

// The element that stands for one that failed.
Element FailedElement(const Status& reason, const FailureOrigin& origin);

// While elements are read by position, the stage that fails says so here, for this thread, and the
// stages that its error passes through stay silent: so an error is counted once, and is known by
// the element that it happened to. The outermost Read begins anew.
class FailureScope {
 public:
  FailureScope();
  ~FailureScope();
  FailureScope(const FailureScope&) = delete;
  FailureScope& operator=(const FailureScope&) = delete;

  // Notes where the error that is being returned arose. False where one has been noted already.
  static bool Note(const DatasetNode& node, SampleKey key);
  // What has been noted, and forgets it; `otherwise` where nothing has.
  static FailureOrigin Take(const FailureOrigin& otherwise);
};

// Gives what `make`, which returns a Status or a Result, returns. What it throws becomes an error
// (ThrownError); `what` says what was being done.
template <typename Make>
auto CatchExceptions(std::string_view what, int64_t index, const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    return ThrownError(fmt::format("{} element {}", what, index));
  }
}

}  // namespace stoker
