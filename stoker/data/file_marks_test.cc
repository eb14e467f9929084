#include "stoker/data/file_marks.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/data/registry.h"
#include "stoker/io/atomic_file.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class FileMarksTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / name, text));
  }
  // Of the pipeline in these lines of YAML.
  Json Marks(const std::string& yaml) const { return MarksBelow(dir_ / "", yaml); }
  Json MarksBelow(const std::string& root, const std::string& yaml) const {
    const auto list = ParseYaml(yaml, "r.yaml");
    EXPECT_THAT(list, IsOk());
    const auto dataset = BuildPipeline(*list, root, nullptr);
    EXPECT_THAT(dataset, IsOk());
    return MarkFiles(*dataset, root);
  }
  void Touch(const std::string& name) const {
    const fs::path path = dir_ / name;
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::hours(1));
  }

  TempDir dir_;
  const std::string lines_ = "[lines: a.txt]";
};

TEST_F(FileMarksTest, OtherContentOfTheSameLengthIsNamedWhateverItsTimeSays) {
  Write("a.txt", "one\ntwo\n");
  const Json before = Marks(lines_);
  const fs::file_time_type time = fs::last_write_time(dir_ / "a.txt");
  Write("a.txt", "one\nten\n");
  fs::last_write_time(dir_ / "a.txt", time);
  EXPECT_THAT(CompareFiles(before, Marks(lines_)).changed,
              ElementsAre("a.txt has other content, in 8 bytes as before"));
}

TEST_F(FileMarksTest, AnotherLengthAndAFileThatIsGoneAreNamed) {
  Write("a.txt", "one\ntwo\n");
  const Json before = Marks(lines_);
  Write("a.txt", "one\n");
  const Json shorter = Marks(lines_);
  EXPECT_THAT(CompareFiles(before, shorter).changed, ElementsAre("a.txt has 4 bytes, it had 8"));
  Json gone = shorter;
  gone[0]["marks"][0] = {{"file", "a.txt"}};
  EXPECT_THAT(CompareFiles(before, gone).changed, ElementsAre("a.txt can no longer be read"));
}

TEST_F(FileMarksTest, AFileThatWasOnlyTouchedIsTheSameAndALargeOneIsToldOf) {
  const std::string large = "[lines: large.txt]";
  Write("a.txt", "one\ntwo\n");
  Write("large.txt", std::string(100'000, 'x') + "\n");
  const Json before = Marks(lines_), large_before = Marks(large);
  Touch("a.txt");
  Touch("large.txt");
  const FileChanges small = CompareFiles(before, Marks(lines_));
  EXPECT_THAT(small.changed, IsEmpty());
  EXPECT_THAT(small.touched, IsEmpty());  // all of it was compared
  const FileChanges of_large = CompareFiles(large_before, Marks(large));
  EXPECT_THAT(of_large.changed, IsEmpty());
  EXPECT_THAT(of_large.touched, ElementsAre("large.txt"));
}

TEST_F(FileMarksTest, OfAFileOnAServerItsVersionCounts) {
  const auto marks = [](const char* version) {
    return Json::array({{{"source", "lines"},
                         {"files", 1},
                         {"names", "0"},
                         {"marks", {{{"file", "http://host/a"}, {"version", version}}}}}});
  };
  EXPECT_THAT(CompareFiles(marks("9 bytes, tag \"a\""), marks("9 bytes, tag \"b\"")).changed,
              ElementsAre("http://host/a is now 9 bytes, tag \"b\", it was 9 bytes, tag \"a\""));
  EXPECT_THAT(CompareFiles(marks("9 bytes"), marks("9 bytes")).changed, IsEmpty());
}

// Whatever is replaced as a whole differs in its first or last bytes, or in one of the places.
TEST_F(FileMarksTest, OfALargeFileTheFirstAndTheLastByteCount) {
  const std::string large = "[lines: large.txt]";
  std::string text(200'000, 'x');
  Write("large.txt", text);
  const Json before = Marks(large);
  for (const size_t at : {size_t{0}, size_t{199'999}}) {
    std::string other = text;
    other[at] = 'y';
    Write("large.txt", other);
    EXPECT_EQ(CompareFiles(before, Marks(large)).changed.size(), 1u) << at;
  }
}

TEST_F(FileMarksTest, OfManyFilesSomeHaveMarksAndAllNamesCount) {
  const std::string many = "[files: pictures/*]";
  fs::create_directory(dir_ / "pictures");
  for (int i = 1000; i < 1300; ++i) Write("pictures/" + std::to_string(i), "bytes");
  const Json before = Marks(many);
  EXPECT_EQ(before[0]["files"], 300);
  EXPECT_EQ(before[0]["marks"].size(), 256u);
  EXPECT_EQ(before[0]["marks"].back()["file"], "pictures/1299");
  EXPECT_TRUE(CompareFiles(before, Marks(many)).changed.empty());
  fs::rename(dir_ / "pictures/1000", dir_ / "pictures/0999");
  EXPECT_THAT(CompareFiles(before, Marks(many)).changed,
              ElementsAre("files reads pictures/0999 in the place of pictures/1000"));
  Write("pictures/1300", "bytes");
  EXPECT_THAT(CompareFiles(before, Marks(many)).changed,
              ElementsAre("files reads 301 files, it read 300"));
}

TEST_F(FileMarksTest, ManyChangesAreCounted) {
  const std::string many = "[files: part*]";
  for (int i = 0; i < 8; ++i) Write("part" + std::to_string(i), "bytes");
  const Json before = Marks(many);
  for (int i = 0; i < 8; ++i) Write("part" + std::to_string(i), "other");
  const std::vector<std::string> changed = CompareFiles(before, Marks(many)).changed;
  ASSERT_EQ(changed.size(), 6u);
  EXPECT_EQ(changed.front(), "part0 has other content, in 5 bytes as before");
  EXPECT_EQ(changed.back(), "and 3 more");
}

TEST_F(FileMarksTest, FilesThatAreMovedTogetherAreTheSame) {
  fs::create_directory(dir_ / "here");
  Write("here/a.txt", "one\ntwo\n");
  const Json before = MarksBelow(dir_ / "here", lines_);
  fs::rename(dir_ / "here", dir_ / "there");
  const Json now = MarksBelow(dir_ / "there", lines_);
  EXPECT_EQ(before, now);
  EXPECT_EQ(now[0]["marks"][0]["file"], "a.txt");
}

TEST_F(FileMarksTest, WhereTheSourcesAreOthersNothingIsCompared) {
  Write("a.txt", "one\ntwo\n");
  const Json now = Marks(lines_);
  for (const Json& before :
       {Json(), Json::array(), Json::array({1}), Json::array({{{"source", "lines"}}}),
        Json{{"source", "lines"}}, Marks("[files: a.txt]")}) {
    const FileChanges changes = CompareFiles(before, now);
    EXPECT_THAT(changes.changed, IsEmpty()) << before;
    EXPECT_THAT(changes.touched, IsEmpty()) << before;
  }
}

}  // namespace
}  // namespace stoker
