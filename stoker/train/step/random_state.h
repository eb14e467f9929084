// The state of torch's random generators: part of a checkpoint, and saved by code that must not
// change it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// Returns the state of the CPU's generator, and of the device's, if any: {"cpu": hex, "cuda:0":
// hex}.
Json SaveRandomState(c10::Device device);

// Errors: kDataLoss for a state that is missing or malformed.
Status RestoreRandomState(const Json& state, c10::Device device);

// The same as tensors, for use within a process; they take microseconds. Throw c10::Error.
std::vector<at::Tensor> TakeRandomState(c10::Device device);
void PutRandomState(const std::vector<at::Tensor>& state, c10::Device device);

// Seeds torch's generators for a step of one of several ranks: from the three numbers alone, and
// different for each.
void SeedForStep(uint64_t seed, int64_t step, int64_t rank);

}  // namespace stoker
