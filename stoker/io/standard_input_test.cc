#include "stoker/io/standard_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "stoker/base/testing.h"
#include "stoker/io/file_size_limit_testing_internal.h"

namespace stoker::standard_input_test {

// A pipe with `text` in it and its end.
class FullPipe {
 public:
  explicit FullPipe(std::string_view text) {
    if (::pipe(ends_) != 0 || ::write(ends_[1], text.data(), text.size()) < 0) std::abort();
    ::close(ends_[1]);
  }
  ~FullPipe() { ::close(ends_[0]); }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;
  int fd() const { return ends_[0]; }

 private:
  int ends_[2];
};

Result<std::string> Take(ByteSource& source, size_t bytes) {
  std::string text(bytes, '\0');
  STOKER_ASSIGN_OR_RETURN(const size_t got,
                          source.ReadFully(std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

TEST(StandardInput, ItsStartCanBeLookedAtBeforeItIsRead) {
  const FullPipe pipe("0123456789");
  const auto start = MakePipeStart(pipe.fd(), 5);
  {
    STOKER_ASSERT_OK_AND_ASSIGN(const auto looking, OpenPipe(start));
    EXPECT_EQ(*Take(*looking, 3), "012");
  }
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenPipe(start));
  EXPECT_EQ(*Take(*source, 100), "0123456789");
  EXPECT_FALSE(source->size_bound().exact);
}

TEST(StandardInput, CannotBeReadAgainOnceItsStartIsGone) {
  const FullPipe pipe("0123456789");
  const auto start = MakePipeStart(pipe.fd(), 5);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenPipe(start));
  EXPECT_EQ(*Take(*source, 6), "012345");
  EXPECT_THAT(OpenPipe(start),
              FailsWith(StatusCode::kFailedPrecondition, "it has been read up to byte 6"));
  EXPECT_EQ(*Take(*source, 100), "6789");
}

TEST(StandardInput, TwoReadersThatLoseEachOtherAreAnError) {
  const FullPipe pipe("0123456789");
  const auto start = MakePipeStart(pipe.fd(), 2);
  STOKER_ASSERT_OK_AND_ASSIGN(const auto one, OpenPipe(start));
  STOKER_ASSERT_OK_AND_ASSIGN(const auto other, OpenPipe(start));
  EXPECT_EQ(*Take(*one, 6), "012345");
  EXPECT_THAT(Take(*other, 6),
              FailsWith(StatusCode::kFailedPrecondition, "another reader has taken it"));
}

TEST(StandardInput, ItsCopyHoldsAllOfItAndHasNoName) {
  const TempDir folder;
  const FullPipe pipe("0123456789");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenPipe(MakePipeStart(pipe.fd(), 5)));
  STOKER_ASSERT_OK_AND_ASSIGN(const Descriptor copy, CopyIntoFolder(*source, folder.path()));
  std::string text(20, '\0');
  EXPECT_EQ(::pread(copy.get(), text.data(), text.size(), 0), 10);
  EXPECT_EQ(text.substr(0, 10), "0123456789");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(StandardInput, WhereItsCopyDoesNotFitTheErrorSaysWhereHowMuchAndWhatToDo) {
  const TempDir folder;
  const FullPipe pipe("0123456789");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenPipe(MakePipeStart(pipe.fd(), 5)));
  const Result<Descriptor> copy = [&] {
    const FileSizeLimit limit(7);
    return CopyIntoFolder(*source, folder.path());
  }();
  EXPECT_THAT(copy, FailsWith(StatusCode::kResourceExhausted,
                              fmt::format("standard input: its copy in {}: byte 7: cannot write",
                                          folder.path().string())));
  EXPECT_THAT(copy, FailsWith(StatusCode::kResourceExhausted,
                              "; 7 bytes of what is piped in were copied, "));
  EXPECT_THAT(copy, FailsWith(StatusCode::kResourceExhausted, " are free there: set TMPDIR to a"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(StandardInput, WhereItsCopyCannotBeMadeTheErrorSaysWhereAndWhatToDo) {
  const TempDir folder;
  const FullPipe pipe("0123456789");
  STOKER_ASSERT_OK_AND_ASSIGN(const auto source, OpenPipe(MakePipeStart(pipe.fd(), 5)));
  EXPECT_THAT(CopyIntoFolder(*source, folder.path() / "none"),
              FailsWith(StatusCode::kNotFound, "/none: cannot create it: "));
  EXPECT_THAT(CopyIntoFolder(*source, folder.path() / "none"),
              FailsWith(StatusCode::kNotFound, "; 0 bytes of what is piped in were copied: set"));
}

TEST(StandardInput, IsNamedByADash) {
  EXPECT_FALSE(IsPipedIn("a"));
  EXPECT_FALSE(IsPipedIn("s3://-"));
}

}  // namespace stoker::standard_input_test
