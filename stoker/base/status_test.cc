#include "stoker/base/status.h"

#include <cerrno>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "stoker/base/problems.h"
#include "stoker/base/testing.h"

namespace stoker::status_test {

TEST(Status, SuccessHasNoMessageAndIsOnePointerWide) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.ToString(), "ok");
  EXPECT_LE(sizeof(Status), 2 * sizeof(void*));
}

TEST(Status, MakersFormatTheirMessage) {
  const Status status = DataLoss("{}: byte {}: cut short", "a.idx", 16);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(status.ToString(), "data loss: a.idx: byte 16: cut short");
}

TEST(Status, WhilePutsContextInFrontAndKeepsTheCode) {
  const Status status = NotFound("no such key").While("reading a.idx").While("opening");
  EXPECT_THAT(status,
              FailsWith(StatusCode::kNotFound, "while opening: while reading a.idx: no such key"));
  EXPECT_THAT(OkStatus().While("anything"), IsOk());
}

TEST(Status, WhileSaysTheContextOfEachProblemThatWasJoined) {
  Problems problems;
  problems.Add(NotFound("no a.idx"));
  problems.Add(DataLoss("b.idx is cut short"));
  const Status status = problems.ToStatus().While("opening");
  EXPECT_THAT(ProblemsIn(status),
              testing::ElementsAre("while opening: no a.idx", "while opening: b.idx is cut short"));
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
}

TEST(Status, EveryCodeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(StatusCode::kInternal); ++code) {
    names.insert(StatusCodeName(static_cast<StatusCode>(code)));
  }
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(names.count("unknown"), 0u);
}

TEST(ErrnoStatus, MapsErrnoToCodeAndSaysWhatTheSystemSaid) {
  const std::pair<int, StatusCode> cases[] = {{ENOENT, StatusCode::kNotFound},
                                              {EACCES, StatusCode::kPermissionDenied},
                                              {EPERM, StatusCode::kPermissionDenied},
                                              {EROFS, StatusCode::kPermissionDenied},
                                              {ENOSPC, StatusCode::kResourceExhausted},
                                              {EDQUOT, StatusCode::kResourceExhausted},
                                              {ENOMEM, StatusCode::kResourceExhausted},
                                              {EMFILE, StatusCode::kResourceExhausted},
                                              {ENFILE, StatusCode::kResourceExhausted},
                                              {EINTR, StatusCode::kUnavailable},
                                              {EAGAIN, StatusCode::kUnavailable},
                                              {EIO, StatusCode::kUnavailable},
                                              {ESTALE, StatusCode::kUnavailable},
                                              {ETIMEDOUT, StatusCode::kUnavailable},
                                              {EHOSTDOWN, StatusCode::kUnavailable},
                                              {EINVAL, StatusCode::kInvalidArgument},
                                              {EEXIST, StatusCode::kFailedPrecondition},
                                              {EISDIR, StatusCode::kFailedPrecondition},
                                              {EFBIG, StatusCode::kOutOfRange},
                                              {EUCLEAN, StatusCode::kDataLoss},
                                              {EOPNOTSUPP, StatusCode::kUnimplemented},
                                              {ECANCELED, StatusCode::kCancelled},
                                              {ENXIO, StatusCode::kUnavailable},
                                              {EPROTO, StatusCode::kUnavailable},
                                              {ENOMEDIUM, StatusCode::kUnavailable},
                                              {EKEYEXPIRED, StatusCode::kUnavailable},
                                              {EBADF, StatusCode::kInternal}};
  for (const auto& [error_number, code] : cases) {
    EXPECT_EQ(ErrnoStatus(error_number, "open").code(), code) << "errno " << error_number;
  }
  EXPECT_EQ(ErrnoStatus(ENOENT, "/data/x: open").message(),
            "/data/x: open: No such file or directory");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgument("{} is odd", value);
  return value / 2;
}

Result<int> Quarter(int value) {
  STOKER_ASSIGN_OR_RETURN(const int half, Half(value));
  return Half(half);
}

Status CheckEven(int value) {
  STOKER_RETURN_IF_ERROR(Half(value).status());
  return OkStatus();
}

TEST(Result, HoldsAValueOrTheReasonWhyNot) {
  const Result<int> good = Half(8);
  STOKER_ASSERT_OK(good);
  EXPECT_EQ(*good, 4);
  EXPECT_THAT(good.status(), IsOk());
  EXPECT_THAT(Half(3), FailsWith(StatusCode::kInvalidArgument, "3 is odd"));
}

TEST(Result, MacrosReturnTheFirstErrorUnchanged) {
  STOKER_ASSERT_OK_AND_ASSIGN(const int quarter, Quarter(12));
  EXPECT_EQ(quarter, 3);
  EXPECT_EQ(Quarter(6).status().message(), "3 is odd");
  EXPECT_THAT(CheckEven(2), IsOk());
  EXPECT_THAT(CheckEven(1), FailsWith(StatusCode::kInvalidArgument, "1 is odd"));
}

TEST(Result, TakesWhateverConvertsToItsValue) {
  const auto make = []() -> Result<std::shared_ptr<const std::string>> {
    return std::make_shared<std::string>("text");
  };
  const auto empty = []() -> Result<std::optional<int>> { return std::nullopt; };
  EXPECT_EQ(**make(), "text");
  EXPECT_FALSE(empty()->has_value());
}

TEST(Result, MovesItsValueOut) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
  const std::unique_ptr<int> value = *make();
  EXPECT_EQ(*value, 5);
}

TEST(Result, ATemporaryGivesItsValueSoThatALoopOverItIsSafe) {
  const auto make = []() -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"one text too long to be stored in place", "another"};
  };
  static_assert(!std::is_reference_v<decltype(*make())>);
  static_assert(!std::is_reference_v<decltype(make().value())>);
  std::string all;
  for (const std::string& text : *make()) all += text + ";";
  EXPECT_EQ(all, "one text too long to be stored in place;another;");
}

TEST(Result, MadeFromSuccessIsADefectThatItReports) {
  EXPECT_THAT(Result<int>(OkStatus()), FailsWith(StatusCode::kInternal, "made from success"));
}

TEST(ResultDeathTest, UseWithoutAValuePrintsTheErrorAndAborts) {
  EXPECT_DEATH((void)*Half(3), "used as if it held a value: invalid argument: 3 is odd");
}

}  // namespace stoker::status_test
