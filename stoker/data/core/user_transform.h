// Transforms that call a function which a user of the library gave.
#pragma once

#include "stoker/data/core/transform.h"

namespace stoker {

// The code of an error about one sample. A sample that is unfit is no wrong usage of Stoker, so
// kInvalidArgument becomes kOutOfRange.
inline StatusCode CodeForSample(const Status& error) {
  const bool unfit = error.code() == StatusCode::kInvalidArgument;
  return unfit ? StatusCode::kOutOfRange : error.code();
}

// Its kInvalidArgument says that the function is wrong, because a result breaks the Spec that the
// stage declares (CheckElement), and keeps its code. Errors that the function itself returns go
// through FromFunction.
class UserTransform : public Transform {
 protected:
  static Status FromFunction(const Status& error) {
    return error.ok() ? error : Status(CodeForSample(error), error.message());
  }
};

}  // namespace stoker
