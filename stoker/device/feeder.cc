#include "stoker/device/feeder.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <span>

#include "stoker/base/clock.h"
#include "stoker/base/denormals.h"
#include "stoker/base/problems.h"
#include "stoker/base/trace.h"
#include "stoker/data/core/tokens.h"
#include "stoker/device/tensor.h"
#include "stoker/device/torch_error.h"

namespace stoker {
namespace {

//   meaning  of the field: "holds the targets"
Result<size_t> FindField(const Spec& spec, std::string_view option, const std::string& name,
                         std::string_view meaning) {
  const Result<size_t> index = spec.IndexOf(option, name);
  if (index.ok() || index.status().message().ends_with('?')) return index;
  return Status(index.status().code(), fmt::format("{}; set {} to the one that {}",
                                                   index.status().message(), option, meaning));
}

// What an input without a sample's dimensions is. One that is as long as the target is a batch.
Status TooFewDimensions(const Field& field, const Field* target, const std::string& key) {
  if (target == nullptr || field.shape.empty() || target->shape.empty() ||
      field.shape.front() != target->shape.front()) {
    return InvalidArgument("{}: field {} is no batch; end the pipeline with `batch`", key,
                           field.ToString());
  }
  return InvalidArgument(
      "{}: field {} is one number a sample, and a model takes [samples, features], "
      "[samples, height, width] or [samples, channels, height, width]; let the source give "
      "vectors (csv: fields: {{{}: {{columns: [A, B]}}}}, of one column {{columns: [A], shape: "
      "[1]}})",
      key, field.ToString(), field.name);
}

// The key of a recipe that names the field.
std::string KeyOf(const FeederInput& input) {
  return input.name.empty() ? "train.input" : "train.input." + input.name;
}

// Bytes are texts, or JSON of which no shape was found, more often than numbers.
std::string HowBytesBecomeASequence(const std::string& field) {
  return fmt::format(
      "; of a text `words: {{field: {0}, values: auto}}` makes tokens; JSON lists that are not "
      "alike are read as text, so give their shape (jsonl: fields: {{{0}: {{shape: [-1, 2]}}}}), "
      "and the one that differs is named; bytes that are numbers take `cast: {{field: {0}, dtype: "
      "int32}}` before `batch`",
      field);
}

Status CheckRagged(const Spec& spec, const Field& field, const Field& offsets,
                   const FeederInput& input) {
  if (!IsRaggedTokens(field) && !IsRaggedNumbers(field)) {
    return InvalidArgument(
        "{}: field {} is ragged, and models take ragged sequences of tokens, whole numbers of 16 "
        "to 64 bits, or of steps of floating-point numbers, as many in each{}",
        KeyOf(input), field.ToString(),
        field.dtype == DType::kUInt8 ? HowBytesBecomeASequence(field.name) : "");
  }
  if (offsets.shape.size() == 1 && IsToken(offsets.dtype)) return OkStatus();
  return InvalidArgument(
      "{}: field {} holds the offsets of '{}', and no later stage may make them anything else than "
      "whole numbers in one dimension; the fields are {}",
      KeyOf(input), offsets.ToString(), field.name, spec.ToString());
}

Status CheckInput(const Field& field, const Field* target, const FeederInput& input) {
  const bool normalized_here = !input.normalize.empty();
  if (normalized_here && field.dtype != DType::kUInt8) {
    return InvalidArgument("{}: field {} is normalised on the device, but is not uint8",
                           KeyOf(input), field.ToString());
  }
  if (!normalized_here && !IsFloating(field.dtype) && !IsTokens(field)) {
    return InvalidArgument(
        "{}: field {} is no floating-point input; put `normalize` or `cast: float32` before "
        "`batch`",
        KeyOf(input), field.ToString());
  }
  return field.shape.size() < 2 ? TooFewDimensions(field, target, KeyOf(input)) : OkStatus();
}

Status CheckTarget(const Field& field) {
  if (field.shape.empty() || field.shape.size() > 2) {
    return InvalidArgument(
        "train.target: field {} must have one number a sample or a row of them, so the shape "
        "[samples] or [samples, numbers]; {}",
        field.ToString(),
        field.shape.empty() ? "is `batch` missing at the end of the pipeline?"
                            : "give it such a shape before `batch`");
  }
  if (field.shape.size() == 2 && field.shape[1] < 1) {
    return InvalidArgument(
        "train.target: field {} has rows of {}, and a target has as many numbers for each sample; "
        "is train.target the field that you mean?",
        field.ToString(), field.shape[1] == 0 ? "no number" : "a length that is not known");
  }
  return OkStatus();
}

Status CheckSampleWeight(const Field& field) {
  if (field.shape.size() == 1) return OkStatus();
  return InvalidArgument(
      "train.sample_weight: field {} must have one number a sample, so the shape [samples]; {}",
      field.ToString(),
      field.shape.empty()
          ? "is `batch` missing at the end of the pipeline?"
          : "read it as one (csv: fields: {w: float32}), or name the field that holds weights");
}

// A field that holds what the loss needs of each sample.
//   option, meaning  as of FindField
Result<size_t> FindFieldOfRows(const Spec& spec, const FeederOptions& options,
                               std::string_view option, const std::string& name,
                               std::string_view meaning) {
  STOKER_ASSIGN_OR_RETURN(const size_t place, FindField(spec, option, name, meaning));
  if (!options.without_rows.contains(name)) return place;
  return InvalidArgument(
      "{}: field {} is of a ragged batch, which has no row of it for each sample; is {} the field "
      "that you mean?",
      option, spec.fields[place].ToString(), option);
}

// One of BatchChecks; null if it was left out.
template <typename Check>
const Check* CheckOf(const std::vector<Check>& checks, size_t number) {
  return number < checks.size() && checks[number] ? &checks[number] : nullptr;
}

// Where the pipeline computes on this thread, it gives the bytes that its own threads would.
Result<std::optional<Element>> NextKeepingDenormals(Iterator& elements) {
  const DenormalScope kept(/*flushed=*/false);
  return elements.Next();
}

// A kernel would read beyond the values.
Status CheckOffsets(const at::Tensor& offsets, int64_t values, const SampleKey& batch,
                    const FeederInput& input) {
  const std::span places(offsets.const_data_ptr<int64_t>(), static_cast<size_t>(offsets.numel()));
  if (!places.empty() && places.front() == 0 && places.back() == values &&
      std::ranges::is_sorted(places))
    return OkStatus();
  return InvalidArgument(
      "{}: in batch {} the offsets '{}' do not fit the {} values of '{}': they must begin with 0, "
      "never fall and end with the number of values; no stage after `batch` may change how many "
      "there are",
      KeyOf(input), batch.index, *input.offsets, values, input.field);
}

// Finds and checks all: each may be wrong where the others are right, or wrong too.
Status FindInputsAndTargets(const Spec& spec, const FeederOptions& options, FeederFields& fields) {
  Problems problems;
  std::vector<const FeederInput*> found_inputs;
  for (const FeederInput& input : options.inputs) {
    const Result<size_t> found = FindField(spec, KeyOf(input), input.field, "the model sees");
    problems.Add(found.status());
    if (!found.ok()) continue;
    fields.inputs.push_back(*found);
    found_inputs.push_back(&input);
    std::optional<size_t>& offsets = fields.offsets.emplace_back();
    if (!input.offsets) continue;
    const Result<size_t> place = spec.IndexOf(
        fmt::format("{}: the offsets of '{}'", KeyOf(input), input.field), *input.offsets);
    problems.Add(place.status());
    if (place.ok()) offsets = *place;
  }
  for (const std::string& name : options.targets) {
    const Result<size_t> found =
        FindFieldOfRows(spec, options, "train.target", name, "holds the targets");
    problems.Add(found.status());
    if (found.ok()) fields.targets.push_back(*found);
  }
  const Field* const target = fields.targets.empty() ? nullptr : &spec.fields[fields.targets[0]];
  bool wrong_input = false;
  for (size_t i = 0; i < found_inputs.size(); ++i) {
    const Field& field = spec.fields[fields.inputs[i]];
    if (found_inputs[i]->offsets) {
      if (fields.offsets[i])
        problems.Add(CheckRagged(spec, field, spec.fields[*fields.offsets[i]], *found_inputs[i]));
      continue;
    }
    const Status input = CheckInput(field, target, *found_inputs[i]);
    // Without `batch` no field is one, which is said once.
    const bool no_batch = i > 0 && wrong_input && field.shape.empty();
    if (!no_batch) problems.Add(input);
    wrong_input |= !input.ok();
  }
  // Where `batch` is missing no field is a batch, which is said once.
  const bool said = wrong_input && target != nullptr && target->shape.empty();
  for (const size_t place : fields.targets) {
    if (!said) problems.Add(CheckTarget(spec.fields[place]));
  }
  if (options.sample_weight.empty() || options.targets.empty()) return problems.ToStatus();
  const Result<size_t> weight =
      FindFieldOfRows(spec, options, "train.sample_weight", options.sample_weight,
                      "holds the weights of samples, or to none");
  problems.Add(weight.status());
  if (!weight.ok()) return problems.ToStatus();
  fields.sample_weight = *weight;
  if (!said) problems.Add(CheckSampleWeight(spec.fields[*weight]));
  return problems.ToStatus();
}

}  // namespace

Result<FeederFields> FindFeederFields(const Spec& spec, const FeederOptions& options) {
  FeederFields fields;
  STOKER_RETURN_IF_ERROR(FindInputsAndTargets(spec, options, fields));
  for (const std::string& name : options.along) {
    STOKER_ASSIGN_OR_RETURN(const size_t index, spec.IndexOf("the fields handed along", name));
    fields.along.push_back(index);
  }
  return fields;
}

Feeder::Feeder(std::unique_ptr<Iterator> elements, FeederFields fields, FeederOptions options)
    : elements_(std::move(elements)), fields_(std::move(fields)), options_(std::move(options)) {
  for (const FeederInput& input : options_.inputs) {
    Normalization& made = normalize_.emplace_back();
    if (input.normalize.empty()) continue;
    std::vector<float> shifts, scales;
    for (const ShiftScale& channel : input.normalize) {
      shifts.push_back(channel.shift);
      scales.push_back(channel.scale);
    }
    made = {.shifts = at::tensor(shifts).to(options_.device),
            .scales = at::tensor(scales).to(options_.device)};
  }
}

Result<std::unique_ptr<Feeder>> Feeder::Create(std::unique_ptr<Iterator> elements, const Spec& spec,
                                               FeederOptions options) {
  STOKER_ASSIGN_OR_RETURN(FeederFields fields, FindFeederFields(spec, options));
  std::unique_ptr<Feeder> feeder;
  STOKER_RETURN_IF_ERROR(CatchTorchErrors([&] {
    feeder.reset(new Feeder(std::move(elements), std::move(fields), std::move(options)));
  }));
  return feeder;
}

Result<std::optional<TensorBatch>> Feeder::Next() {
  const Stopwatch watch;
  STOKER_ASSIGN_OR_RETURN(const std::optional<Element> element, NextKeepingDenormals(*elements_));
  waited_ns_ += watch.ElapsedNs();
  if (!element) return std::nullopt;
  STOKER_ASSIGN_OR_RETURN(TensorBatch batch, MakeBatch(*element));
  return std::optional<TensorBatch>(std::move(batch));
}

at::Tensor Feeder::OnDevice(at::Tensor host) const {
  if (options_.device.is_cpu()) return host;
  // The pinned block is kept by torch's host allocator until the copy is done.
  at::Tensor pinned = at::empty_like(host, host.options().pinned_memory(true));
  pinned.copy_(host);
  return pinned.to(options_.device, /*non_blocking=*/true);
}

// Normalised values are written in their order at once. The difference and the product are rounded
// each by itself, as the pipeline's kernel does.
at::Tensor Feeder::MakeInput(size_t number, const at::Tensor& host) const {
  const auto& [shifts, scales] = normalize_[number];
  at::Tensor input = OnDevice(host);
  if (at::isIntegralType(input.scalar_type(), /*includeBool=*/false) && !shifts.defined())
    return input.to(at::kLong);
  if (!shifts.defined()) input = input.to(at::kFloat);
  if (options_.inputs[number].channels_last && input.dim() == 4)
    input = input.permute({0, 3, 1, 2});
  if (!shifts.defined()) return InLayout(input, options_.memory_format);
  std::vector<int64_t> along_channels(static_cast<size_t>(input.dim()), 1);
  along_channels[1] = shifts.numel();
  at::Tensor normalized =
      at::empty(input.sizes(), input.options().dtype(at::kFloat),
                input.dim() == 4 ? options_.memory_format : at::MemoryFormat::Contiguous);
  at::sub_out(normalized, input, shifts.view(along_channels));
  return InLayout(normalized.mul_(scales.view(along_channels)), options_.memory_format);
}

Status Feeder::CheckInput(size_t number, const Inputs& host, const SampleKey& batch) const {
  const InputCheck* const check = CheckOf(options_.check.inputs, number);
  if (check == nullptr) return OkStatus();
  if (normalize_[number].shifts.defined()) return OkStatus();
  return (*check)(host, batch);
}

Result<Inputs> Feeder::HostInput(size_t number, const Element& element) const {
  at::Tensor values = ToTensor(element.arrays[fields_.inputs[number]]);
  if (!fields_.offsets[number]) return Inputs(std::move(values));
  at::Tensor offsets = ToTensor(element.arrays[*fields_.offsets[number]]).to(at::kLong);
  STOKER_RETURN_IF_ERROR(
      CheckOffsets(offsets, values.size(0), element.key, options_.inputs[number]));
  return Inputs::WithOffsets(std::move(values), std::move(offsets));
}

// Converted on the device: bytes travel, not 64-bit integers.
Result<at::Tensor> Feeder::MakeTarget(size_t number, const Element& element) const {
  const at::Tensor host = ToTensor(element.arrays[fields_.targets[number]]);
  const bool numbers = host.dim() == 2 || host.is_floating_point();
  const BatchCheck* const check = CheckOf(options_.check.targets, number);
  if (check != nullptr && (numbers || !options_.device.is_cpu())) {
    STOKER_RETURN_IF_ERROR((*check)(numbers ? host.to(at::kFloat) : host, element.key));
  }
  return OnDevice(host).to(numbers ? at::kFloat : at::kLong);
}

Result<at::Tensor> Feeder::MakeSampleWeights(const Element& element) const {
  const at::Tensor host = ToTensor(element.arrays[*fields_.sample_weight]);
  if (const BatchCheck* const check = CheckOf(options_.check.targets, fields_.targets.size()))
    STOKER_RETURN_IF_ERROR((*check)(host.to(at::kFloat), element.key));
  return OnDevice(host).to(at::kFloat);
}

Status Feeder::MakeTargets(const Element& element, Targets& targets) const {
  std::vector<at::Tensor> made;
  for (size_t i = 0; i < fields_.targets.size(); ++i) {
    STOKER_ASSIGN_OR_RETURN(made.emplace_back(), MakeTarget(i, element));
  }
  if (fields_.sample_weight) {
    STOKER_ASSIGN_OR_RETURN(made.emplace_back(), MakeSampleWeights(element));
  }
  targets = Targets(std::move(made));
  return OkStatus();
}

Result<TensorBatch> Feeder::MakeBatch(const Element& element) const {
  const TraceSpan span("copy");
  TensorBatch batch{.input = {}, .target = {}, .key = element.key};
  Status targets;
  std::vector<Inputs> host;
  for (size_t i = 0; i < fields_.inputs.size(); ++i) {
    STOKER_RETURN_IF_ERROR(CatchTorchErrors([&]() -> Status {
      STOKER_ASSIGN_OR_RETURN(host.emplace_back(), HostInput(i, element));
      return CheckInput(i, host.back(), element.key);
    }));
  }
  const Status status = CatchTorchErrors([&] {
    for (size_t i = 0; i < host.size(); ++i) {
      batch.input.Add(MakeInput(i, host[i].all().front()),
                      host[i].ragged(0) ? OnDevice(host[i].offsets(0)) : at::Tensor());
    }
    targets = MakeTargets(element, batch.target);
  });
  STOKER_RETURN_IF_ERROR(status.While("moving a batch to " + options_.device.str()));
  STOKER_RETURN_IF_ERROR(targets);
  for (const size_t field : fields_.along) batch.along.push_back(element.arrays[field]);
  return batch;
}

}  // namespace stoker
