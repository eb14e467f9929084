// Errors are values: Status says whether a call succeeded, Result<T> holds what it returned or why
// it failed.
//
// A message answers three questions: where (file, byte, line or index), what (found and expected)
// and what to do. It is made once, where the error is found; callers return it unchanged or prepend
// "while ..." (While). Nothing on the way prints it.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace stoker {

enum class StatusCode {
  kOk,
  kInvalidArgument,     // an option, a recipe or a shape makes no sense
  kNotFound,            // a file, key or name does not exist
  kDataLoss,            // the bytes are damaged, cut short or of another format
  kOutOfRange,          // an index or position lies outside what exists
  kFailedPrecondition,  // valid, but not in this state: another recipe, a directory not empty
  kPermissionDenied,    // the operating system refuses access
  kResourceExhausted,   // no space, no memory, too many open files or threads
  kUnimplemented,       // a valid input that Stoker does not handle
  kCancelled,           // the caller asked to stop
  kUnavailable,         // a retry may succeed: a network, a lock
  kInternal,            // a defect in Stoker
};

// Returns "invalid argument", "data loss", ...
std::string_view StatusCodeName(StatusCode code);

// Success, or a code and a message. One pointer wide; success allocates nothing. Copies share the
// message.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message);

  bool ok() const { return error_ == nullptr; }
  StatusCode code() const { return ok() ? StatusCode::kOk : error_->code; }
  const std::string& message() const;

  // Returns the error with "while <context>: " before its message; success stays success.
  Status While(std::string_view context) const;

  // Returns "ok", or "<code name>: <message>".
  std::string ToString() const;

 private:
  struct Error {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Error> error_;
};

inline Status OkStatus() { return {}; }

// One function for each code: `return DataLoss("{}: byte {}: ...", name, offset)`.
#define STOKER_STATUS_MAKER(Name)                                                   \
  template <typename... Args>                                                       \
  Status Name(fmt::format_string<Args...> format, Args&&... args) {                 \
    return {StatusCode::k##Name, fmt::format(format, std::forward<Args>(args)...)}; \
  }
STOKER_STATUS_MAKER(InvalidArgument)
STOKER_STATUS_MAKER(NotFound)
STOKER_STATUS_MAKER(DataLoss)
STOKER_STATUS_MAKER(OutOfRange)
STOKER_STATUS_MAKER(FailedPrecondition)
STOKER_STATUS_MAKER(PermissionDenied)
STOKER_STATUS_MAKER(ResourceExhausted)
STOKER_STATUS_MAKER(Unimplemented)
STOKER_STATUS_MAKER(Cancelled)
STOKER_STATUS_MAKER(Unavailable)
STOKER_STATUS_MAKER(Internal)
#undef STOKER_STATUS_MAKER

// Returns the status for the errno of a failed system call: code by errno, text "<what>:
// <strerror>".
Status ErrnoStatus(int error_number, std::string_view what);

namespace internal {
// Prints the error of a Result that was dereferenced without a check of ok(), and aborts.
[[noreturn]] void DieOfUnusableResult(const Status& status);
}  // namespace internal

// A T, or the reason why there is none. Dereferencing a failed Result is a programming error: it
// prints the error and aborts.
//
// A temporary Result returns its T by value, not as a reference into itself: in `for (const
// Element& e : *ReadAll(...))` only what the * returns lives as long as the loop, so a reference
// would dangle. The value costs one more move if it is not bound at once.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Status error)
      : state_(std::in_place_index<1>, std::move(error)) {  // NOLINT: implicit by design
    if (std::get<1>(state_).ok())
      state_.template emplace<1>(Status(StatusCode::kInternal, "a Result was made from success"));
  }
  // Everything that converts to T converts to Result<T>: `return std::make_unique<Derived>();`
  template <typename U>
  requires(std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Status> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(state_); }

  T& value() & {
    CheckOk();
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    CheckOk();
    return *std::get_if<0>(&state_);
  }
  T value() && {
    CheckOk();
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void CheckOk() const {
    if (!ok()) internal::DieOfUnusableResult(std::get<1>(state_));
  }

  std::variant<T, Status> state_;
};

}  // namespace stoker

// Both evaluate `expression` once and return its error from the enclosing function.
#define STOKER_RETURN_IF_ERROR(expression)                                    \
  do {                                                                        \
    if (::stoker::Status stoker_status_ = (expression); !stoker_status_.ok()) \
      return stoker_status_;                                                  \
  } while (false)

#define STOKER_CONCAT_INNER_(a, b) a##b
#define STOKER_CONCAT_(a, b) STOKER_CONCAT_INNER_(a, b)
#define STOKER_ASSIGN_OR_RETURN(declaration, ...)                                      \
  STOKER_ASSIGN_OR_RETURN_IMPL_(STOKER_CONCAT_(stoker_result_, __LINE__), declaration, \
                                (__VA_ARGS__))
#define STOKER_ASSIGN_OR_RETURN_IMPL_(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return result.status();                            \
  declaration = *std::move(result)
