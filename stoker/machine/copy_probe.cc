#include "stoker/machine/copy_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stoker/base/clock.h"
#include "stoker/base/stop_scope.h"
#include "stoker/machine/library.h"

namespace stoker {
namespace {

constexpr size_t kBytes = size_t{64} << 20;

// Our own declarations of what is used of the driver's C interface; "_v2" is part of the names.
using CuResult = int;  // 0: success
using CuDevice = int;
using CuContext = struct CuContextOpaque*;
using CuPointer = unsigned long long;

struct Driver {
  CuResult (*init)(unsigned flags);
  CuResult (*error_name)(CuResult, const char**);
  CuResult (*count)(int*);
  CuResult (*device)(CuDevice*, int ordinal);
  CuResult (*name)(char*, int, CuDevice);
  CuResult (*retain)(CuContext*, CuDevice);
  CuResult (*release)(CuDevice);
  CuResult (*make_current)(CuContext);
  CuResult (*allocate)(CuPointer*, size_t);
  CuResult (*free)(CuPointer);
  CuResult (*allocate_host)(void**, size_t, unsigned flags);
  CuResult (*free_host)(void*);
  CuResult (*copy)(CuPointer, const void*, size_t);
  CuResult (*synchronize)();

  Status Check(CuResult result, std::string_view what) const {
    if (result == 0) return OkStatus();
    const char* text = nullptr;
    if (error_name(result, &text) != 0 || text == nullptr) text = "unknown error";
    return Unavailable("{}: {} ({})", what, text, result);
  }
};

Result<Driver> FindDriver(const SharedLibrary& library) {
  Driver driver = {};
  STOKER_RETURN_IF_ERROR(library.Find("cuInit", driver.init));
  STOKER_RETURN_IF_ERROR(library.Find("cuGetErrorName", driver.error_name));
  STOKER_RETURN_IF_ERROR(library.Find("cuDeviceGetCount", driver.count));
  STOKER_RETURN_IF_ERROR(library.Find("cuDeviceGet", driver.device));
  STOKER_RETURN_IF_ERROR(library.Find("cuDeviceGetName", driver.name));
  STOKER_RETURN_IF_ERROR(library.Find("cuDevicePrimaryCtxRetain", driver.retain));
  STOKER_RETURN_IF_ERROR(library.Find("cuDevicePrimaryCtxRelease_v2", driver.release));
  STOKER_RETURN_IF_ERROR(library.Find("cuCtxSetCurrent", driver.make_current));
  STOKER_RETURN_IF_ERROR(library.Find("cuMemAlloc_v2", driver.allocate));
  STOKER_RETURN_IF_ERROR(library.Find("cuMemFree_v2", driver.free));
  STOKER_RETURN_IF_ERROR(library.Find("cuMemHostAlloc", driver.allocate_host));
  STOKER_RETURN_IF_ERROR(library.Find("cuMemFreeHost", driver.free_host));
  STOKER_RETURN_IF_ERROR(library.Find("cuMemcpyHtoD_v2", driver.copy));
  STOKER_RETURN_IF_ERROR(library.Find("cuCtxSynchronize", driver.synchronize));
  return driver;
}

// The context of a device and the memory of a measurement in it.
class Workplace {
 public:
  explicit Workplace(const Driver& driver) : driver_(driver) {}
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    if (pinned_ != nullptr) driver_.free_host(pinned_);
    if (on_device_ != 0) driver_.free(on_device_);
    if (!retained_) return;
    driver_.make_current(nullptr);
    driver_.release(device_);
  }

  Status Open(int ordinal) {
    STOKER_RETURN_IF_ERROR(driver_.Check(driver_.device(&device_, ordinal), "cuDeviceGet"));
    CuContext context = nullptr;
    STOKER_RETURN_IF_ERROR(
        driver_.Check(driver_.retain(&context, device_), "cuDevicePrimaryCtxRetain"));
    retained_ = true;
    STOKER_RETURN_IF_ERROR(driver_.Check(driver_.make_current(context), "cuCtxSetCurrent"));
    STOKER_RETURN_IF_ERROR(
        driver_.Check(driver_.allocate(&on_device_, kBytes), "cuMemAlloc of 64 MiB"));
    return driver_.Check(driver_.allocate_host(&pinned_, kBytes, 0), "cuMemHostAlloc of 64 MiB");
  }

  Result<double> RateFrom(const void* memory, double seconds) const {
    // The first copy sets up what all need.
    STOKER_RETURN_IF_ERROR(CopyOnce(memory));
    const Stopwatch watch;
    double bytes = 0;
    do {
      if (StopScope::Asked()) return Cancelled("the measurement was stopped");
      STOKER_RETURN_IF_ERROR(CopyOnce(memory));
      bytes += static_cast<double>(kBytes);
    } while (watch.ElapsedSeconds() < seconds);
    return bytes / std::max(watch.ElapsedSeconds(), 1e-9);
  }

  CuDevice device() const { return device_; }
  void* pinned() const { return pinned_; }

 private:
  Status CopyOnce(const void* memory) const {
    STOKER_RETURN_IF_ERROR(driver_.Check(driver_.copy(on_device_, memory, kBytes), "cuMemcpyHtoD"));
    return driver_.Check(driver_.synchronize(), "cuCtxSynchronize");
  }

  const Driver& driver_;
  CuDevice device_ = 0;
  bool retained_ = false;
  CuPointer on_device_ = 0;
  void* pinned_ = nullptr;
};

Result<CopyRoofs> MeasureDevice(const Driver& driver, int ordinal, double seconds) {
  Workplace place(driver);
  STOKER_RETURN_IF_ERROR(place.Open(ordinal));
  CopyRoofs roofs{.device = fmt::format("cuda:{}", ordinal)};
  std::array<char, 128> name = {};
  if (driver.name(name.data(), static_cast<int>(name.size()) - 1, place.device()) == 0)
    roofs.device += fmt::format(" {}", name.data());
  const std::vector<std::byte> pageable(kBytes, std::byte{1});
  std::fill_n(static_cast<std::byte*>(place.pinned()), kBytes, std::byte{2});
  STOKER_ASSIGN_OR_RETURN(roofs.pinned_bytes_per_s, place.RateFrom(place.pinned(), seconds / 2));
  STOKER_ASSIGN_OR_RETURN(roofs.pageable_bytes_per_s, place.RateFrom(pageable.data(), seconds / 2));
  return roofs;
}

}  // namespace

Result<std::vector<CopyRoofs>> MeasureCopies(double seconds, const std::string& file) {
  STOKER_ASSIGN_OR_RETURN(const SharedLibrary library, SharedLibrary::Load(file));
  STOKER_ASSIGN_OR_RETURN(const Driver driver, FindDriver(library));
  STOKER_RETURN_IF_ERROR(driver.Check(driver.init(0), "cuInit"));
  int count = 0;
  STOKER_RETURN_IF_ERROR(driver.Check(driver.count(&count), "cuDeviceGetCount"));
  if (count == 0) return Unavailable("{}: the driver has no GPU", file);
  std::vector<CopyRoofs> copies;
  for (int i = 0; i < count; ++i) {
    STOKER_ASSIGN_OR_RETURN(copies.emplace_back(), MeasureDevice(driver, i, seconds / count));
  }
  return copies;
}

}  // namespace stoker
