// Failed elements: what stands in the place of an element that could not be made, where the pass
// goes on all the same. How a stage asks for that is in ops/ignore_errors.h.
#pragma once

#include <new>
#include <string_view>
#include <utility>

#include "stoker/data/dataset.h"

namespace stoker {

// Whether a pass may go on after this error: it is about one element. Being asked to stop is not.
inline bool IsAboutOneElement(const Status& error) {
  return error.code() != StatusCode::kCancelled;
}

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

// Gives what `make`, which returns a Status or a Result, returns. What it throws becomes an error;
// `what` says what was being done.
template <typename Make>
auto CatchExceptions(std::string_view what, int64_t index, const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return ResourceExhausted(
        "out of memory while {} element {}; lower the memory budget or the batch size", what,
        index);
  } catch (const std::exception& error) {
    return Internal("an exception while {} element {}: {}", what, index, error.what());
  } catch (...) {
    return Internal("something that is no std::exception was thrown while {} element {}", what,
                    index);
  }
}

}  // namespace stoker
