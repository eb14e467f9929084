#include "stoker/io/glob.h"

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"

namespace stoker::glob_test {

using testing::ElementsAre;

class Glob : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"a", "b"}) {
      STOKER_ASSERT_OK(CreateDirectories(dir_ / folder));
      for (const char* name : {"2.txt", "10.txt", ".hidden.txt", "B.txt", "x.jpg"})
        STOKER_ASSERT_OK(WriteFileAtomically((dir_.path() / folder / name).string(), "text"));
    }
  }
  // Relative to the folder of the test.
  std::vector<std::string> Matches(const std::string& pattern) const {
    const Result<std::vector<std::string>> found = ExpandGlob(dir_ / pattern);
    EXPECT_THAT(found, IsOk());
    std::vector<std::string> names;
    if (!found.ok()) return names;
    for (const std::string& path : *found)
      names.push_back(path.substr(dir_.path().string().size() + 1));
    return names;
  }
  const TempDir dir_;
};

TEST_F(Glob, SortsByBytesAndLeavesHiddenFilesAlone) {
  EXPECT_THAT(Matches("a/*.txt"), ElementsAre("a/10.txt", "a/2.txt", "a/B.txt"));
  EXPECT_THAT(Matches("*/x.jpg"), ElementsAre("a/x.jpg", "b/x.jpg"));
  EXPECT_THAT(Matches("[!a]/?.txt"), ElementsAre("b/2.txt", "b/B.txt"));
  EXPECT_THAT(Matches("a/.h*"), ElementsAre("a/.hidden.txt"));
}

TEST_F(Glob, SaysWhatIsMissingWhereNothingMatches) {
  EXPECT_THAT(ExpandGlob(dir_ / "a/*.png"),
              FailsWith(StatusCode::kNotFound, "a is there; check the pattern"));
  EXPECT_THAT(ExpandGlob(dir_ / "c/d/*.png"),
              FailsWith(StatusCode::kNotFound, "there is no directory"));
}

TEST_F(Glob, TakesAnEscapedPathLiterally) {
  STOKER_ASSERT_OK(CreateDirectories(dir_ / "[a]*"));
  STOKER_ASSERT_OK(WriteFileAtomically(dir_ / "[a]*/1.txt", "text"));
  EXPECT_THAT(Matches(EscapeGlob("[a]*") + "/*.txt"), ElementsAre("[a]*/1.txt"));
}

TEST_F(Glob, KnowsItsCharacters) {
  EXPECT_TRUE(IsGlob("a/*.txt"));
  EXPECT_TRUE(IsGlob("a?"));
  EXPECT_TRUE(IsGlob("[ab]"));
  EXPECT_FALSE(IsGlob("/data/train-images.gz"));
}

}  // namespace stoker::glob_test
