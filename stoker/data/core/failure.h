// Failed elements: placeholders for elements that could not be made, in a pass that continues all
// the same (ops/ignore_errors.h).
#pragma once

#include <string_view>

#include "stoker/base/thrown_error.h"
#include "stoker/data/core/dataset.h"

namespace stoker {

// Returns whether this error is about one element: its bytes are damaged (kDataLoss), its file is
// missing (kNotFound), it is of a kind or size that cannot be handled (kUnimplemented, kOutOfRange,
// kInvalidArgument), or the code that makes it fails on it (kInternal). Such an element fails
// whenever it is read, so skipping it gives the same bytes on every machine and at any time.
//
// Trouble is not about an element: a server or disk that does not answer (kUnavailable), no memory,
// no space or too many open files (kResourceExhausted), refused access (kPermissionDenied: missing
// rights, or an expired token), files that change while they are read (kFailedPrecondition), and a
// request to stop (kCancelled). It ends the pass, independent of the pipeline's policy for failed
// elements; transient trouble is retried first, where it occurs (io/local_retry.h,
// io/remote/remote_request.h).
bool IsAboutOneElement(const Status& error);

// Returns the kCancelled that ends the work of the stage `where` when its pass ends.
Status AskedToStop(std::string_view where);

// The origin of an error: the innermost stage that reported it.
struct FailureOrigin {
  std::string_view stage;  // its name; lives as long as the dataset
  SampleKey key;           // of the element; index -1 if several were made together
};

// Returns the placeholder of an element that failed.
Element FailedElement(const Status& reason, const FailureOrigin& origin);

// Records, for this thread, the stage at which a read by position failed. Stages that pass the
// error on record nothing, so an error is counted once and belongs to the right element. The
// outermost Read resets it.
class FailureScope {
 public:
  FailureScope();
  ~FailureScope();
  FailureScope(const FailureScope&) = delete;
  FailureScope& operator=(const FailureScope&) = delete;

  // Records the origin of the error that is being returned. Returns false if one is already
  // recorded.
  static bool Note(const DatasetNode& node, SampleKey key);
  // Returns the recorded origin and clears it; `otherwise` if there is none.
  static FailureOrigin Take(const FailureOrigin& otherwise);
};

}  // namespace stoker
