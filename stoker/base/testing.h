// Matchers and helpers for tests. Only tests include it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

#include "stoker/base/status.h"

namespace stoker {

// Prints a Status in failed expectations.
inline void PrintTo(const Status& status, std::ostream* out) { *out << status.ToString(); }
template <typename T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  *out << (result.ok() ? testing::PrintToString(*result) : result.status().ToString());
}

inline const Status& StatusOf(const Status& status) { return status; }
template <typename T>
Status StatusOf(const Result<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is ok") {
  const Status status = StatusOf(arg);
  *result_listener << status.ToString();
  return status.ok();
}

// Matches an error of this code whose message contains `text`. A test must say which error it
// expects.
MATCHER_P2(FailsWith, code, text,
           std::string("is ") + std::string(StatusCodeName(code)) + " containing '" + text + "'") {
  const Status status = StatusOf(arg);
  *result_listener << status.ToString();
  return status.code() == code && status.message().find(text) != std::string::npos;
}

#define STOKER_ASSERT_OK(expression) ASSERT_THAT((expression), ::stoker::IsOk())
#define STOKER_EXPECT_OK(expression) EXPECT_THAT((expression), ::stoker::IsOk())
// Assigns the value to `declaration`, or ends the test.
#define STOKER_ASSERT_OK_AND_ASSIGN(declaration, ...)                                           \
  STOKER_ASSERT_OK_AND_ASSIGN_IMPL_(STOKER_CONCAT_(stoker_test_result_, __LINE__), declaration, \
                                    (__VA_ARGS__))
#define STOKER_ASSERT_OK_AND_ASSIGN_IMPL_(result, declaration, expression) \
  auto result = (expression);                                              \
  ASSERT_THAT(result, ::stoker::IsOk());                                   \
  declaration = *std::move(result)

// A new empty directory, which the destructor removes with its content.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoker-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace stoker
