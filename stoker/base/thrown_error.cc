#include "stoker/base/thrown_error.h"

#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace stoker {
namespace {

// What torch throws may come from a function of the user, and its text goes on with a backtrace.
std::string WithoutBacktrace(std::string_view what) {
  return std::string(what.substr(0, what.find("\nException raised from")));
}

}  // namespace

Status ThrownError(std::string_view where) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return ResourceExhausted(
        "{}: out of memory; lower the memory budget, or use a smaller batch or fewer threads",
        where);
  } catch (const std::system_error& error) {
    const bool of_the_system = error.code().category() == std::generic_category() ||
                               error.code().category() == std::system_category();
    const StatusCode code =
        of_the_system ? ErrnoStatus(error.code().value(), "").code() : StatusCode::kInternal;
    return {code, fmt::format("{} threw: {}", where, error.what())};
  } catch (const std::exception& error) {
    return Internal("{} threw: {}", where, WithoutBacktrace(error.what()));
  } catch (...) {
    return Internal("{} threw something that is no std::exception", where);
  }
}

}  // namespace stoker
