#include "stoker/data/core/failure.h"

#include <optional>

namespace stoker {
namespace {

thread_local int64_t depth = 0;
thread_local std::optional<FailureOrigin> noted;

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
