#include "stoker/tools/program/exit_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "stoker/tools/program/interrupt.h"

namespace stoker::exit_code_test {

TEST(ExitCodeOf, TellsWrongUsageFromFailure) {
  EXPECT_EQ(ExitCodeOf(OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(InvalidArgument("a recipe with an unknown key")), 2);
  EXPECT_EQ(ExitCodeOf(NotFound("a file")), 1);
  EXPECT_EQ(ExitCodeOf(DataLoss("a damaged file")), 1);
  EXPECT_EQ(ExitCodeOf(FailedPrecondition("a loss that is not a number")), 1);
}

class InterruptTest : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(InterruptTest, TheFirstSignalIsNotedAndGivesTheExitCode) {
  const auto [signal, exit_code] = GetParam();
  NoteInterrupt();
  EXPECT_FALSE(Interrupted().load());
  std::raise(signal);
  EXPECT_TRUE(Interrupted().load());
  EXPECT_EQ(InterruptSignal(), signal);
  EXPECT_EQ(ExitCodeOf(Cancelled("stopped")), exit_code);
}

TEST_P(InterruptTest, TheSecondSignalEndsTheProcess) {
  const auto [signal, exit_code] = GetParam();
  if (signal == SIGUSR1) return;  // see below
  const auto raise_twice = [signal = signal] {
    NoteInterrupt();
    std::raise(signal);
    std::raise(signal);
  };
  EXPECT_EXIT(raise_twice(), testing::ExitedWithCode(exit_code), "storing(.|\n)*error: stopped by");
}

TEST(Interrupt, AWarningMayComeTwiceAndASignalMayFollowIt) {
  NoteInterrupt();
  for (const int signal : {SIGUSR1, SIGUSR1, SIGTERM, SIGUSR1}) std::raise(signal);
  EXPECT_EQ(InterruptSignal(), SIGUSR1);
  EXPECT_EQ(ExitCodeOf(Cancelled("stopped")), 138);
  EXPECT_EXIT(std::raise(SIGTERM), testing::ExitedWithCode(143), "error: stopped by SIGTERM");
}

TEST(Interrupt, LongWorkThatIsEndedForAnotherReasonHasNoSignal) {
  NoteInterrupt();
  EndLongWork();
  EXPECT_TRUE(Interrupted().load());
  EXPECT_EQ(InterruptSignal(), 0);
}

TEST_P(InterruptTest, WithNothingToPutInOrderTheFirstSignalEndsTheProcess) {
  const auto [signal, exit_code] = GetParam();
  const auto raise_once = [signal = signal] {
    EndOnInterrupt();
    std::raise(signal);
  };
  EXPECT_EXIT(raise_once(), testing::ExitedWithCode(exit_code), "stoker: error: stopped by SIG");
}

TEST_P(InterruptTest, AfterTheOutcomeWasSaidEndsTheProcessWithItAndSaysNothing) {
  const auto say_and_raise = [signal = GetParam().first] {
    NoteInterrupt();
    SayOutcome(kExitFailed, [] { std::fputs("stoker: error: no\n", stderr); });
    std::raise(signal);
  };
  EXPECT_EXIT(say_and_raise(), testing::ExitedWithCode(kExitFailed), "^stoker: error: no\n$");
}

TEST_P(InterruptTest, WhileTheOutcomeIsSaidEndsTheProcessOnceItIs) {
  const auto raise_and_say = [signal = GetParam().first] {
    EndOnInterrupt();
    SayOutcome(kExitFailed, [signal] {
      std::raise(signal);
      std::fputs("stoker: error: no\n", stderr);
    });
    std::fputs("still here\n", stderr);
  };
  EXPECT_EXIT(raise_and_say(), testing::ExitedWithCode(kExitFailed), "^stoker: error: no\n$");
  const auto raise_twice = [signal = GetParam().first] {
    SayOutcome(kExitFailed, [signal] {
      std::raise(signal);
      std::raise(signal);
      std::fputs("still here\n", stderr);
    });
  };
  EXPECT_EXIT(raise_twice(), testing::ExitedWithCode(kExitFailed), "^$");
}

TEST_P(InterruptTest, ASignalThatIsHeldArrivesLater) {
  const auto [signal, exit_code] = GetParam();
  const auto hold_raise_release = [signal = signal] {
    EndOnInterrupt();
    HoldInterrupts();
    std::raise(signal);
    std::fputs("still here\n", stderr);
    EndOnInterrupt();
  };
  EXPECT_EXIT(hold_raise_release(), testing::ExitedWithCode(exit_code), "still here\n.*stopped by");
}

TEST_P(InterruptTest, WhatIsBeingBegunIsUndoneBeforeTheSignalEndsTheProcess) {
  const auto [signal, exit_code] = GetParam();
  const auto undo = [] { std::fputs("undone\n", stderr); };
  const auto begin_and_raise = [&, signal = signal] {
    UndoOnInterrupt begun;
    begun.SetUndo(undo);
    std::raise(signal);
    for (;;) ::pause();
  };
  EXPECT_EXIT(begin_and_raise(), testing::ExitedWithCode(exit_code),
              "^undone\n.*error: stopped by");
  const auto raise_before_anything_was_made = [&, signal = signal] {
    UndoOnInterrupt begun;
    std::raise(signal);
    std::fputs("still here\n", stderr);
    begun.SetUndo(undo);
    for (;;) ::pause();
  };
  EXPECT_EXIT(raise_before_anything_was_made(), testing::ExitedWithCode(exit_code),
              "^still here\nundone\n.*error: stopped by");
}

TEST_P(InterruptTest, NothingIsUndoneOfWhatIsGivenUpOrHasBegun) {
  const auto [signal, exit_code] = GetParam();
  const auto undo = [] { std::fputs("undone\n", stderr); };
  const auto give_up = [signal = signal] {
    UndoOnInterrupt begun;
    std::raise(signal);  // nothing was made
  };
  EXPECT_EXIT(give_up(), testing::ExitedWithCode(exit_code), "^stoker: error: stopped by");
  const auto raise_later = [&, signal = signal] {
    { UndoOnInterrupt().SetUndo(undo); }
    std::raise(signal);
  };
  EXPECT_EXIT(raise_later(), testing::ExitedWithCode(exit_code), "^stoker: error: stopped by");
  UndoOnInterrupt begun;
  begun.SetUndo(undo);
  begun.NoteFromNowOn();
  EXPECT_FALSE(Interrupted().load());
  std::raise(signal);
  EXPECT_TRUE(Interrupted().load());
  EXPECT_EQ(InterruptSignal(), signal);
}

TEST_P(InterruptTest, ASignalThatCameBeforeThereWasSomethingToStoreIsNoted) {
  const auto [signal, exit_code] = GetParam();
  UndoOnInterrupt begun;
  std::raise(signal);
  EXPECT_FALSE(Interrupted().load());
  begun.NoteFromNowOn();
  EXPECT_TRUE(Interrupted().load());
  EXPECT_EQ(ExitCodeOf(Cancelled("stopped")), exit_code);
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptTest,
                         testing::Values(std::pair(SIGINT, 130), std::pair(SIGTERM, 143),
                                         std::pair(SIGUSR1, 138)),
                         [](const auto& test) {
                           return std::string(test.param.first == SIGINT    ? "Interrupt"
                                              : test.param.first == SIGTERM ? "Terminate"
                                                                            : "Warning");
                         });

}  // namespace stoker::exit_code_test
