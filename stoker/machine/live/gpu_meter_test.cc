// What a real or a fake driver answers is seen by tests/top_test.py; here, what is missing.
#include "stoker/machine/live/gpu_meter.h"

#include "stoker/base/testing.h"

namespace stoker::gpu_meter_test {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(GpuMeter, WithoutTheLibrarySaysSoInALineAndReadsNothing) {
  const GpuMeter none("libnone-of-this-name.so.1");
  EXPECT_THAT(none.problem(), HasSubstr("no NVML: libnone-of-this-name.so.1"));
  EXPECT_EQ(none.problem().find('\n'), std::string::npos);
  EXPECT_THAT(none.Read(), IsEmpty());
}

TEST(GpuMeter, OfALibraryWithoutItsFunctionsSaysWhichIsMissing) {
  const GpuMeter other("libc.so.6");
  EXPECT_THAT(other.problem(), HasSubstr("libc.so.6 has no nvmlInit_v2"));
  EXPECT_THAT(other.Read(), IsEmpty());
}

}  // namespace stoker::gpu_meter_test
