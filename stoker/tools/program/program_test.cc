#include "stoker/tools/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace stoker::program_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Outcome {
  int exit_code = -1;
  std::string error_output;
};

// The exit code of `stoker do`, which does `run`.
int ExitCodeOfProgram(const std::function<void()>& run) {
  struct NoArguments {};
  Program program;
  program.Add<NoArguments>("do", "Does it.", "Exit: 0", [&](const NoArguments&) {
    run();
    return OkStatus();
  });
  std::string name = "stoker", command = "do";
  char* arguments[] = {name.data(), command.data(), nullptr};
  return program.Run(2, arguments);
}

Outcome OutcomeOf(const std::function<void()>& run) {
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit_code = ExitCodeOfProgram(run);
  outcome.error_output = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Program, OutOfMemoryIsAFailureWithAdvice) {
  const Outcome outcome = OutcomeOf([] { throw std::bad_alloc(); });
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error_output,
              AllOf(StartsWith("stoker: error: out of memory; "), Not(HasSubstr("defect"))));
}

TEST(Program, OutOfMemoryWhileCommandsAreAddedIsAFailureToo) {
  testing::internal::CaptureStderr();
  const int exit_code = RunProgram(0, nullptr, [](Program&) { throw std::bad_alloc(); });
  EXPECT_EQ(exit_code, 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), StartsWith("stoker: error: out of memory; "));
}

TEST(Program, ASignalAfterTheErrorWasSaidAddsNoOtherAndLeavesTheExitCode) {
  const auto fail_and_raise = [] {
    ExitCodeOfProgram([] { throw std::bad_alloc(); });
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(fail_and_raise(), testing::ExitedWithCode(1), "^stoker: error: out of [^\n]*\n$");
}

TEST(Program, AThreadThatTheSystemRefusesIsNoDefect) {
  const Outcome outcome = OutcomeOf(
      [] { throw std::system_error(EAGAIN, std::generic_category(), "starting a thread"); });
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error_output,
              AllOf(HasSubstr("starting a thread: "), HasSubstr("threads"), HasSubstr("ulimit")));
  EXPECT_THAT(outcome.error_output, Not(HasSubstr("defect")));
}

TEST(Program, APathThatCannotBeUsedIsNamed) {
  const Outcome outcome = OutcomeOf([] {
    throw std::filesystem::filesystem_error("cannot look", "/some/where",
                                            std::make_error_code(std::errc::permission_denied));
  });
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error_output, AllOf(HasSubstr("/some/where"), Not(HasSubstr("defect"))));
}

TEST(Program, AnythingElseThrownIsReportedAsADefect) {
  const Outcome outcome = OutcomeOf([] { throw std::logic_error("cannot happen"); });
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error_output,
              AllOf(HasSubstr("cannot happen"), HasSubstr("defect of Stoker")));
}

}  // namespace stoker::program_test
