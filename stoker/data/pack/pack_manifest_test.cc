#include "stoker/data/pack/pack_manifest.h"

#include <filesystem>

#include "stoker/data/pack/pack_testing_internal.h"
#include "stoker/io/atomic_file.h"

namespace stoker {
namespace {

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

  STOKER_ASSERT_OK_AND_ASSIGN(PackManifest again, begin("one", /*overwrite=*/false));
  STOKER_ASSERT_OK(WriteFileAtomically(Path("y-one.tar"), "content"));
  STOKER_ASSERT_OK(again.Add(Shard(), nullptr));
  for (const std::string& name : others) EXPECT_TRUE(std::filesystem::exists(Path(name))) << name;
  STOKER_ASSERT_OK(again.Finish());
  for (const std::string& name : others) EXPECT_FALSE(std::filesystem::exists(Path(name))) << name;
}

}  // namespace
}  // namespace stoker
