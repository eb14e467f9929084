// Every source on every kind of damage that happens to files: what comes is an error that names the
// file, or elements, but no crash, no hang, and no memory that the file does not account for.
// That each parser finds what it can find, its own test shows (formats/*/*_test.cc).
#include "stoker/data/testing/damaged_files.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>

#include "stoker/io/file_bytes_testing_internal.h"

namespace stoker::damaged_files_test {

namespace fs = std::filesystem;

class DamagedFiles : public DamagedTest {
 protected:
  // Reads the file with this content in place of its own. An error must name it.
  std::optional<std::vector<Element>> ReadWith(std::string_view content) {
    WriteFast(path_, content);
    Result<std::vector<Element>> read = Read();
    if (read.ok()) return *std::move(read);
    EXPECT_THAT(read.status().message(), testing::HasSubstr(fs::path(path_).filename().string()));
    EXPECT_NE(read.status().code(), StatusCode::kInternal) << read.status().ToString();
    return std::nullopt;
  }
};

// Whether `body` ends well in a process of its own, in which no other thread does anything.
bool EndsWellInAChild(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int result = 0;
  if (::waitpid(child, &result, 0) != child) return false;
  return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

TEST_P(DamagedFiles, CutAnywhereAreAnErrorThatNamesThemOrHaveTheFirstElements) {
  for (size_t size = 0; size < whole_.size(); ++size) {
    SCOPED_TRACE(size);
    const auto read = ReadWith(std::string_view(whole_).substr(0, size));
    if (!read || GetParam().cut == Cut::kOther) continue;
    // What lies after the last element, such as the zeros at the end of an archive, is not needed.
    ASSERT_LE(read->size(), elements_.size());
    if (GetParam().cut == Cut::kError) {
      ASSERT_EQ(read->size(), elements_.size());
    }
    const std::vector<Element> first(elements_.begin(), elements_.begin() + std::ssize(*read));
    ASSERT_EQ(Fingerprint(*read), Fingerprint(first));
  }
}

TEST_P(DamagedFiles, WithAnyByteChangedAreAnErrorThatNamesThemOrHaveOtherValues) {
  for (const char mask : {'\xff', '\x01'}) {
    for (size_t at = 0; at < whole_.size(); ++at) {
      SCOPED_TRACE(testing::Message() << "byte " << at << " mask " << int{mask});
      std::string changed = whole_;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      const auto read = ReadWith(changed);
      if (!read || GetParam().flip == Flip::kOther) continue;
      ASSERT_EQ(Fingerprint(*read), Fingerprint(elements_));
    }
  }
}

// What fails is left out, and the pass goes on; it may not fail for ever.
TEST_P(DamagedFiles, CanBeReadWithoutTheElementsThatAreDamagedOrNotAtAll) {
  const QuietLog quiet;  // about elements that fail
  const std::string source = GetParam().stages;
  const std::string stages =
      (source.starts_with('{') ? source : "{" + source + "}") + ", {ignore_errors: {share: 1}}";
  const auto read_with = [&](const std::string& content) {
    WriteFast(path_, content);
    const Result<std::vector<Element>> read = ReadDamaged(stages, dir_);
    if (read.ok()) {
      EXPECT_LE(read->size(), 2 * elements_.size() + content.size());
    } else {
      EXPECT_NE(read.status().code(), StatusCode::kInternal) << read.status().ToString();
    }
  };
  // In large files most bytes are padding or values.
  const size_t step = 1 + whole_.size() / 1000;
  for (size_t at = 0; at < whole_.size(); at += step) {
    SCOPED_TRACE(at);
    std::string changed = whole_;
    changed[at] = static_cast<char>(changed[at] ^ '\xff');
    read_with(changed);
    read_with(whole_.substr(0, at));
  }
}

// The most virtual memory that this process has had, in bytes.
uint64_t PeakMemory() {
  const std::string text = *ReadTextFile("/proc/self/status");
  const size_t at = text.find("VmPeak:");
  return std::stoull(text.substr(at + 7)) << 10;
}

TEST_P(DamagedFiles, ThatAnnounceFarTooMuchTakeNoMemoryForIt) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory hides ours";
#endif
  // Runs of ones, and of the largest numbers with a sign, over every place a count may stand in.
  const size_t step = whole_.size() < 4096 ? 1 : 2;  // in large ones numbers stand at even places
  EXPECT_TRUE(EndsWellInAChild([&] {
    const uint64_t before = PeakMemory();
    for (const size_t width : {4, 8}) {
      for (const char top : {'\xff', '\x7f'}) {
        for (size_t at = 0; at + width <= whole_.size(); at += step) {
          SCOPED_TRACE(testing::Message() << "byte " << at << " width " << width);
          std::string changed = whole_;
          changed.replace(at, width, width, '\xff');
          changed[at + width - 1] = top;
          ReadWith(changed);
        }
      }
    }
    EXPECT_LT(PeakMemory() - before, uint64_t{64} << 20);
  }));
}

TEST_P(DamagedFiles, ThatAnotherOneReplacesWhileTheyAreReadGiveWhatTheyHad) {
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, OpenDamaged(GetParam().stages, dir_));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> pass,
                              dataset.Open(Runtime::Inline()));
  std::vector<Element> read;
  read.push_back(**pass->Next());
  WriteFast(path_ + ".new", whole_.substr(0, whole_.size() / 2));
  fs::rename(path_ + ".new", path_);
  STOKER_ASSERT_OK_AND_ASSIGN(std::vector<Element> rest, ReadAll(*pass));
  for (Element& element : rest) read.push_back(std::move(element));
  EXPECT_EQ(Fingerprint(read), Fingerprint(elements_));
}

TEST_P(DamagedFiles, ThatMayNotBeReadAreAnErrorThatSaysSo) {
  fs::permissions(dir_.path(), fs::perms(0755));
  for (const auto& entry : fs::recursive_directory_iterator(dir_.path()))
    fs::permissions(entry.path(), entry.is_directory() ? fs::perms(0755) : fs::perms(0644));
  fs::permissions(path_, fs::perms::none);
  EXPECT_TRUE(EndsWellInAChild([&] {
    constexpr uid_t kNobody = 65534;  // root may read everything
    ASSERT_TRUE(::geteuid() != 0 || ::setuid(kNobody) == 0);
    EXPECT_THAT(Read(), FailsWith(StatusCode::kPermissionDenied, path_));
  }));
  fs::permissions(path_, fs::perms(0644));
}

TEST_P(DamagedFiles, ThatAreCutWhileTheyAreReadAreAnErrorOrGiveWhatTheyHad) {
  for (const size_t size : {size_t{0}, whole_.size() / 2, whole_.size() - 1}) {
    SCOPED_TRACE(size);
    WriteFast(path_, whole_);
    STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, OpenDamaged(GetParam().stages, dir_));
    STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> pass,
                                dataset.Open(Runtime::Inline()));
    std::vector<Element> read;
    read.push_back(**pass->Next());
    fs::resize_file(path_, size);
    Result<std::vector<Element>> rest = ReadAll(*pass);
    if (!rest.ok()) {
      EXPECT_THAT(rest.status().message(), testing::HasSubstr(fs::path(path_).filename().string()));
      continue;
    }
    for (Element& element : *rest) read.push_back(std::move(element));
    EXPECT_EQ(Fingerprint(read), Fingerprint(elements_));
  }
}

TEST_P(DamagedFiles, GiveTheSameElementsWhereTheyAreMapped) {
  const ScopedMapping mapping;
  STOKER_ASSERT_OK_AND_ASSIGN(const Dataset dataset, OpenDamaged(GetParam().stages, dir_));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Iterator> pass,
                              dataset.Open(Runtime::Inline()));
  STOKER_ASSERT_OK_AND_ASSIGN(const std::vector<Element> read, ReadAll(*pass));
  EXPECT_EQ(Fingerprint(read), Fingerprint(elements_));
}

INSTANTIATE_TEST_SUITE_P(All, DamagedFiles, testing::ValuesIn(DamagedKinds()), NameOfKind);

}  // namespace stoker::damaged_files_test
