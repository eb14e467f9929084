// Sources of several files: indices beside the data that are damaged or of other data, and shards
// that are missing.
#include <algorithm>

#include "stoker/data/testing/damaged_files.h"

namespace stoker::damaged_sets_test {

namespace fs = std::filesystem;

class DamagedIndices : public DamagedTest {
 protected:
  void SetUp() override {
    DamagedTest::SetUp();
    stages_ = GetParam().stages;
    stages_.replace(stages_.find("memory"), 6, "stored");
    EXPECT_EQ(Fingerprint(*ReadStored()), Fingerprint(elements_));
    index_ = dir_ / fmt::format(".{}.stoker-index", GetParam().file);
    ASSERT_TRUE(fs::exists(index_));
  }
  Result<std::vector<Element>> ReadStored() const { return ReadDamaged(stages_, dir_); }

  std::string stages_, index_;
};

TEST_P(DamagedIndices, AreMadeAnewWhereverTheyAreDamaged) {
  const std::string whole = *ReadTextFile(index_);
  const auto read_with = [&](const std::string& content) {
    WriteFast(index_, content);
    const Result<std::vector<Element>> read = ReadStored();
    STOKER_ASSERT_OK(read.status());
    ASSERT_EQ(Fingerprint(*read), Fingerprint(elements_));
  };
  for (size_t size = 0; size < whole.size(); ++size) read_with(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ '\xff');
    read_with(changed);
  }
}

TEST_P(DamagedIndices, AreMadeAnewForAFileThatHasChanged) {
  WriteFast(path_, whole_ + whole_);
  const Result<std::vector<Element>> longer = ReadStored();
  if (longer.ok()) {
    EXPECT_GE(longer->size(), elements_.size());
  }
  const fs::file_time_type later = fs::last_write_time(path_) + std::chrono::seconds(5);
  WriteFast(path_, whole_);
  fs::last_write_time(path_, later);  // of the size that the first had
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> again, ReadStored());
  EXPECT_EQ(Fingerprint(again), Fingerprint(elements_));
}

// Size and time are those of the file that the index was made from, and yet the file is another.
TEST_P(DamagedIndices, ThatAreOfAnotherFileAreAnErrorThatNamesTheFileOrGiveElements) {
  const fs::file_time_type time = fs::last_write_time(path_);
  for (size_t at = 0; at < whole_.size(); at += std::max<size_t>(1, whole_.size() / 64)) {
    SCOPED_TRACE(at);
    std::string other = whole_.substr(at) + whole_.substr(0, at);
    WriteFast(path_, other);
    fs::last_write_time(path_, time);
    const Result<std::vector<Element>> read = ReadStored();
    if (read.ok()) {
      EXPECT_LE(read->size(), elements_.size());
    } else {
      EXPECT_THAT(read.status().message(), testing::HasSubstr(GetParam().file));
      EXPECT_NE(read.status().code(), StatusCode::kInternal) << read.status().ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DamagedIndices,
                         testing::ValuesIn(DamagedKindsOf({"tfrecord", "csv", "jsonl", "libsvm",
                                                           "tar", "recordio"})),
                         NameOfKind);

class MissingShards : public DamagedTest {};

TEST_P(MissingShards, AreNamed) {
  const std::string file = GetParam().file, base = file.substr(0, file.find('/'));
  const size_t dot = base.find('.');
  const std::string stem = base.substr(0, dot), extension = base.substr(dot);
  fs::rename(dir_ / base, dir_ / (stem + "-00000-of-00002" + extension));
  std::string stages = GetParam().stages;
  stages.replace(stages.find(base), base.size(), stem + "@2" + extension);
  EXPECT_THAT(OpenDamaged(stages, dir_),
              FailsWith(StatusCode::kNotFound, stem + "-00001-of-00002" + extension));
}

INSTANTIATE_TEST_SUITE_P(All, MissingShards,
                         testing::ValuesIn(DamagedKindsOf(
                             {"tfrecord", "tfrecord.gz", "csv", "csv.gz", "jsonl", "libsvm", "tar",
                              "tar.gz", "zip", "recordio", "binary", "lmdb", "hdf5", "stoker"})),
                         NameOfKind);

}  // namespace stoker::damaged_sets_test
