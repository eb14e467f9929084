#include "stoker/data/recipe/file_marks.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "stoker/base/testing.h"
#include "stoker/data/core/iterator.h"
#include "stoker/data/options/registry.h"
#include "stoker/data/recipe/file_changes.h"
#include "stoker/io/atomic_file.h"
#include "stoker/io/remote/loopback_server_testing_internal.h"

namespace stoker::file_marks_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A source that names files and reads none.
class NamedFiles final : public DatasetNode {
 public:
  explicit NamedFiles(std::vector<std::string> files)
      : DatasetNode("named", Spec(), Cardinality::Unknown(), {}), files_(std::move(files)) {}
  std::vector<std::string> files() const override { return files_; }
  Result<std::unique_ptr<Iterator>> OpenStream(const OpenContext&) const override {
    return Unimplemented("nothing is read");
  }

 private:
  const std::vector<std::string> files_;
};

Dataset DatasetOf(std::vector<std::string> files) {
  return Dataset(std::make_shared<NamedFiles>(std::move(files)));
}

class FileMarksTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    STOKER_ASSERT_OK(WriteFileAtomically(dir_ / name, text));
  }
  // Of the pipeline in these lines of YAML.
  Json Marks(const std::string& yaml, DataCheck check = DataCheck::kPlaces) const {
    return MarksBelow(dir_ / "", yaml, check);
  }
  Json MarksBelow(const std::string& root, const std::string& yaml,
                  DataCheck check = DataCheck::kPlaces) const {
    const auto list = ParseYaml(yaml, "r.yaml");
    EXPECT_THAT(list, IsOk());
    const auto dataset = BuildPipeline(*list, root, nullptr);
    EXPECT_THAT(dataset, IsOk());
    const auto marks = MarkFiles(*dataset, root, check);
    EXPECT_THAT(marks, IsOk());
    return marks.ok() ? *marks : Json();
  }
  // Many files of one byte, which need not outlive a loss of power.
  void Make(const std::string& name) const { std::ofstream(dir_ / name) << "x"; }
  // A file of holes and two x, so large that only samples of it are compared.
  static constexpr off_t kLarge = off_t{80} << 20;
  void WriteLarge() {
    Write("large.txt", "x");
    fs::resize_file(dir_ / "large.txt", kLarge);
    for (const off_t at : {off_t{5000}, kLarge - 1}) Change("large.txt", at, 'x');
  }
  // Sets one byte.
  void Change(const std::string& name, off_t at, char byte) const {
    std::fstream file(dir_ / name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put(byte);
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

TEST_F(FileMarksTest, AnotherLengthIsNamed) {
  Write("a.txt", "one\ntwo\n");
  const Json before = Marks(lines_);
  Write("a.txt", "one\n");
  const Json shorter = Marks(lines_);
  EXPECT_THAT(CompareFiles(before, shorter).changed, ElementsAre("a.txt has 4 bytes, it had 8"));
}

TEST_F(FileMarksTest, AFileThatWasOnlyTouchedIsTheSameAndALargeOneIsToldOf) {
  const std::string large = "[lines: large.txt]";
  Write("a.txt", "one\ntwo\n");
  WriteLarge();
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
  WriteLarge();
  const Json before = Marks(large);
  for (const off_t at : {off_t{0}, kLarge - 1}) {
    Change("large.txt", at, 'y');
    EXPECT_EQ(CompareFiles(before, Marks(large)).changed.size(), 1u) << at;
    Change("large.txt", at, 'x');
  }
  EXPECT_THAT(CompareFiles(before, Marks(large)).changed, IsEmpty());
}

TEST_F(FileMarksTest, FilesThatAreNotLargeTogetherAreComparedWhole) {
  const std::string parts = "[files: part*]";
  for (const char* name : {"part1", "part2"}) Write(name, std::string(3 << 20, 'x') + "\n");
  const Json before = Marks(parts);
  for (const off_t at : {1, 12'345, 2'000'001}) {
    Change("part2", at, 'y');
    EXPECT_THAT(CompareFiles(before, Marks(parts)).changed,
                ElementsAre("part2 has other content, in 3145729 bytes as before"));
    Change("part2", at, 'x');
  }
}

TEST_F(FileMarksTest, AFullCheckFindsAnyByteOfALargeFileAndOfManyFiles) {
  const std::string large = "[files: 'la*']";
  WriteLarge();
  const Json places = Marks(large), full = Marks(large, DataCheck::kFull);
  Change("large.txt", 5000, 'y');
  EXPECT_THAT(CompareFiles(places, Marks(large)).changed, IsEmpty()) << "between two places";
  EXPECT_THAT(CompareFiles(full, Marks(large, DataCheck::kFull)).changed,
              ElementsAre("large.txt has other content"));
  const std::string many = "[files: pictures/*]";
  fs::create_directory(dir_ / "pictures");
  for (int i = 10'000; i < 15'000; ++i) Make("pictures/" + std::to_string(i));
  const Json before = Marks(many, DataCheck::kFull);
  Change("pictures/13001", 0, 'y');
  const FileChanges changes = CompareFiles(before, Marks(many, DataCheck::kFull));
  ASSERT_EQ(changes.changed.size(), 1u);
  EXPECT_THAT(changes.changed.front(), HasSubstr("pictures/1300"));
}

// Bytes that moved from a file to the next, in a group that has one checksum.
TEST_F(FileMarksTest, AFullCheckKnowsWhereEachFileOfAGroupEnds) {
  const std::string many = "[files: pictures/*]";
  fs::create_directory(dir_ / "pictures");
  for (int i = 10'000; i < 20'000; ++i) Make("pictures/" + std::to_string(i));
  const Json before = Marks(many, DataCheck::kFull);
  Write("pictures/15000", "");
  Write("pictures/15001", "xx");
  EXPECT_EQ(CompareFiles(before, Marks(many, DataCheck::kFull)).changed.size(), 1u);
}

TEST_F(FileMarksTest, AFileThatIsMissingOrThereAgainIsNamedInBothChecks) {
  for (const DataCheck check : {DataCheck::kPlaces, DataCheck::kFull}) {
    for (const char* name : {"b", "c"}) Write(name, "x");
    const Dataset files = DatasetOf({dir_ / "b", dir_ / "c"});
    const auto marks = [&] { return MarkFiles(files, dir_.path(), check).value(); };
    const Json before = marks();
    fs::remove(dir_ / "b");
    const Json now = marks();
    EXPECT_THAT(CompareFiles(before, now).changed, ElementsAre("b can no longer be read"));
    EXPECT_THAT(CompareFiles(now, before).changed,
                ElementsAre("b can be read, which it could not before"));
    EXPECT_THAT(CompareFiles(now, now).changed, IsEmpty());
    Write("c", "y");
    EXPECT_THAT(CompareFiles(now, marks()).changed, ElementsAre(HasSubstr("c has other content")));
  }
}

TEST_F(FileMarksTest, OneMissingFileOfAGroupDoesNotHideAChangeOfAnother) {
  std::vector<std::string> paths;
  for (int i = 10'000; i < 20'000; ++i) {
    Make(std::to_string(i));
    paths.push_back(dir_ / std::to_string(i));
  }
  fs::remove(paths[15'000 - 10'000]);
  const Dataset files = DatasetOf(paths);
  STOKER_ASSERT_OK_AND_ASSIGN(const Json before, MarkFiles(files, dir_.path(), DataCheck::kFull));
  Change("15001", 0, 'y');
  STOKER_ASSERT_OK_AND_ASSIGN(const Json now, MarkFiles(files, dir_.path(), DataCheck::kFull));
  EXPECT_EQ(CompareFiles(before, now).changed.size(), 1u);
}

TEST_F(FileMarksTest, TroubleThatSaysNothingAboutAFileIsAnErrorAndNoMark) {
  const ScopedRemoteOptions options({.retries = 0});
  const LoopbackServer server(
      [](const LoopbackRequest&, int) { return LoopbackAnswer{.status = 503}; });
  for (const DataCheck check : {DataCheck::kPlaces, DataCheck::kFull}) {
    EXPECT_THAT(MarkFiles(DatasetOf({server.url("a")}), "", check),
                FailsWith(StatusCode::kUnavailable, "/a"));
  }
}

TEST_F(FileMarksTest, APipeAndADirectoryHaveNoMark) {
  fs::create_directory(dir_ / "folder");
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0666), 0);
  const Dataset files = DatasetOf({dir_ / "folder", dir_ / "pipe", "-"});
  STOKER_ASSERT_OK_AND_ASSIGN(const Json marks, MarkFiles(files, dir_.path(), DataCheck::kFull));
  EXPECT_THAT(CompareFiles(marks, marks).changed, IsEmpty());
  for (const Json& mark : marks[0]["marks"]) EXPECT_EQ(mark.size(), 1u) << mark;
  for (const Json& group : marks[0]["whole"]) EXPECT_TRUE(group["content"].is_null()) << group;
}

TEST_F(FileMarksTest, WhatAFullCheckComparesWithIsKeptByACheapOne) {
  Write("a.txt", "one\n");
  const Json full = Marks(lines_, DataCheck::kFull);
  Json cheap = Marks(lines_);
  EXPECT_TRUE(HaveFullCheck(full));
  EXPECT_FALSE(HaveFullCheck(cheap));
  KeepFullCheck(full, cheap);
  EXPECT_EQ(cheap, full);
}

// The places that were read are other ones now.
TEST_F(FileMarksTest, MarksOfALargeFileByAnOlderVersionAreComparedBySizeAndTime) {
  const std::string large = "[lines: large.txt]";
  WriteLarge();
  const Json now = Marks(large);
  Json before = now;
  before[0]["marks"][0].erase("places");
  before[0]["marks"][0]["content"] = "0123456789abcdef";
  EXPECT_THAT(CompareFiles(before, now).changed, IsEmpty());
  EXPECT_THAT(CompareFiles(before, now).touched, IsEmpty());
  before[0]["marks"][0]["modified_ns"] = 1;
  EXPECT_THAT(CompareFiles(before, now).touched, ElementsAre("large.txt"));
}

TEST_F(FileMarksTest, OfManyFilesSomeHaveMarksAndAllNamesCount) {
  const std::string many = "[files: pictures/*]";
  fs::create_directory(dir_ / "pictures");
  for (int i = 1000; i < 2100; ++i) Make("pictures/" + std::to_string(i));
  const Json before = Marks(many);
  EXPECT_EQ(before[0]["files"], 1100);
  EXPECT_EQ(before[0]["marks"].size(), 1024u);
  EXPECT_EQ(before[0]["marks"].back()["file"], "pictures/2099");
  EXPECT_TRUE(CompareFiles(before, Marks(many)).changed.empty());
  fs::rename(dir_ / "pictures/1000", dir_ / "pictures/0999");
  EXPECT_THAT(CompareFiles(before, Marks(many)).changed,
              ElementsAre("files reads pictures/0999 in the place of pictures/1000"));
  Write("pictures/2100", "x");
  EXPECT_THAT(CompareFiles(before, Marks(many)).changed,
              ElementsAre("files reads 1101 files, it read 1100"));
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

TEST_F(FileMarksTest, FilesThatStagesWereMadeFromAreMarkedToo) {
  Write("a.txt", "cat\n");
  Write("words.txt", "cat\ndog\n");
  const std::string kinds[] = {"words: {field: text, vocabulary: words.txt}",
                               "lookup: {field: text, vocabulary: words.txt}"};
  for (const std::string& stage : kinds) {
    Write("words.txt", "cat\ndog\n");
    const std::string yaml = "[lines: a.txt, " + stage + "]";
    const Json before = Marks(yaml);
    Write("words.txt", "dog\ncat\n");
    EXPECT_THAT(CompareFiles(before, Marks(yaml)).changed,
                ElementsAre("words.txt has other content, in 8 bytes as before"));
    Json older = before;  // by a version that did not mark stages
    older.erase(1);
    EXPECT_THAT(CompareFiles(older, Marks(yaml)).changed, IsEmpty());
    Write("a.txt", "dog\n");
    EXPECT_THAT(CompareFiles(older, Marks(yaml)).changed,
                ElementsAre("a.txt has other content, in 4 bytes as before"));
    Write("a.txt", "cat\n");
  }
}

TEST_F(FileMarksTest, AStageWithAnotherFileThanTheModelWasTrainedWithIsFound) {
  Write("a.txt", "cat\n");
  Write("words.txt", "cat\ndog\n");
  Write("title.txt", "dog\ncat\n");
  const auto words = [](const char* file) {
    return fmt::format("words: {{field: text, vocabulary: {}}}", file);
  };
  const auto stages = [&](const std::string& stage) {
    const auto list = ParseYaml("[lines: a.txt, " + stage + "]", "r.yaml");
    const auto dataset = BuildPipeline(*list, dir_ / "", nullptr);
    EXPECT_THAT(dataset, IsOk());
    return MarkStageFiles(*dataset, dir_ / "").value();
  };
  const Json trained = {{"train", Marks("[lines: a.txt, " + words("words.txt") + "]")},
                        {"eval", Marks("[lines: a.txt, " + words("title.txt") + "]")}};
  EXPECT_EQ(FindOtherStageFile(trained, stages(words("words.txt"))), std::nullopt);
  Write("copy.txt", "cat\ndog\n");
  EXPECT_EQ(FindOtherStageFile(trained, stages(words("copy.txt"))), std::nullopt);
  Write("other.txt", "cat\ndog\nfox\n");
  EXPECT_EQ(FindOtherStageFile(trained, stages(words("other.txt"))), "words: other.txt");
  // What another stage was made from is no excuse for a file that has changed.
  Write("words.txt", "dog\ncat\n");
  EXPECT_EQ(FindOtherStageFile(trained, stages(words("words.txt"))), "words: words.txt");
  EXPECT_EQ(FindOtherStageFile(trained, stages("lookup: {field: text, vocabulary: other.txt}")),
            std::nullopt);
  for (const Json& damaged : {Json(), Json(1), Json::array({1}), Json{{"train", 1}}})
    EXPECT_EQ(FindOtherStageFile(damaged, stages(words("words.txt"))), std::nullopt) << damaged;
}

}  // namespace stoker::file_marks_test
