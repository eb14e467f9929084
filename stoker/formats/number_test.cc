#include "stoker/formats/number.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "stoker/base/testing.h"

namespace stoker::number_test {

using namespace std::string_literals;

template <typename T>
T Number(const std::string& text) {
  T out = -7;
  EXPECT_EQ(ParseNumber(text, out), NumberFault::kNone) << text;
  return out;
}

template <typename T>
NumberFault Fault(const std::string& text) {
  T out = 7;
  const NumberFault fault = ParseNumber(text, out);
  EXPECT_EQ(out, 7) << text << ": what is no number changes nothing";
  return fault;
}

TEST(Number, BelowTheSmallestItIsZeroOfItsSign) {
  const std::string zeros(500, '0');
  for (const std::string& text : {"1e-50"s, "0.1e-60"s, "123456789E-70"s, "0." + zeros + "1",
                                  "1" + zeros + "e-600", "1e-99999999999999999999"s}) {
    EXPECT_EQ(Number<float>(text), 0.0f) << text;
    EXPECT_FALSE(std::signbit(Number<float>(text))) << text;
    EXPECT_TRUE(std::signbit(Number<float>("-" + text))) << text;
  }
  EXPECT_EQ(Number<double>("1e-400"), 0.0);
  EXPECT_EQ(Number<double>("-0." + zeros + "1"), 0.0);
}

TEST(Number, NearTheSmallestItIsTheNearestDenormal) {
  EXPECT_EQ(Number<float>("1e-45"), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(Number<float>("1.1754942e-38"), 0x1.fffffcp-127f);
  EXPECT_EQ(Number<double>("5e-324"), std::numeric_limits<double>::denorm_min());
}

TEST(Number, AboveTheLargestItIsAnError) {
  const std::string zeros(500, '0');
  for (const std::string& text : {"1e39"s, "-3.5e38"s, "1" + zeros, "0.01E+45"s,
                                  "0." + zeros + "1e600", "1e99999999999999999999"s}) {
    EXPECT_EQ(Fault<float>(text), NumberFault::kTooLarge) << text;
  }
  EXPECT_EQ(Fault<double>("1e400"), NumberFault::kTooLarge);
  EXPECT_EQ(Fault<uint8_t>("256"), NumberFault::kTooLarge);
  EXPECT_EQ(Fault<int64_t>("9223372036854775808"), NumberFault::kTooLarge);
  EXPECT_EQ(Number<float>("3.4028235e38"), std::numeric_limits<float>::max());
  EXPECT_EQ(Number<float>("-inf"), -std::numeric_limits<float>::infinity());
}

TEST(Number, EndsWithTheText) {
  EXPECT_EQ(Number<float>("0e999"), 0.0f);
  EXPECT_EQ(Fault<float>(""), NumberFault::kNoNumber);
  EXPECT_EQ(Fault<float>("1e-50x"), NumberFault::kNoNumber);
  EXPECT_EQ(Fault<int32_t>("1.5"), NumberFault::kNoNumber);
  const std::string text = "1e-50:2";
  const char* at = text.data();
  float out = 1;
  EXPECT_EQ(TakeNumber(at, text.data() + text.size(), out), NumberFault::kNone);
  EXPECT_EQ(out, 0.0f);
  EXPECT_EQ(at - text.data(), 5);
}

}  // namespace stoker::number_test
