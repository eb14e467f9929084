// A libnvidia-ml.so.1 with two GPUs, one of them hot, for a machine that has none. STOKER_FAKE_NVML
// in the environment: "no-driver" fails as the library does where no driver is loaded, "volta" has
// GPUs of that generation, "slow" computes for 40 ms where it is asked how much a GPU is used, and
// "interrupt" sends SIGINT to its process where it is initialised.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

bool Is(std::string_view what) {
  const char* const how = std::getenv("STOKER_FAKE_NVML");
  return how != nullptr && what == how;
}
bool HasDriver() { return !Is("no-driver"); }

void Compute(double seconds) {
  const std::clock_t begin = std::clock();
  while (static_cast<double>(std::clock() - begin) < seconds * CLOCKS_PER_SEC) {
  }
}

constexpr int kDriverNotLoaded = 9;
constexpr int kNotSupported = 3;

struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};

char devices[2];

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (Is("interrupt")) std::raise(SIGINT);
  return HasDriver() ? 0 : kDriverNotLoaded;
}
int nvmlShutdown() { return 0; }
const char* nvmlErrorString(int) { return "Driver Not Loaded"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "550.54.15");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &devices[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "Fake GPU %d", device == &devices[0] ? 0 : 1);
  return 0;
}
int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {80'000'000'000, 60'000'000'000, 20'000'000'000};
  return 0;
}
int nvmlDeviceGetTemperature(void* device, int, unsigned* celsius) {
  *celsius = 91;
  return device == &devices[0] ? 0 : kNotSupported;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = device == &devices[0] ? 0x61 : 0x1;  // idle; by software and hardware for heat
  return 0;
}

int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = Is("volta") ? 7 : 9;
  *minor = 0;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void* device, Utilization* used) {
  if (Is("slow")) Compute(0.04);
  *used = {device == &devices[0] ? 97U : 0U, 40};
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  *milliwatts = 612'000;
  return device == &devices[0] ? 0 : kNotSupported;
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return device == &devices[0] ? 0 : kNotSupported;
}
int nvmlDeviceGetClockInfo(void*, int clock, unsigned* mhz) {
  *mhz = 1485;
  return clock == 1 ? 0 : kNotSupported;
}
int nvmlDeviceGetMaxClockInfo(void*, int clock, unsigned* mhz) {
  *mhz = 1980;
  return clock == 1 ? 0 : kNotSupported;
}

}  // extern "C"
