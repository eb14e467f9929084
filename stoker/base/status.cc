#include "stoker/base/status.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "stoker/base/printable.h"
#include "stoker/base/problems.h"
#include "stoker/base/short_text.h"

namespace stoker {
namespace {

StatusCode CodeOfErrno(int error_number) {
  switch (error_number) {
    case ENOENT: return StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS: return StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOLCK: return StatusCode::kResourceExhausted;
    case EINTR:
    case EAGAIN:
    case EBUSY:
    case EIO:  // a disk, or a file system over a network, that does not give what it holds
    case ESTALE:
    case EREMOTEIO:
    case ENODEV:
    case ENXIO:
    case ENOTCONN:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH: return StatusCode::kUnavailable;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP: return StatusCode::kInvalidArgument;
    case EEXIST:
    case ENOTEMPTY:
    case EISDIR:
    case ENOTDIR:
    case EXDEV: return StatusCode::kFailedPrecondition;
    case EFBIG:
    case EOVERFLOW: return StatusCode::kOutOfRange;
    case EBADMSG:  // a checksum of the file system is wrong
    case EUCLEAN: return StatusCode::kDataLoss;
    case ENOSYS:
    case EOPNOTSUPP: return StatusCode::kUnimplemented;
    case ECANCELED: return StatusCode::kCancelled;
    case EBADF:
    case EFAULT:
      return StatusCode::kInternal;  // a defect of the program
    // What is not known to be about one file is not taken for that: it would be skipped as a bad
    // sample.
    default: return StatusCode::kUnavailable;
  }
}

}  // namespace

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid argument";
    case StatusCode::kNotFound: return "not found";
    case StatusCode::kDataLoss: return "data loss";
    case StatusCode::kOutOfRange: return "out of range";
    case StatusCode::kFailedPrecondition: return "failed precondition";
    case StatusCode::kPermissionDenied: return "permission denied";
    case StatusCode::kResourceExhausted: return "resource exhausted";
    case StatusCode::kUnimplemented: return "unimplemented";
    case StatusCode::kCancelled: return "cancelled";
    case StatusCode::kUnavailable: return "unavailable";
    case StatusCode::kInternal: return "internal";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string message) {
  if (code == StatusCode::kOk) return;
  error_ = std::make_shared<const Error>(Error{code, std::move(message)});
}

const std::string& Status::message() const {
  static const std::string empty;
  return ok() ? empty : error_->message;
}

Status Status::While(std::string_view context) const {
  if (ok()) return *this;
  return WithPrefix(fmt::format("while {}: ", context), *this);
}

std::string Status::ToString() const {
  return ok() ? "ok" : fmt::format("{}: {}", StatusCodeName(code()), message());
}

Status ErrnoStatus(int error_number, std::string_view what) {
  // A name that is too long is not repeated whole.
  const std::string shown = error_number == ENAMETOOLONG ? ShortText(what) : std::string(what);
  return {CodeOfErrno(error_number),
          fmt::format("{}: {}", shown, std::generic_category().message(error_number))};
}

namespace internal {

void DieOfUnusableResult(const Status& status) {
  fmt::print(stderr, "stoker: a failed Result was used as if it held a value: {}\n",
             Printable(status.ToString()));
  std::fflush(stderr);
  std::abort();
}

}  // namespace internal
}  // namespace stoker
