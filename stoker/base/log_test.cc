#include "stoker/base/log.h"

#include "stoker/base/testing.h"

namespace stoker::log_test {

TEST(Log, WritesOneLineWithItsLevelToStandardError) {
  testing::internal::CaptureStderr();
  LogInfo("epoch {} of {}", 1, 3);
  LogWarning("slow");
  Log(LogLevel::kError, "bad");
  Log(LogLevel::kDebug, "not shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "stoker: epoch 1 of 3\nstoker: warning: slow\nstoker: error: bad\n");
}

TEST(Log, ShowsFromTheSetLevelOn) {
  SetLogLevel(LogLevel::kError);
  testing::internal::CaptureStderr();
  LogWarning("hidden");
  Log(LogLevel::kError, "shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "stoker: error: shown\n");
  SetLogLevel(LogLevel::kDebug);
  testing::internal::CaptureStderr();
  Log(LogLevel::kDebug, "details");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "stoker: debug: details\n");
  SetLogLevel(LogLevel::kInfo);
}

TEST(Log, WritesOneLineWhateverNamesAreInIt) {
  testing::internal::CaptureStderr();
  LogWarning("{}: cut", "a\n\x1b[2Jb\xff\xe2\x80\xae");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "stoker: warning: a\\n\\u001b[2Jb\\xff\\u202e: cut\n");
}

TEST(Log, GivesItsMessagesToASinkInsteadOfWritingThem) {
  std::vector<std::pair<LogLevel, std::string>> given;
  SetLogSink([&](LogLevel level, std::string_view text) { given.emplace_back(level, text); });
  testing::internal::CaptureStderr();
  LogWarning("slow\n");
  Log(LogLevel::kDebug, "not shown");
  SetLogSink({});
  LogInfo("written");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "stoker: written\n");
  EXPECT_THAT(given, testing::ElementsAre(testing::Pair(LogLevel::kWarning, "slow\\n")));
}

TEST(Log, StylesTheMessageOfALevel) {
  SetLogStyle(LogLevel::kWarning, "<", ">");
  testing::internal::CaptureStderr();
  LogWarning("slow");
  LogInfo("fast");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "stoker: warning: <slow>\nstoker: fast\n");
  SetLogStyle(LogLevel::kWarning, "", "");
}

}  // namespace stoker::log_test
