#include "stoker/image/decode_scratch.h"

#include <cstdint>
#include <new>

#include "stoker/base/testing.h"

namespace stoker::decode_scratch_test {

TEST(DecodeScratch, HandsOutAlignedPiecesThatDoNotOverlap) {
  DecodeScratch scratch;
  std::byte* const a = scratch.Take(1);
  std::byte* const b = scratch.Take(100);
  std::byte* const c = scratch.Take(0);
  for (const std::byte* piece : {a, b, c})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % kBufferAlignment, 0u);
  EXPECT_GE(b - a, 64);
  EXPECT_GE(c - b, 128);
}

TEST(DecodeScratch, AsksForNothingOnceItHasSeenThePicturesOfASize) {
  int asked = 0;
  DecodeScratch scratch([&](size_t bytes) {
    ++asked;
    return Buffer::Allocate(bytes);
  });
  const auto picture = [&] {
    scratch.Reset();
    for (int i = 0; i < 30; ++i) scratch.Take(100'000);
  };
  picture();
  picture();
  const int warm = asked;
  for (int i = 0; i < 10; ++i) picture();
  EXPECT_EQ(asked, warm);
  EXPECT_LE(scratch.held_bytes(), size_t{4} << 20);
}

TEST(DecodeScratch, AsksForPowersOfTwoWhichPoolsRecycle) {
  std::vector<size_t> asked;
  DecodeScratch scratch([&](size_t bytes) {
    asked.push_back(bytes);
    return Buffer::Allocate(bytes);
  });
  scratch.Take(1);
  scratch.Take(300'000);
  scratch.Reset();
  scratch.Take(3);
  EXPECT_THAT(asked, testing::ElementsAre(256 << 10, 512 << 10, 1 << 20));
}

TEST(DecodeScratch, GivesBackWhatOneHugePictureNeeded) {
  const auto account = Ledger::Create(int64_t{1} << 30)->OpenAccount("decode");
  DecodeScratch scratch([&](size_t bytes) { return Buffer::Allocate(bytes, account); });
  scratch.Take(size_t{100} << 20);
  EXPECT_GE(account->bytes(), int64_t{100} << 20);
  scratch.Reset();
  EXPECT_EQ(scratch.held_bytes(), 0u);
  EXPECT_EQ(account->bytes(), 0);
}

TEST(DecodeScratch, ThrowsWhereNothingCouldHoldSoMuch) {
  DecodeScratch scratch;
  EXPECT_THROW(scratch.Take(SIZE_MAX), std::bad_alloc);
  EXPECT_NE(scratch.Take(1), nullptr);
}

}  // namespace stoker::decode_scratch_test
