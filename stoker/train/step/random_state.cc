#include "stoker/train/step/random_state.h"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/empty.h>
#include <torch/utils.h>

#include <string>
#include <vector>

#include "stoker/base/random.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::vector<c10::Device> GeneratorsOf(c10::Device device) {
  if (device.is_cpu()) return {device};
  return {c10::Device(c10::kCPU), device};
}

std::string ToHex(const at::Tensor& bytes) {
  std::string hex;
  hex.reserve(2 * bytes.numel());
  const uint8_t* data = bytes.data_ptr<uint8_t>();
  for (int64_t i = 0; i < bytes.numel(); ++i) {
    hex += kDigits[data[i] >> 4];
    hex += kDigits[data[i] & 15];
  }
  return hex;
}

// An undefined tensor where `hex` is not hexadecimal.
at::Tensor FromHex(std::string_view hex) {
  if (hex.size() % 2 != 0) return {};
  at::Tensor bytes = at::empty({static_cast<int64_t>(hex.size() / 2)}, at::kByte);
  uint8_t* data = bytes.data_ptr<uint8_t>();
  for (size_t i = 0; i < hex.size(); i += 2) {
    const size_t high = kDigits.find(hex[i]), low = kDigits.find(hex[i + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return {};
    data[i / 2] = static_cast<uint8_t>(high << 4 | low);
  }
  return bytes;
}

}  // namespace

std::vector<at::Tensor> TakeRandomState(c10::Device device) {
  std::vector<at::Tensor> states;
  for (const c10::Device& each : GeneratorsOf(device)) {
    at::Generator generator = at::globalContext().defaultGenerator(each);
    const std::lock_guard lock(generator.mutex());
    states.push_back(generator.get_state());
  }
  return states;
}

void PutRandomState(const std::vector<at::Tensor>& state, c10::Device device) {
  const std::vector<c10::Device> devices = GeneratorsOf(device);
  for (size_t i = 0; i < devices.size(); ++i) {
    at::Generator generator = at::globalContext().defaultGenerator(devices[i]);
    const std::lock_guard lock(generator.mutex());
    generator.set_state(state[i]);
  }
}

void SeedForStep(uint64_t seed, int64_t step, int64_t rank) {
  const uint64_t of_step = Mix64(Mix64(seed) + static_cast<uint64_t>(step));
  torch::manual_seed(Mix64(of_step + static_cast<uint64_t>(rank)));
}

Json SaveRandomState(c10::Device device) {
  const std::vector<at::Tensor> states = TakeRandomState(device);
  const std::vector<c10::Device> devices = GeneratorsOf(device);
  Json state = Json::object();
  for (size_t i = 0; i < devices.size(); ++i) state[devices[i].str()] = ToHex(states[i]);
  return state;
}

Status RestoreRandomState(const Json& state, c10::Device device) {
  for (const c10::Device& each : GeneratorsOf(device)) {
    const Json hex = state.is_object() ? state.value(each.str(), Json()) : Json();
    const at::Tensor bytes = hex.is_string() ? FromHex(hex.get<std::string>()) : at::Tensor();
    if (!bytes.defined()) {
      return DataLoss("the random state of {} is missing or not hexadecimal", each.str());
    }
    const Status status = CatchTorchErrors([&] {
      at::Generator generator = at::globalContext().defaultGenerator(each);
      const std::lock_guard lock(generator.mutex());
      generator.set_state(bytes);
    });
    if (!status.ok()) {
      return DataLoss("the random state of {} is not one of this torch: {}", each.str(),
                      status.message());
    }
  }
  return OkStatus();
}

}  // namespace stoker
