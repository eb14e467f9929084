// Transforms that call a function of the library's user.
#pragma once

#include "stoker/data/core/transform.h"

namespace stoker {

// Returns the code of an error about one sample. An unfit sample is not wrong usage of Stoker, so
// kInvalidArgument becomes kOutOfRange.
inline StatusCode CodeForSample(const Status& error) {
  const bool unfit = error.code() == StatusCode::kInvalidArgument;
  return unfit ? StatusCode::kOutOfRange : error.code();
}

// kInvalidArgument means that the function is wrong, because a result violates the Spec that the
// stage declares (CheckElement), and keeps its code. FromFunction converts errors that the function
// itself returns.
class UserTransform : public Transform {
 protected:
  static Status FromFunction(const Status& error) {
    return error.ok() ? error : Status(CodeForSample(error), error.message());
  }
};

}  // namespace stoker
