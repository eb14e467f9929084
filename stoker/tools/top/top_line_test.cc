#include "stoker/tools/top/top_line.h"

#include <cmath>

#include "stoker/base/json_text.h"
#include "stoker/base/testing.h"
#include "stoker/tools/top/top_testing_internal.h"
#include "stoker/tools/top/top_verdict.h"

namespace stoker::top_line_test {

using testing::HasSubstr;
using testing::Not;

TEST(TopLine, OfARunHasItsProgressTheMachineAndTheVerdict) {
  TopHistory history = MadeUpRun();
  history.verdict = VerdictOfRun(history, {});
  EXPECT_EQ(TopLine(history, "12:34:56"),
            "12:34:56  step 200 of 6000  epoch 0.33  loss 1.15  300 images/s  waits 60%  cpu 75%  "
            "memory 10.0 GB of 16.0 GB  nvme0n1 23% read 10.0 MB/s written 2.0 MB/s  "
            "gpu 0 97% 612 W 91 C  verdict decode `decode`");
}

TEST(TopLine, OfARunThatHasNotBegunOrHasEndedSaysSo) {
  TopHistory history = MadeUpRun(0, 1);
  history.state = TopState::kEnded;
  history.state_text = "finished";
  EXPECT_THAT(TopLine(history, ""), testing::StartsWith("finished  step 10 of 6000  "));
  history.samples.back().progress.reset();
  history.state_text = "starting";
  EXPECT_THAT(TopLine(history, ""), testing::StartsWith("starting  cpu 75%"));
}

TEST(TopLine, OfProcessesHasWhatTheyUse) {
  EXPECT_EQ(TopLine(MadeUpProcesses(), "12:34:56"),
            "12:34:56  2 processes 1.28 CPUs 1.5 GB  cpu 75%  memory 10.0 GB of 16.0 GB  "
            "nvme0n1 23% read 10.0 MB/s written 2.0 MB/s  verdict augmentation");
}

TEST(TopLine, IsOneLineWhateverTheNamesAre) {
  TopHistory history = MadeUpRun();
  history.samples.back().progress->noun = "a\nb\x1b[31m";
  history.samples.back().progress->loss = NAN;
  history.samples.back().machine.disks[0].name = "x\ry";
  history.samples[history.samples.size() - 2].machine.disks[0].name = "x\ry";
  const std::string line = TopLine(history, "");
  for (const char c : {'\n', '\x1b', '\r'}) EXPECT_EQ(line.find(c), std::string::npos);
  EXPECT_THAT(line, HasSubstr("loss nan"));
}

TEST(TopJson, HasTheSchemaOfThePage) {
  TopHistory history = MadeUpRun();
  history.verdict = VerdictOfRun(history, {});
  history.notes = {"a note"};
  const Json json = TopJson(history, 1.5);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["rank"], 0);
  EXPECT_EQ(json["host"], "here");
  EXPECT_EQ(json["state"], "running");
  EXPECT_EQ(json["progress"]["step"], 200);
  EXPECT_EQ(json["window"]["stages"].size(), 5u);
  EXPECT_NEAR(json["window"]["stages"][2]["busy"].get<double>(), 1.9, 1e-9);
  EXPECT_NEAR(json["window"]["time"]["wait"].get<double>(), 0.6, 1e-9);
  EXPECT_EQ(json["machine"]["cpus"][0]["busy"], 1);
  EXPECT_EQ(json["gpus"][0]["clock_drift"], -0.25);
  EXPECT_EQ(json["verdict"]["verdict"], "decode");
  EXPECT_EQ(json["notes"][0], "a note");
  EXPECT_EQ(Json::parse(DumpJson(json)), json);
  EXPECT_THAT(DumpJson(json), Not(HasSubstr("\n")));
}

TEST(TopJson, OfProcessesHasThemAndNothingOfARun) {
  const Json json = TopJson(MadeUpProcesses(), 0);
  EXPECT_TRUE(json["progress"].is_null());
  EXPECT_TRUE(json["window"].is_null());
  EXPECT_EQ(json["processes"].size(), 2u);
  EXPECT_EQ(json["processes"][1]["role"], "main");
  EXPECT_EQ(json["advice"], "num_workers=2");
}

}  // namespace stoker::top_line_test
