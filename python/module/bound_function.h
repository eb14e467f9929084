// A function of Python as a stage of a pipeline calls it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "python/module/user_code.h"
#include "stoker/data/core/element.h"

namespace stoker::python {

// A cheap value; thread-safe. stoker.functions.bound is its other half, which knows arrays of NumPy
// and PyTorch.
class BoundFunction {
 public:
  struct Options {
    std::string field;                // the function gets this one alone; empty: all
    std::vector<std::string> fields;  // names of results that are no dict
    std::string to = "numpy";
  };
  // While a pipeline is built (UserCode::Building). Errors: no such function, field or library.
  static Result<BoundFunction> Map(const std::string& function, const Spec& input,
                                   const Options& options);
  static Result<BoundFunction> Filter(const std::string& function, const Spec& input,
                                      const Options& options);
  static Result<BoundFunction> Generator(const std::string& function,
                                         const std::vector<std::string>& fields);

  struct WithResults;
  // Where this thread builds a further pipeline of the same text (UserCode), returns the function
  // that the stage at this place has added in the first, and its results; elsewhere nothing.
  // Errors: `input` has other fields than there.
  static Result<std::optional<WithResults>> OfFirst(const Spec& input);
  // Lets OfFirst find it. `input` and `results` are those of the stage that is built.
  Status NoteFor(const Spec& input, const Spec& results) const;

  // Calls it in this process for elements of its input, and returns the Spec that all results
  // have. Of a generator: its first elements; `elements` is empty.
  Result<Spec> Learn(std::span<const Element> elements) const;
  // Sets what the results must be from now on.
  //   learned  by Learn; false: the user said so
  Status Promise(const Spec& spec, bool learned) const;

  using TakeResults = std::function<void(std::span<const WorkerArray>)>;
  // Calls it, by a worker or here, and `take` with the results, whose memory is theirs only until
  // it returns. A `rows` of -1 is for one element. `failed` (may be null) receives the row at which
  // it failed. Errors: kOutOfRange where the function raised an exception, kInvalidArgument where
  // its result is wrong, those of WorkerChannel.
  Status Call(WorkerRequest request, const TakeResults& take, int64_t* failed = nullptr) const;

  // "map(augment)", for messages.
  const std::string& title() const { return title_; }
  // "augment"
  const std::string& called() const { return called_; }
  uint32_t number() const { return number_; }
  UserCode& code() const { return *code_; }
  // The object of stoker.functions.bound; with the GIL. Throws where the interpreter has let go of
  // it.
  nanobind::handle object() const;

 private:
  BoundFunction() = default;
  static Result<BoundFunction> Make(
      const std::function<nanobind::object(nanobind::handle module)>& make);
  Status CallInThisProcess(const WorkerRequest& request, const TakeResults& take) const;

  std::shared_ptr<UserCode> code_;
  uint32_t number_ = 0;
  std::string title_, called_;
};

struct BoundFunction::WithResults {
  BoundFunction function;
  Spec results;
};

}  // namespace stoker::python
