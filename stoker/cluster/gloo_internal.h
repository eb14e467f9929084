// c10d's ProcessGroupGloo. Its header names classes of Gloo, whose headers the PyTorch package
// lacks: it holds Gloo inside libtorch_cpu.so. So they are declared here, and the build puts empty
// files in place of the headers (cmake/StokerGloo.cmake). libtorch alone makes objects of these
// classes; here they are only pointed at, so neither their layout nor the rest of their members
// matters.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

namespace rendezvous {
class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::vector<char>& data) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys,
                    const std::chrono::milliseconds& timeout) = 0;
};
}  // namespace rendezvous

namespace transport {
class Device;
class UnboundBuffer;
}  // namespace transport

}  // namespace gloo

// After what it needs.
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
