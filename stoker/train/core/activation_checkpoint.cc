#include "stoker/train/core/activation_checkpoint.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Generator.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <mutex>
#include <utility>

#include "stoker/train/core/precision.h"
#include "stoker/train/core/training_pass.h"

namespace stoker {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The states of the generators that operators on a device draw from.
class GeneratorStates {
 public:
  explicit GeneratorStates(c10::Device device) {
    Keep(c10::kCPU);
    if (!device.is_cpu()) Keep(device);
  }
  void Restore() const {
    for (const auto& [device, state] : states_) {
      at::Generator generator = at::globalContext().defaultGenerator(device);
      const std::lock_guard lock(generator.mutex());
      generator.set_state(state);
    }
  }

 private:
  void Keep(c10::Device device) {
    at::Generator generator = at::globalContext().defaultGenerator(device);
    const std::lock_guard lock(generator.mutex());
    states_.emplace_back(device, generator.get_state());
  }
  std::vector<std::pair<c10::Device, at::Tensor>> states_;
};

// What the second pass needs to be as the first.
struct Recomputation : torch::CustomClassHolder {
  Recomputation(CheckpointedBlock of, c10::Device device)
      : block(std::move(of)),
        random(device),
        precision(PrecisionNow(device.type())),
        mark(TrainingPass::MarkNow()) {}

  const CheckpointedBlock block;
  const GeneratorStates random;
  const Precision precision;
  const TrainingPass::Mark mark;
};

// While it lives, the second pass is under way: random numbers, precision and buffers are those of
// the first, and afterwards what they were.
class SecondPass {
 public:
  SecondPass(const Recomputation& first, c10::Device device)
      : buffers_(first.block.buffers),
        random_(device),
        precision_(first.precision, device.type()),
        again_(first.mark) {
    for (const at::Tensor& buffer : buffers_) before_.push_back(buffer.clone());
    first.random.Restore();
  }
  SecondPass(const SecondPass&) = delete;
  SecondPass& operator=(const SecondPass&) = delete;
  ~SecondPass() {
    const at::NoGradGuard no_grad;
    // Unseen by autograd: a norm's backward pass refuses moments that were written to, although it
    // does not read them.
    for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i].variable_data().copy_(before_[i]);
    random_.Restore();
  }

 private:
  const std::vector<at::Tensor>& buffers_;
  std::vector<at::Tensor> before_;
  const GeneratorStates random_;
  const PrecisionScope precision_;
  const TrainingPass::Again again_;
};

// The casts of weights that autocast makes without gradients must not be found by a later pass.
class WithoutCastCache {
 public:
  WithoutCastCache() : before_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::set_autocast_cache_enabled(false);
  }
  WithoutCastCache(const WithoutCastCache&) = delete;
  WithoutCastCache& operator=(const WithoutCastCache&) = delete;
  ~WithoutCastCache() { at::autocast::set_autocast_cache_enabled(before_); }

 private:
  const bool before_;
};

constexpr const char* kRecomputation = "recomputation";

// Parameters are inputs of it, so that the graph leads to them although the first pass records
// nothing: also where the input itself needs no gradient.
class Recompute final : public torch::autograd::Function<Recompute> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            at::TensorList /*parameters*/,
                            const c10::intrusive_ptr<Recomputation>& recomputation) {
    context->save_for_backward({input});
    context->saved_data[kRecomputation] = c10::IValue::make_capsule(recomputation);
    const WithoutCastCache without_cache;
    return recomputation->block.body(input);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto recomputation = c10::static_intrusive_pointer_cast<Recomputation>(
        context->saved_data[kRecomputation].toCapsule());
    const at::Tensor saved = context->get_saved_variables()[0];
    const at::Tensor input = saved.detach().requires_grad_(saved.requires_grad());
    variable_list wanted, found;
    if (input.requires_grad()) wanted.push_back(input);
    for (const at::Tensor& parameter : recomputation->block.parameters) {
      if (parameter.requires_grad()) wanted.push_back(parameter);
    }
    {
      at::Tensor output;
      {
        const SecondPass second_pass(*recomputation, saved.device());
        const at::AutoGradMode with_gradients(true);
        output = recomputation->block.body(input);
      }
      found = torch::autograd::grad({output}, wanted, gradients, /*retain_graph=*/{},
                                    /*create_graph=*/false, /*allow_unused=*/true);
    }
    return InOrderOfInputs(input, recomputation->block.parameters, std::move(found));
  }

 private:
  // One entry for each input of forward, nothing if no gradient was asked for.
  static variable_list InOrderOfInputs(const at::Tensor& input,
                                       const std::vector<at::Tensor>& parameters,
                                       variable_list found) {
    variable_list all;
    size_t next = 0;
    all.push_back(input.requires_grad() ? std::move(found[next++]) : at::Tensor());
    for (const at::Tensor& parameter : parameters) {
      all.push_back(parameter.requires_grad() ? std::move(found[next++]) : at::Tensor());
    }
    all.emplace_back();  // the recomputation
    return all;
  }
};

}  // namespace

at::Tensor RunCheckpointed(CheckpointedBlock block, const at::Tensor& input) {
  const auto recomputation = c10::make_intrusive<Recomputation>(std::move(block), input.device());
  return Recompute::apply(input, at::TensorList(recomputation->block.parameters), recomputation);
}

}  // namespace stoker
