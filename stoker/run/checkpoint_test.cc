#include "stoker/run/checkpoint.h"

#include <unistd.h>

#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/io/few_files_testing_internal.h"
#include "stoker/io/manifest.h"
#include "stoker/run/testing.h"

namespace stoker::checkpoint_test {

namespace fs = std::filesystem;

std::vector<NamedArray> Tensors(float first) {
  return {{"model.a", Array::Of<float>(std::vector<float>{first, 2, 3, 4}, {2, 2})},
          {"optimizer.b", Array::Of<int64_t>(std::vector<int64_t>{5})}};
}

// Checkpoints of steps 10 and 20, whose first values and states are 10 and 20.
class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() {
    for (const int64_t step : {10, 20}) WriteStep(step);
  }

  void WriteStep(int64_t step) {
    EXPECT_THAT(store_.Write(step, Tensors(static_cast<float>(step)), {{"step", step}}), IsOk());
  }

  void ExpectNewestIs(int64_t step, size_t warnings) {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto newest, store_.LoadNewest());
    EXPECT_EQ(newest.step, step);
    EXPECT_EQ(newest.warnings.size(), warnings);
    EXPECT_EQ(newest.checkpoint.state["step"], step);
    ASSERT_EQ(newest.checkpoint.tensors.size(), 2u);
    for (const NamedArray& got : newest.checkpoint.tensors) {
      const auto expected = Tensors(static_cast<float>(step));
      const size_t which = got.name == "model.a" ? 0 : 1;
      EXPECT_EQ(got.name, expected[which].name);
      EXPECT_TRUE(SameBytes(got.array, expected[which].array)) << got.name;
    }
  }

  TempDir dir_;
  CheckpointStore store_{dir_ / "checkpoints", /*keep=*/2};
};

TEST_F(CheckpointTest, TheNewestComesBackAsItWasWritten) { ExpectNewestIs(20, 0); }

// The checkpoint of a step in two parts of one tensor each; returns the entries of its manifest.
class CheckpointInPartsTest : public CheckpointTest {
 protected:
  Json WriteTwoParts(const AtomicDirectory& begun, int64_t step) {
    Json entries;
    const std::vector<NamedArray> tensors = Tensors(static_cast<float>(step));
    for (const int64_t part : {0, 1}) {
      const std::string path = begun.path() + "/" + PartName(part, 2);
      EXPECT_THAT(WriteSafetensors(path, std::span(tensors).subspan(static_cast<size_t>(part), 1)),
                  IsOk());
      entries[PartName(part, 2)] = *Manifest::EntryOf(path);
    }
    return entries;
  }
  void WriteStepInParts(int64_t step) {
    STOKER_ASSERT_OK_AND_ASSIGN(std::optional<AtomicDirectory> begun, store_.BeginParts(step));
    ASSERT_TRUE(begun.has_value());
    const Json entries = WriteTwoParts(*begun, step);
    STOKER_ASSERT_OK(store_.PublishParts(step, *std::move(begun), entries, {{"step", step}}));
  }
};

TEST_F(CheckpointInPartsTest, ComesBackWhole) {
  WriteStepInParts(30);
  ExpectNewestIs(30, 0);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> steps, store_.Steps());
  EXPECT_THAT(steps, testing::ElementsAre(20, 30));
  EXPECT_EQ(PartName(3, 128), "tensors-00003-of-00128.safetensors");
}

TEST_F(CheckpointInPartsTest, IsBegunOnlyWhereThereIsNoWholeOne) {
  WriteStepInParts(30);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto again, store_.BeginParts(30));
  EXPECT_FALSE(again.has_value());
}

TEST_F(CheckpointInPartsTest, WithAPartThatIsMissingOrShortIsNotPublished) {
  for (const bool removed : {true, false}) {
    STOKER_ASSERT_OK_AND_ASSIGN(std::optional<AtomicDirectory> begun, store_.BeginParts(30));
    const Json entries = WriteTwoParts(*begun, 30);
    const fs::path part = fs::path(begun->path()) / PartName(1, 2);
    removed ? void(fs::remove(part)) : fs::resize_file(part, 9);
    EXPECT_THAT(store_.PublishParts(30, *std::move(begun), entries, {{"step", 30}}),
                FailsWith(StatusCode::kFailedPrecondition, "do all processes see the same"));
    ExpectNewestIs(20, 0);
  }
}

TEST_F(CheckpointInPartsTest, WithADamagedPartIsPassedOver) {
  WriteStepInParts(30);
  const fs::path part = fs::path(store_.PathOf(30)) / PartName(0, 2);
  fs::resize_file(part, fs::file_size(part) - 1);
  ExpectNewestIs(20, 1);
  fs::remove(part);
  ExpectNewestIs(20, 1);
}

TEST_F(CheckpointTest, OlderOnesThanThoseKeptAreRemoved) {
  WriteStep(30);
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> steps, store_.Steps());
  EXPECT_THAT(steps, testing::ElementsAre(20, 30));
}

TEST_F(CheckpointTest, StepsAreOrderedAsNumbersEvenBehindEightDigits) {
  WriteStep(99'999'999);
  WriteStep(100'000'000);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto newest, store_.LoadNewest());
  EXPECT_EQ(newest.step, 100'000'000);
}

TEST_F(CheckpointTest, ADamagedLaterOneNeverTakesThePlaceOfAWholeOne) {
  WriteFileForTest(store_.PathOf(20) + "/state.json", "damaged");
  WriteStep(15);  // by a run that went on from step 10
  STOKER_ASSERT_OK_AND_ASSIGN(const auto newest, store_.LoadNewest());
  EXPECT_EQ(newest.step, 15);
  STOKER_EXPECT_OK(store_.Load(10));
}

// A checkpoint may have gigabytes, and one is written every few minutes.
TEST_F(CheckpointTest, AWholeLaterOneIsReadOnceHoweverManyAreWrittenBeforeIt) {
  CheckpointStore resumed(dir_ / "checkpoints", /*keep=*/1);
  const auto write = [&](CheckpointStore& store, int64_t step) {
    STOKER_ASSERT_OK(store.Write(step, Tensors(1), {{"step", step}}));
  };
  write(resumed, 12);
  // A second look would find this.
  const std::string later = store_.PathOf(20) + "/tensors.safetensors";
  fs::resize_file(later, 1);
  write(resumed, 13);
  EXPECT_TRUE(fs::exists(later));
  CheckpointStore again(dir_ / "checkpoints", /*keep=*/1);
  write(again, 14);
  EXPECT_FALSE(fs::exists(later));
}

// Every byte of every file counts.
TEST_F(CheckpointTest, AFlippedByteAnywhereIsFoundAndTheOneBeforeIsUsed) {
  for (const char* file : {"tensors.safetensors", "state.json", "manifest.json"}) {
    const std::string path = store_.PathOf(20) + "/" + file;
    const std::string good = ReadFileForTest(path);
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] ^= 1;
      WriteFileForTest(path, bad);
      EXPECT_THAT(store_.Load(20), FailsWith(StatusCode::kDataLoss, "is damaged"))
          << file << " byte " << i;
    }
    ExpectNewestIs(10, 1);
    WriteFileForTest(path, good);
  }
  ExpectNewestIs(20, 0);
}

TEST_F(CheckpointTest, AFileCutShortAnywhereIsFoundAndTheOneBeforeIsUsed) {
  for (const char* file : {"tensors.safetensors", "state.json", "manifest.json"}) {
    const std::string path = store_.PathOf(20) + "/" + file;
    const std::string good = ReadFileForTest(path);
    for (size_t length = 0; length < good.size(); ++length) {
      WriteFileForTest(path, good.substr(0, length));
      EXPECT_THAT(store_.Load(20), FailsWith(StatusCode::kDataLoss, "is damaged"))
          << file << " cut to " << length;
    }
    ExpectNewestIs(10, 1);
    WriteFileForTest(path, good);
  }
}

TEST_F(CheckpointTest, AMissingFileIsFoundAndTheWarningNamesIt) {
  fs::remove(store_.PathOf(20) + "/state.json");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto newest, store_.LoadNewest());
  EXPECT_EQ(newest.step, 10);
  EXPECT_THAT(newest.warnings,
              testing::ElementsAre(testing::AllOf(testing::HasSubstr("step 20 is passed over"),
                                                  testing::HasSubstr("state.json"))));
}

TEST_F(CheckpointTest, TheWarningSaysWhatIsWrong) {
  const std::string path = store_.PathOf(20) + "/tensors.safetensors";
  WriteFileForTest(path, ReadFileForTest(path) + "x");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto newest, store_.LoadNewest());
  EXPECT_THAT(newest.warnings.front(), testing::HasSubstr("the manifest says"));
}

TEST_F(CheckpointTest, WhereAllAreDamagedTheErrorSaysSo) {
  for (const int64_t step : {10, 20}) WriteFileForTest(store_.PathOf(step) + "/manifest.json", "");
  EXPECT_THAT(store_.LoadNewest(), FailsWith(StatusCode::kDataLoss, "all 2 checkpoints"));
}

// What stands in the place of the manifest of step 20 can be opened, and reading it fails with EIO
// (proc(5): nothing is mapped at address 0).
TEST_F(CheckpointTest, OneThatCannotBeReadIsNeitherPassedOverNorRemoved) {
  const std::string manifest = store_.PathOf(20) + "/manifest.json";
  fs::rename(manifest, dir_ / "kept");
  fs::create_symlink("/proc/self/mem", manifest);
  EXPECT_THAT(store_.LoadNewest(),
              FailsWith(StatusCode::kUnavailable, "step 20 is whole cannot be told"));
  EXPECT_THAT(store_.Write(20, Tensors(20), {}),
              FailsWith(StatusCode::kUnavailable, "manifest.json"));
  WriteStep(15);  // by a run whose user moved it elsewhere, and back
  fs::rename(dir_ / "kept", manifest);
  ExpectNewestIs(20, 0);
}

TEST_F(CheckpointTest, TooManyOpenFilesAreNoDamage) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "UndefinedBehaviorSanitizer looks at types through a pipe, which it cannot open";
#endif
  const NoMoreFiles limit;
  EXPECT_THAT(store_.Load(20), FailsWith(StatusCode::kResourceExhausted, "Too many open files"));
}

TEST_F(CheckpointTest, ADirectoryInTheFilesPlaceIsDamage) {
  fs::remove(store_.PathOf(20) + "/state.json");
  fs::create_directory(store_.PathOf(20) + "/state.json");
  EXPECT_THAT(store_.Load(20), FailsWith(StatusCode::kDataLoss, "is no regular file"));
  ExpectNewestIs(10, 1);
}

TEST_F(CheckpointTest, ADamagedOneIsReplacedWhenItsStepComesAgain) {
  WriteFileForTest(store_.PathOf(20) + "/state.json", "");
  WriteStep(20);
  ExpectNewestIs(20, 0);
}

TEST_F(CheckpointTest, AWholeOneOfTheSameStepStays) {
  STOKER_ASSERT_OK(store_.Write(20, Tensors(99), {{"step", 99}}));
  ExpectNewestIs(20, 0);
}

TEST_F(CheckpointTest, WhatAKilledProcessLeftBehindIsNotTakenForACheckpoint) {
  fs::create_directory(dir_ / "checkpoints/.step-00000030.tmp-1-abc");
  fs::create_directory(dir_ / "checkpoints/step-x");
  WriteFileForTest(dir_ / "checkpoints/notes", "");
  ExpectNewestIs(20, 0);
}

TEST_F(CheckpointTest, AWriteThatFailsLeavesTheOldOnes) {
  if (::geteuid() == 0) {
    // Root may write anywhere: a file stands where the directory would be made.
    CheckpointStore blocked((dir_ / "checkpoints/step-00000020/state.json"), 2);
    EXPECT_FALSE(blocked.Write(30, Tensors(30), {}).ok());
  } else {
    fs::permissions(dir_ / "checkpoints", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_THAT(store_.Write(30, Tensors(30), {}),
                FailsWith(StatusCode::kPermissionDenied, "checkpoints"));
    fs::permissions(dir_ / "checkpoints", fs::perms::owner_all);
  }
  ExpectNewestIs(20, 0);
}

TEST(CheckpointStore, WithoutAnyCheckpointSaysSo) {
  const TempDir dir;
  const CheckpointStore store(dir / "checkpoints", 2);
  EXPECT_THAT(store.LoadNewest(), FailsWith(StatusCode::kNotFound, "no checkpoint"));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<int64_t> steps, store.Steps());
  EXPECT_THAT(steps, testing::IsEmpty());
}

}  // namespace stoker::checkpoint_test
