#include "stoker/run/published_progress.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "stoker/base/json_text.h"
#include "stoker/base/testing.h"

namespace stoker::published_progress_test {

PublishedProgress Whole() {
  PublishedProgress progress;
  progress.rank = 2;
  progress.host = "here";
  progress.pid = 4711;
  progress.device = "cuda:0 (A GPU)";
  progress.accelerator = true;
  progress.cpus = 8;
  progress.compute_threads = 3;
  progress.activity = RunActivity::kEvaluation;
  progress.step = 12;
  progress.total_steps = 600;
  progress.epoch = 0.25;
  progress.noun = "image";
  progress.train_seconds = 7.5;
  progress.loss = 0.5;
  progress.lr = 0.01;
  progress.samples_per_s = 1000;
  progress.seconds_left = 60;
  progress.waited = 0.75;
  progress.starved = Starvation{.waited = 0.75, .stage = "decode", .why = "w", .advice = "a"};
  progress.work = {.seconds = 9,
                   .steps = 10,
                   .samples = 320,
                   .step_s = 7,
                   .waited_s = 5,
                   .cpu_s = 12,
                   .evaluations = 1,
                   .evaluation_s = 0.5,
                   .checkpoints = 2,
                   .checkpoint_s = 0.1,
                   .logging_s = 0.01,
                   .callback_s = 0.02};
  progress.input = PublishedInput{.threads = 4,
                                  .stages = {{.name = "decode",
                                              .work = StageWork::kDecodes,
                                              .elements = 320,
                                              .bytes = 99,
                                              .busy_s = 1,
                                              .starved_s = 2,
                                              .blocked_s = 3}},
                                  .limit = PublishedLimit{.stage = "decode",
                                                          .why = "w",
                                                          .work = StageWork::kDecodes,
                                                          .on_servers = true,
                                                          .many_files = true,
                                                          .on_consumer = true,
                                                          .idle = true}};
  return progress;
}

TEST(PublishedProgress, ReadsBackAsItWasWritten) {
  const Json json = Whole().ToJson();
  EXPECT_EQ(json["schema"], 1);
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress again, PublishedProgress::FromJson(json));
  EXPECT_EQ(again.ToJson(), json);
  EXPECT_EQ(again.activity, RunActivity::kEvaluation);
  EXPECT_EQ(again.input->stages[0].work, StageWork::kDecodes);
  EXPECT_TRUE(again.input->limit->idle);
}

TEST(PublishedProgress, BeforeTheFirstStepThereAreNoRates) {
  PublishedProgress progress = Whole();
  progress.input.reset();
  const Json json = progress.ToJson();
  for (const char* key : {"loss", "samples_per_s", "starved", "input"})
    EXPECT_FALSE(json.contains(key)) << key;
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress again, PublishedProgress::FromJson(json));
  EXPECT_TRUE(std::isnan(again.loss));
  EXPECT_FALSE(again.input);
}

TEST(PublishedProgress, WhatIsNotFiniteIsNullAndReadsAsUnknown) {
  PublishedProgress progress = Whole();
  progress.loss = INFINITY;
  progress.input->stages[0].busy_s = NAN;
  const Json json = progress.ToJson();
  EXPECT_TRUE(json["loss"].is_null());
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress again,
                              PublishedProgress::FromJson(Json::parse(DumpJson(json))));
  EXPECT_TRUE(std::isnan(again.loss));
  EXPECT_EQ(again.input->stages[0].busy_s, 0);
}

TEST(PublishedProgress, OfAVersionBeforeThisOneShowsWhatItHas) {
  const Json old = {{"step", 12}, {"total_steps", 600}, {"samples_are", "image"}, {"loss", 0.5}};
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress progress, PublishedProgress::FromJson(old));
  EXPECT_EQ(progress.step, 12);
  EXPECT_EQ(progress.loss, 0.5);
  EXPECT_EQ(progress.pid, 0);
  EXPECT_FALSE(progress.input);
}

TEST(PublishedProgress, AMemberOfAnotherTypeIsLeftOutAndTheRestIsRead) {
  const Json whole = Whole().ToJson();
  for (const auto& [key, value] : whole.items()) {
    for (const Json& other : {Json(), Json("text"), Json(-7.5), Json::array({1}), Json(true),
                              Json(uint64_t{18446744073709551615U}), Json(Json::object())}) {
      if (key == "step" || key == "schema") continue;
      Json broken = whole;
      broken[key] = other;
      STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress progress,
                                  PublishedProgress::FromJson(broken));
      EXPECT_EQ(progress.step, 12) << key << " " << other;
    }
  }
  Json stages = whole;
  stages["input"]["stages"] = {1, "x", Json::array(), {{"name", 3}, {"busy_s", "x"}}};
  STOKER_ASSERT_OK_AND_ASSIGN(const PublishedProgress progress,
                              PublishedProgress::FromJson(stages));
  ASSERT_EQ(progress.input->stages.size(), 1u);
  EXPECT_EQ(progress.input->stages[0].name, "");
}

TEST(PublishedProgress, WhatIsNoneAndWhatIsOfANewerVersionSaysSo) {
  for (const Json& none : {Json(), Json(3), Json::array(), Json::object(), Json{{"step", "x"}}}) {
    EXPECT_THAT(PublishedProgress::FromJson(none),
                FailsWith(StatusCode::kDataLoss, "no number \"step\""));
  }
  EXPECT_THAT(PublishedProgress::FromJson({{"step", 1}, {"schema", 2}}),
              FailsWith(StatusCode::kUnimplemented, "its schema is 2"));
}

TEST(ReadPublishedProgress, SaysWhyThereIsNone) {
  const TempDir run;
  EXPECT_THAT(ReadPublishedProgress(run.path()), FailsWith(StatusCode::kNotFound, "progress.json"));
  for (const std::string_view text : {"", "{", "\xff\xfe", "{\"step\":"}) {
    std::ofstream(ProgressPath(run.path()), std::ios::trunc) << text;
    EXPECT_THAT(ReadPublishedProgress(run.path()),
                FailsWith(StatusCode::kDataLoss, "progress.json: it is no JSON"));
  }
  std::ofstream(ProgressPath(run.path()), std::ios::trunc) << "[]";
  EXPECT_THAT(ReadPublishedProgress(run.path()),
              FailsWith(StatusCode::kDataLoss, "no number \"step\""));
  std::filesystem::remove(ProgressPath(run.path()));
  std::filesystem::create_directory(ProgressPath(run.path()));
  EXPECT_THAT(
      ReadPublishedProgress(run.path()),
      FailsWith(StatusCode::kFailedPrecondition, "is a directory, and a file belongs here"));
}

}  // namespace stoker::published_progress_test
