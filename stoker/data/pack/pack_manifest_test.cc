#include "stoker/data/pack/pack_manifest.h"

#include <filesystem>

#include "stoker/data/testing/packed.h"
#include "stoker/io/atomic_file.h"

namespace stoker::pack_manifest_test {

// Two processes that pack the same into the same place, each with a manifest of its own.
class PackManifestTest : public PackTest {
 protected:
  Result<PackManifest> Begin(bool overwrite = false) const {
    return PackManifest::Begin({.destination = Path("x.tar"),
                                .files = {Path("x-0.tar"), Path("x-1.tar")},
                                .origin = "one",
                                .overwrite = overwrite});
  }
  // Gives file `number` its name.
  void Make(int number) const {
    STOKER_ASSERT_OK(WriteFileAtomically(Path(fmt::format("x-{}.tar", number)), "content"));
  }
  PackManifest::Shard Shard() const { return {.elements = 1, .bytes = 7, .checksum = 1}; }
  bool HasManifest() const { return std::filesystem::exists(Path(".x.tar.stoker-pack")); }
};

TEST_F(PackManifestTest, OneProcessThatFailsLeavesTheOtherWhatItsFilesNeed) {
  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest one, Begin());
  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest other, Begin());
  STOKER_ASSERT_OK(one.EnsureThere());
  Make(0);
  STOKER_ASSERT_OK(one.Add(Shard(), nullptr));
  other.Abandon();
  one.Abandon();
  STOKER_ASSERT_OK_AND_ASSIGN(const PackManifest next, Begin());
  EXPECT_EQ(next.done().size(), 1u) << "it goes on";
}

TEST_F(PackManifestTest, AProcessThatGoesOnAloneHasAManifestBeforeItsFirstFile) {
  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest one, Begin());
  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest other, Begin());
  other.Abandon();
  EXPECT_FALSE(HasManifest());
  STOKER_ASSERT_OK(one.EnsureThere());
  EXPECT_TRUE(HasManifest());
  Make(0);
  one.Abandon();  // it could not note its file
  STOKER_ASSERT_OK_AND_ASSIGN(const PackManifest next, Begin());
  EXPECT_TRUE(next.done().empty()) << "it begins anew, and is not refused";
}

TEST_F(PackManifestTest, AFileThatGotItsNameThoughThePackingFailedRefusesNoOther) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    SCOPED_TRACE(attempt);
    STOKER_ASSERT_OK_AND_ASSIGN(PackManifest manifest, Begin());
    if (attempt < 2) Make(0);  // the last one failed before it made anything
    manifest.Abandon();
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const PackManifest next, Begin());
  EXPECT_TRUE(next.done().empty());
}

TEST_F(PackManifestTest, AFailedPackingThatMadeNothingLeavesNoManifest) {
  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest first, Begin());
  first.Abandon();
  EXPECT_FALSE(HasManifest());
  Make(1);
  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest second, Begin(/*overwrite=*/true));
  second.Abandon();
  EXPECT_FALSE(HasManifest()) << "what was there before is not of its making";
}

TEST_F(PackManifestTest, AnotherPackingWithoutOverwriteReplacesNothingThatTheInterruptedOneWould) {
  const std::vector<std::string> others = {"y-00000-of-00003.tar", "y-00001-of-00003.tar",
                                           "y-00002-of-00003.tar"};
  for (const std::string& name : others)
    STOKER_ASSERT_OK(WriteFileAtomically(Path(name), "content"));
  const auto begin = [&](const char* origin, bool overwrite) {
    return PackManifest::Begin({.destination = Path("y.tar"),
                                .files = {Path(fmt::format("y-{}.tar", origin))},
                                .origin = origin,
                                .overwrite = overwrite});
  };
  // It may replace the set of three, and is interrupted before its first file.
  STOKER_ASSERT_OK(begin("one", /*overwrite=*/true).status());
  EXPECT_THAT(
      begin("two", /*overwrite=*/false).status(),
      FailsWith(StatusCode::kFailedPrecondition, "a shard of another set is there already"));

  EXPECT_THAT(begin("one", /*overwrite=*/false).status(),
              FailsWith(StatusCode::kFailedPrecondition,
                        "y-00000-of-00003.tar: was there before the packing that was interrupted"));

  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest again, begin("one", /*overwrite=*/true));
  STOKER_ASSERT_OK(WriteFileAtomically(Path("y-one.tar"), "content"));
  STOKER_ASSERT_OK(again.Add(Shard(), nullptr));
  for (const std::string& name : others) EXPECT_TRUE(std::filesystem::exists(Path(name))) << name;
  STOKER_ASSERT_OK(again.Finish());
  for (const std::string& name : others) EXPECT_FALSE(std::filesystem::exists(Path(name))) << name;
}

TEST_F(PackManifestTest, AFileThatTheInterruptedPackingWasToReplaceStaysUnlessItMayGoNowToo) {
  Make(1);
  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest killed, Begin(/*overwrite=*/true));
  Make(0);
  STOKER_ASSERT_OK(killed.Add(Shard(), nullptr));
  EXPECT_THAT(Begin().status(),
              FailsWith(StatusCode::kFailedPrecondition, "give --overwrite again to finish"));
  // Killed once more, between the file and its note.
  STOKER_ASSERT_OK(Begin(/*overwrite=*/true).status());
  Make(1);
  STOKER_ASSERT_OK_AND_ASSIGN(const PackManifest last, Begin());
  EXPECT_EQ(last.done().size(), 1u) << "nothing is left of what was there before";
}

TEST_F(PackManifestTest, WhatWasRemovedByHandMeanwhileIsNoLongerInTheWay) {
  Make(1);
  STOKER_ASSERT_OK(Begin(/*overwrite=*/true).status());
  std::filesystem::remove(Path("x-1.tar"));
  STOKER_ASSERT_OK(Begin().status());
  Make(1);  // often with the inode of the file that went
  STOKER_ASSERT_OK(Begin().status());
}

TEST_F(PackManifestTest, AnotherSetThatWasPutThereMeanwhileIsNoticed) {
  const std::string other = Path("x-00000-of-00005.tar");
  for (const bool finished : {false, true}) {
    SCOPED_TRACE(finished ? "finished" : "interrupted");
    std::filesystem::remove(other);
    {
      STOKER_ASSERT_OK_AND_ASSIGN(PackManifest manifest, Begin(/*overwrite=*/true));
      Make(0);
      STOKER_ASSERT_OK(manifest.Add(Shard(), nullptr));
      if (finished) {
        STOKER_ASSERT_OK(manifest.Finish());
      }
    }
    STOKER_ASSERT_OK(WriteFileAtomically(other, "content"));
    EXPECT_THAT(Begin().status(),
                FailsWith(StatusCode::kFailedPrecondition, "a shard of another set is there"));
    STOKER_ASSERT_OK_AND_ASSIGN(PackManifest replacing, Begin(/*overwrite=*/true));
    EXPECT_TRUE(std::filesystem::exists(other));
    STOKER_ASSERT_OK(replacing.Finish());
    EXPECT_FALSE(std::filesystem::exists(other));
  }
}

}  // namespace stoker::pack_manifest_test
