// The same changes in the words of each framework.
#include <fmt/format.h>

#include <algorithm>

#include "stoker/doctor/process_finding_internal.h"

namespace stoker {

std::string Percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

std::string WordsForWorkers(Framework framework, int64_t workers) {
  switch (framework) {
    case Framework::kPyTorch:
      return fmt::format("DataLoader(num_workers={}, persistent_workers=True, prefetch_factor=4)",
                         workers);
    case Framework::kTensorFlow:
      return "dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)";
    case Framework::kJax:
      return fmt::format("load batches ahead in {} processes (grain: worker_count={})", workers,
                         workers);
    case Framework::kUnknown: break;
  }
  return fmt::format("load batches ahead, in {} processes", workers);
}

std::string WordsForThreads(Framework framework, int64_t threads) {
  switch (framework) {
    case Framework::kPyTorch: return fmt::format("torch.set_num_threads({})", threads);
    case Framework::kTensorFlow:
      return fmt::format("tf.config.threading.set_intra_op_parallelism_threads({})", threads);
    case Framework::kJax:
    case Framework::kUnknown: break;
  }
  return fmt::format("OMP_NUM_THREADS={} in the environment", threads);
}

std::string WordsForPinned(Framework framework) {
  switch (framework) {
    case Framework::kPyTorch:
      return "DataLoader(pin_memory=True), and batch.to(device, non_blocking=True)";
    case Framework::kTensorFlow: return "dataset.prefetch_to_device('/gpu:0')";
    case Framework::kJax: return "jax.device_put the next batch before the step of this one";
    case Framework::kUnknown: break;
  }
  return "copy batches from pinned memory, ahead of their step";
}

std::string WordsForReads(Framework framework) {
  switch (framework) {
    case Framework::kPyTorch:
      return "add up loss.detach() on the GPU, and call .item() every 50 steps (no .item(), "
             ".cpu(), print or `if` on tensors of the GPU in the loop)";
    case Framework::kTensorFlow: return "keep metrics as tensors, and call .numpy() every 50 steps";
    case Framework::kJax: return "keep metrics on the device, and call float() every 50 steps";
    case Framework::kUnknown: break;
  }
  return "read numbers from the GPU every 50 steps only";
}

std::string WordsForShortKernels(Framework framework) {
  switch (framework) {
    case Framework::kPyTorch:
      return "torch.compile(model, mode='reduce-overhead'), or torch.cuda.make_graphed_callables; "
             "optimizers with fused=True";
    case Framework::kTensorFlow: return "tf.function(jit_compile=True) around the step";
    case Framework::kJax: return "jax.jit around the whole step, several steps in a lax.scan";
    case Framework::kUnknown: break;
  }
  return "record the kernels of a step and launch them together (CUDA graphs)";
}

std::string WordsForOneShape(Framework framework) {
  switch (framework) {
    case Framework::kPyTorch:
      return "batches of one shape (drop_last=True, lengths padded to a few), or "
             "torch.compile(dynamic=True); numbers that change as tensors";
    case Framework::kTensorFlow:
      return "batches of one shape (drop_remainder=True, padded_batch), or "
             "tf.function(reduce_retracing=True); numbers that change as tensors";
    case Framework::kJax:
      return "batches of one shape (a last one not full left out, lengths padded to a few), and "
             "one jax.jit outside of the loop; numbers that change as arrays, not as "
             "static_argnums";
    case Framework::kUnknown: break;
  }
  return "batches of one shape: lengths padded to a few, and a last batch not full left out";
}

HalfBits HalfBitsOf(const std::optional<GpuTimes>& gpu) {
  if (!gpu || gpu->compute_major <= 0) return HalfBits::kUnknown;
  if (gpu->compute_major >= 8) return HalfBits::kBfloat16;
  return gpu->compute_major == 7 ? HalfBits::kFloat16 : HalfBits::kNone;
}

namespace {

std::string WordsForFloat16(Framework framework) {
  switch (framework) {
    case Framework::kPyTorch:
      return "torch.autocast('cuda', torch.float16) around the forward pass, and "
             "torch.amp.GradScaler('cuda')";
    case Framework::kTensorFlow: return "keras.mixed_precision.set_global_policy('mixed_float16')";
    case Framework::kJax:
      return "activations and weights in jnp.float16 for the forward pass, and a loss that is "
             "scaled";
    case Framework::kUnknown: break;
  }
  return "multiply matrices in float16, with a loss that is scaled";
}

}  // namespace

std::string WordsForHalfBits(Framework framework, HalfBits bits) {
  if (bits == HalfBits::kFloat16) return WordsForFloat16(framework);
  switch (framework) {
    case Framework::kPyTorch:
      return fmt::format(
          "torch.autocast('cuda', torch.bfloat16) around the forward pass{}",
          bits == HalfBits::kUnknown ? " (before Ampere: torch.float16 and a GradScaler)" : "");
    case Framework::kTensorFlow: return "keras.mixed_precision.set_global_policy('mixed_bfloat16')";
    case Framework::kJax: return "activations and weights in jnp.bfloat16 for the forward pass";
    case Framework::kUnknown: break;
  }
  return "multiply matrices in bfloat16";
}

namespace {

// Pictures that Pillow decodes in workers: the engine decodes them on its own threads.
constexpr std::string_view kPictures =
    R"(import stoker as sk  # docs/python.md; an example, with transforms to replace by yours
train = (sk.folder("train") | sk.shuffle() | sk.decode() | sk.random_resized_crop(224)
         | sk.random_flip() | sk.normalize() | sk.batch({}))
loader = sk.Loader(train, seed=1)  # {{"image": Tensor, "label": Tensor}}
)";

// A dataset of the user's own stays Python; its batches come through memory that all processes map.
constexpr std::string_view kDataset =
    R"(from stoker import DataLoader  # instead of torch.utils.data; docs/python.md
loader = DataLoader(dataset, batch_size={}, num_workers={})
)";

}  // namespace

std::string SnippetFor(const ProcessProfile& profile, Verdict verdict) {
  if (profile.framework != Framework::kPyTorch || profile.loader.place.empty()) return {};
  const int64_t batch = profile.loader.batch_size.value_or(64);
  if (verdict == Verdict::kDecode) return fmt::format(kPictures, batch);
  const bool no_workers = verdict == Verdict::kThreads && profile.workers().empty();
  if (!no_workers && verdict != Verdict::kPython) return {};
  return fmt::format(kDataset, batch, std::max<int64_t>(2, profile.cpus));
}

}  // namespace stoker
