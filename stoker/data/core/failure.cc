#include "stoker/data/core/failure.h"

#include <new>
#include <optional>
#include <string>
#include <system_error>

namespace stoker {
namespace {

thread_local int64_t depth = 0;
thread_local std::optional<FailureOrigin> noted;

// What torch throws may come from a function of the user, and its text goes on with a backtrace.
std::string WithoutBacktrace(std::string_view what) {
  return std::string(what.substr(0, what.find("\nException raised from")));
}

}  // namespace

bool IsAboutOneElement(const Status& error) {
  switch (error.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kDataLoss:
    case StatusCode::kOutOfRange:
    case StatusCode::kUnimplemented:
    case StatusCode::kInternal: return true;
    case StatusCode::kOk:
    case StatusCode::kFailedPrecondition:
    case StatusCode::kPermissionDenied:
    case StatusCode::kResourceExhausted:
    case StatusCode::kCancelled:
    case StatusCode::kUnavailable: return false;
  }
  return false;
}

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

Status AskedToStop(std::string_view where) {
  return Cancelled("{}: the pass was asked to stop", where);
}

Element FailedElement(const Status& reason, const FailureOrigin& origin) {
  return {.key = origin.key,
          .failure = std::make_shared<const Failure>(
              Failure{.reason = reason, .stage = std::string(origin.stage)})};
}

FailureScope::FailureScope() {
  if (depth++ == 0) noted.reset();
}

FailureScope::~FailureScope() { --depth; }

bool FailureScope::Note(const DatasetNode& node, SampleKey key) {
  if (noted) return false;
  noted = FailureOrigin{.stage = node.name(), .key = key};
  return true;
}

FailureOrigin FailureScope::Take(const FailureOrigin& otherwise) {
  return std::exchange(noted, std::nullopt).value_or(otherwise);
}

}  // namespace stoker
