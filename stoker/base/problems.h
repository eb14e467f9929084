// Problems: several errors as one Status, so that a reader of recipes can list all mistakes at
// once.
//
//   Problems problems;
//   problems.Add(CheckKeys(node, ...));
//   problems.Take(Registry::Known().Parse(*node), configured);
//   STOKER_RETURN_IF_ERROR(problems.ToStatus());
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stoker/base/status.h"

namespace stoker {

class Problems {
 public:
  // Adds an error, or all that ToStatus has joined into one; success adds nothing. Ignores an error
  // that is already there.
  void Add(const Status& status);

  // Writes the value of `result` to `out`, or adds its error and leaves `out` as it is.
  template <typename T, typename U>
  void Take(Result<T> result, U& out) {
    if (result.ok()) {
      out = *std::move(result);
    } else {
      Add(result.status());
    }
  }

  bool empty() const { return statuses_.empty(); }

  // Returns success; the one error; or a Status that holds all, with the code of the first, which
  // ProblemsIn separates again.
  Status ToStatus() const;

 private:
  std::vector<Status> statuses_;
};

// Returns the error with `prefix` before each of its messages; success stays success.
Status WithPrefix(std::string_view prefix, const Status& status);

// Returns the messages of an error, in order: one, or those that Problems has joined; none for
// success.
std::vector<std::string> ProblemsIn(const Status& status);

}  // namespace stoker
