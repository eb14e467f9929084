#include "stoker/io/checksum.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stoker::checksum_test {

// The plain twin: one bit at a time, from the reflected polynomial.
uint32_t CrcReference(std::string_view bytes, uint32_t polynomial) {
  uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
  }
  return ~crc;
}

std::string Counting(int first, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<char>(first + i * step));
  return bytes;
}

TEST(Crc32c, GivesTheValuesOfRfc3720) {  // appendix B.4
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(Counting(0, 1)), 0x46dd794eu);
  EXPECT_EQ(Crc32c(Counting(31, -1)), 0x113fdb5cu);
}

TEST(Crc32c, GivesTheCheckValueOfTheCatalogue) { EXPECT_EQ(Crc32c("123456789"), 0xe3069283u); }

TEST(Crc32, GivesTheCheckValueOfTheCatalogue) { EXPECT_EQ(Crc32("123456789"), 0xcbf43926u); }

TEST(Crc, OfNothingIsZero) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32(""), 0u);
}

TEST(Crc, AgreesWithThePlainTwinAroundEveryVectorWidthAndStart) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes.push_back(static_cast<char>(i * 37 + i / 256));
  for (const size_t size : {0,  1,  7,   8,   9,   15,  16,   17,   31,   33,  63,
                            64, 65, 127, 129, 255, 257, 1023, 1025, 4095, 4097}) {
    for (const size_t start : {0, 1, 3, 8}) {
      SCOPED_TRACE(testing::Message() << "size " << size << " start " << start);
      const auto part = std::string_view(bytes).substr(start, size);
      EXPECT_EQ(Crc32c(part), CrcReference(part, 0x82f63b78));
      EXPECT_EQ(Crc32(part), CrcReference(part, 0xedb88320));
    }
  }
}

TEST(Crc, OfPartsInTurnIsThatOfTheWhole) {
  const std::string bytes = "the quick brown fox jumps over the lazy dog";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(Crc32c(bytes.substr(cut), Crc32c(bytes.substr(0, cut))), Crc32c(bytes));
    EXPECT_EQ(Crc32(bytes.substr(cut), Crc32(bytes.substr(0, cut))), Crc32(bytes));
  }
}

TEST(MaskedCrc32c, IsWhatTfRecordStores) {
  EXPECT_EQ(MaskCrc32c(Crc32c("123456789")), 0xc78ab0e5u);
  // The first record of an event file: the length 24 and its masked CRC.
  EXPECT_EQ(MaskCrc32c(Crc32c(std::string("\x18\0\0\0\0\0\0\0", 8))), 0x224b7fa3u);
}

TEST(MaskedCrc32c, UnmasksToWhatItWas) {
  for (const uint32_t crc : {0u, 1u, 0x7fffu, 0x8000u, 0xe3069283u, 0xffffffffu}) {
    EXPECT_EQ(UnmaskCrc32c(MaskCrc32c(crc)), crc);
    EXPECT_NE(MaskCrc32c(crc), crc);
  }
}

}  // namespace stoker::checksum_test
