#include "stoker/io/standard_input.h"

#include <unistd.h>

#include "stoker/base/testing.h"

namespace stoker {
namespace {

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

TEST(StandardInput, IsNamedByADash) {
  EXPECT_FALSE(IsPipedIn("a"));
  EXPECT_FALSE(IsPipedIn("s3://-"));
}

}  // namespace
}  // namespace stoker
