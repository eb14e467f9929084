#include "stoker/device/torch_error.h"

#include <torch/utils.h>

#include "stoker/base/testing.h"

// One test asks for more memory than there is: AddressSanitizer shall refuse it as malloc does.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace stoker::torch_error_test {

TEST(TorchError, WhatDoesNotThrowIsOk) {
  int calls = 0;
  STOKER_EXPECT_OK(CatchTorchErrors([&] { ++calls; }));
  EXPECT_EQ(calls, 1);
}

TEST(TorchError, AStatusOfTheBodyIsPassedOn) {
  EXPECT_THAT(CatchTorchErrors([] { return NotFound("nothing here"); }),
              FailsWith(StatusCode::kNotFound, "nothing here"));
}

TEST(TorchError, WrongShapesAreInvalidArgumentWithTorchsWordsAndNoBacktrace) {
  const Status status = CatchTorchErrors([] {
    torch::matmul(torch::zeros({2, 3}), torch::zeros({2, 3}));
  });
  EXPECT_THAT(status,
              FailsWith(StatusCode::kInvalidArgument, "cannot be multiplied (2x3 and 2x3)"));
  EXPECT_EQ(status.message().find("raised from"), std::string::npos);
}

TEST(TorchError, TooMuchMemoryIsResourceExhausted) {
  EXPECT_THAT(CatchTorchErrors([] { torch::empty({int64_t{1} << 50}); }),
              FailsWith(StatusCode::kResourceExhausted, "allocate"));
  EXPECT_THAT(CatchTorchErrors([] { throw std::bad_alloc(); }),
              FailsWith(StatusCode::kResourceExhausted, "smaller batch"));
}

TEST(TorchError, TooMuchMemoryIsSaidInPlainWordsWithTheSizeThatWasWanted) {
  const Status status = CatchTorchErrors([] { torch::empty({int64_t{1} << 50}); });
  EXPECT_EQ(status.message(),
            "out of memory: an array of 4096.0 TiB does not fit (you tried to allocate "
            "4503599627370496 bytes); use a smaller batch or model, or "
            "train.activation_checkpointing");
  // As a library says it that has turned the exception into text.
  EXPECT_THAT(CatchTorchErrors([] { throw std::runtime_error("std::bad_alloc"); }),
              FailsWith(StatusCode::kResourceExhausted, "out of memory; use a smaller batch"));
}

TEST(TorchError, OtherExceptionsAreInternal) {
  EXPECT_THAT(CatchTorchErrors([] { throw std::runtime_error("odd"); }),
              FailsWith(StatusCode::kInternal, "odd"));
}

}  // namespace stoker::torch_error_test
