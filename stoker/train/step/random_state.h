// The state of torch's random generators: part of a checkpoint, and kept by what must not disturb
// it.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <vector>

#include "stoker/base/json.h"
#include "stoker/base/status.h"

namespace stoker {

// Of the CPU's generator, and of the device's own where it has one: {"cpu": hex, "cuda:0": hex}.
Json SaveRandomState(c10::Device device);

// Errors: kDataLoss for a state that is missing or not ours.
Status RestoreRandomState(const Json& state, c10::Device device);

// The same as tensors, for use within a process; take microseconds. Throw c10::Error.
std::vector<at::Tensor> TakeRandomState(c10::Device device);
void PutRandomState(const std::vector<at::Tensor>& state, c10::Device device);

}  // namespace stoker
