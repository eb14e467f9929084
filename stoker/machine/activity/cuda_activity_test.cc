#include "stoker/machine/activity/cuda_activity.h"

#include <cstring>
#include <fstream>

#include "stoker/base/testing.h"

namespace stoker::cuda_activity_test {

using testing::IsEmpty;

// What the library's file holds with these counters.
std::string FileOf(const CudaCounters& counters, uint64_t magic = CudaCountersFile::kMagic) {
  std::string bytes(sizeof(CudaCountersFile), '\0');
  std::memcpy(bytes.data(), &magic, sizeof magic);
  std::memcpy(bytes.data() + offsetof(CudaCountersFile, counters), &counters, sizeof counters);
  return bytes;
}

class CudaActivityFiles : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  TempDir folder_;
};

TEST_F(CudaActivityFiles, GiveTheCountersOfEachProcess) {
  CudaCounters counters;
  counters.busy_ns[3] = 17;
  counters.kernels = 5;
  counters.from_pageable = {.count = 2, .bytes = 1000, .ns = 70};
  counters.problem_code = 39;
  Write("4711.cuda", FileOf(counters));
  Write("12.cuda", FileOf({}));
  const std::vector<CudaActivity> found = ReadCudaActivity(folder_.path().string());
  ASSERT_EQ(found.size(), 2);
  const CudaActivity& full = found[0].pid == 4711 ? found[0] : found[1];
  EXPECT_EQ(full.pid, 4711);
  EXPECT_EQ(full.counters.busy_ns[3], 17);
  EXPECT_EQ(full.counters.kernels, 5);
  EXPECT_EQ(full.counters.from_pageable.bytes, 1000);
  EXPECT_EQ(full.counters.problem_code, 39);
}

TEST_F(CudaActivityFiles, ThatAreNotTheLibrarysOrNotFinishedAreLeftOut) {
  Write("1.cuda", FileOf({}).substr(0, sizeof(CudaCountersFile) - 1));
  Write("2.cuda", FileOf({}, 0));
  Write("3.cuda", "");
  Write("x.cuda", FileOf({}));
  Write("4.other", FileOf({}));
  Write("5x.cuda", FileOf({}));
  EXPECT_THAT(ReadCudaActivity(folder_.path().string()), IsEmpty());
}

TEST(CudaActivity, OfAFolderThatDoesNotExistIsNone) {
  EXPECT_THAT(ReadCudaActivity("/nonexistent/folder"), IsEmpty());
}

}  // namespace stoker::cuda_activity_test
