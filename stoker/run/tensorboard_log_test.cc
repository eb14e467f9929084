#include "stoker/run/tensorboard_log.h"

#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/formats/tfrecord/record_reader.h"

namespace stoker::tensorboard_log_test {

using testing::HasSubstr;
using testing::Not;

// The records of the newest event file, one after the other.
std::string NewestEvents(const std::string& directory) {
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    newest = std::max(newest, entry.path().string());
  }
  auto source = OpenTfRecordSource(newest, "none");
  EXPECT_THAT(source, IsOk());
  TfRecordReader reader(*std::move(source), {});
  std::string all;
  while (true) {
    const auto record = reader.Next();
    EXPECT_THAT(record, IsOk());
    if (!record.ok() || !*record) return all;
    all.append(reinterpret_cast<const char*>((*record)->data.data()), (*record)->data.size());
    all += '\n';
  }
}

ConfigNode SomeRecipe() {
  return *ParseYaml(
      "data: {train: [{batch: 3}], eval: []}\n"
      "model: {mlp: {classes: 10, hidden: [1, 2]}}\n"
      "train: {seed: 1, device: cpu, clip: {norm: auto}, decay_vectors: true, name: '1'}\n",
      "r.yaml");
}

TEST(HyperParameters, AreThePlainKeysOfModelAndTrainWithTheirTypes) {
  const std::vector<HyperParameter> hparams = HyperParametersOf(SomeRecipe());
  std::vector<std::string> names;
  for (const HyperParameter& hparam : hparams) names.push_back(hparam.name);
  EXPECT_THAT(names, testing::ElementsAre("model.mlp.classes", "train.seed", "train.device",
                                          "train.clip.norm", "train.decay_vectors", "train.name"));
  EXPECT_EQ(std::get<double>(hparams[0].value), 10);
  EXPECT_EQ(std::get<std::string>(hparams[2].value), "cpu");
  EXPECT_EQ(std::get<std::string>(hparams[3].value), "auto");
  EXPECT_EQ(std::get<bool>(hparams[4].value), true);
  EXPECT_EQ(std::get<std::string>(hparams[5].value), "1");  // it was quoted
}

TEST(TensorboardLog, TagsEveryFigureOfALineByItsKind) {
  const TempDir directory;
  STOKER_ASSERT_OK_AND_ASSIGN(auto log, TensorboardLog::Open(directory / "", SomeRecipe(), {}));
  STOKER_ASSERT_OK(log->Write({{"kind", "train"}, {"step", 5}, {"loss", 0.5}, {"lr", nullptr}}));
  STOKER_ASSERT_OK(log->Write(
      {{"kind", "eval"}, {"step", 5}, {"accuracy", 0.5}, {"metrics", {{"top_5", 0.75}}}}));
  STOKER_ASSERT_OK(log->End(true));
  const std::string events = NewestEvents(directory / "");
  for (const char* tag :
       {"recipe", "train/loss", "eval/accuracy", "eval/top_5", "_hparams_/experiment",
        "_hparams_/session_end_info", "model.mlp.classes"}) {
    EXPECT_THAT(events, HasSubstr(tag));
  }
  EXPECT_THAT(events, Not(HasSubstr("train/lr")));  // it is no number
  EXPECT_THAT(events, Not(HasSubstr("train/step")));
}

TEST(TensorboardLog, OfAResumedRunForgetsWhatComesAfterTheLastStepDone) {
  const TempDir directory;
  STOKER_ASSERT_OK(TensorboardLog::Open(directory / "", SomeRecipe(), {}).status());
  STOKER_ASSERT_OK(TensorboardLog::Open(directory / "", SomeRecipe(), 8).status());
  // step (field 2) 9, session log (field 7) with status (field 1) START
  EXPECT_THAT(NewestEvents(directory / ""), HasSubstr("\x10\x09\x3a\x02\x08\x01"));
  // Without a checkpoint all is forgotten: step 0, which is left out.
  STOKER_ASSERT_OK(TensorboardLog::Open(directory / "", SomeRecipe(), 0).status());
  const std::string events = NewestEvents(directory / "");
  EXPECT_THAT(events, HasSubstr("\x3a\x02\x08\x01"));
  EXPECT_THAT(events, Not(HasSubstr("\x10\x01\x3a")));
}

}  // namespace stoker::tensorboard_log_test
