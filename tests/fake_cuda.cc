// A libcuda.so.1 with one GPU whose memory is that of the process, for a machine that has none.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
constexpr int kInvalidContext = 201;
void* current = nullptr;
char context;
}  // namespace

extern "C" {

// As the driver does, with the first call of CUDA.
int cuInit(unsigned) {
  const char* const injected = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = injected == nullptr ? nullptr : dlopen(injected, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 0;
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  if (initialize != nullptr) initialize();
  return 0;
}
int cuGetErrorName(int, const char** name) {
  *name = "CUDA_ERROR_FAKE";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char* text, int size, int) {
  std::snprintf(text, static_cast<size_t>(size), "Fake GPU");
  return 0;
}
int cuDevicePrimaryCtxRetain(void** made, int) {
  *made = &context;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void* made) {
  current = made;
  return 0;
}
int cuMemAlloc_v2(unsigned long long* pointer, size_t bytes) {
  if (current == nullptr) return kInvalidContext;
  *pointer = reinterpret_cast<unsigned long long>(std::malloc(bytes));
  return 0;
}
int cuMemFree_v2(unsigned long long pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  return 0;
}
int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  *pointer = std::malloc(bytes);
  return 0;
}
int cuMemFreeHost(void* pointer) {
  std::free(pointer);
  return 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
  if (current == nullptr) return kInvalidContext;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuCtxSynchronize() { return 0; }

}  // extern "C"
