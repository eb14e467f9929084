#include "stoker/base/foreign_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "stoker/base/config.h"

namespace stoker {
namespace {

constexpr ForeignName kTable[] = {
    // Options of what they stand in.
    {"batch_size", ".size"},
    {"drop_last", ".drop_remainder"},
    {"num_classes", ".classes"},
    {"num_labels", ".classes"},
    {"n_classes", ".classes"},
    {"label_dimension", ".classes"},
    {"dnn_hidden_units", ".hidden"},
    {"p", ".probability"},
    {"prob", ".probability"},
    {"n", ".count"},
    {"num", ".count"},
    {"to", ".dtype"},
    {"mode", ".direction"},
    {"padding_values", ".padding"},
    {"padded_shapes", ".shape"},
    {"reshuffle_each_iteration", ".reshuffle"},
    {"num_parallel_calls", ".parallel"},
    {"buffer_size", ".buffer"},
    {"buffer_size", ".depth"},
    {"prefetch_factor", ".depth"},
    {"label_smoothing", ".smoothing"},
    {"filename", ".path"},
    {"test_size", ".eval"},
    {"fraction", ".eval"},
    {"validation_split", ".eval"},
    {"validation_fraction", ".eval"},
    {"val_fraction", ".eval"},
    {"train_size", ".eval", "the share of evaluation, 1 less that of training"},
    {"n_splits", ".fold", "k/n is the k-th of n folds"},
    {"k_fold", ".fold", "k/n is the k-th of n folds"},
    {"groups", ".group"},
    {"random_state", ".seed"},
    {"filenames", ".files"},
    {"hidden_sizes", ".hidden"},
    {"hidden_units", ".hidden"},
    // The loader.
    {"batch_size", "batch.size"},
    {"drop_last", "batch.drop_remainder"},
    {"collate_fn", "batch", "it stacks samples; padded_batch takes samples of several lengths"},
    {"num_workers", "train.feed_threads",
     "leave it out, and threads are added while that helps; there are no worker processes"},
    {"workers", "train.feed_threads"},
    {"num_parallel_calls", "train.feed_threads"},
    {"prefetch_factor", "prefetch.depth"},
    {"pin_memory", "", "batches for an accelerator are always pinned; leave it out"},
    {"persistent_workers", "", "threads stay from epoch to epoch; leave it out"},
    {"worker_init_fn", "train.seed", "all random draws follow from it, whatever the threads"},
    {"sampler", "sample", "or order, for a list of one's own in a file"},
    {"batch_sampler", "order", "then batch"},
    {"subset", "order", "or take, skip and filter"},
    {"subset_random_sampler", "order", "then shuffle"},
    {"drop_duplicates", "unique"},
    {"distinct", "unique"},
    {"dedup", "unique"},
    {"takewhile", "take_while"},
    {"cumsum", "scan.function"},
    {"accumulate", "scan.function"},
    {"concat", "join", "concatenate puts pipelines one after the other, zip side by side"},
    {"hstack", "join"},
    {"merge", "join", "of fields; zip puts the rows of several sources side by side"},
    {"vector_assembler", "join"},
    {"flatten", "reshape", "shape: [-1]"},
    {"view", "reshape"},
    {"unflatten", "reshape"},
    {"squeeze", "reshape"},
    {"expand_dims", "reshape"},
    {"unsqueeze", "reshape"},
    {"weighted_random_sampler", "sample.weights"},
    {"random_sampler", "shuffle"},
    {"distributed_sampler", "shard"},
    {"random_split", "split"},
    {"train_test_split", "split"},
    {"split_dataset", "split"},
    {"k_fold", "split.fold"},
    {"stratified_k_fold", "split.stratify"},
    {"group_k_fold", "split.group"},
    {"stratified_shuffle_split", "split.stratify"},
    {"group_shuffle_split", "split.group"},
    {"validation_split", "data.split", "eval is the share that evaluation gets"},
    {"test_size", "data.split", "eval is the share that evaluation gets"},
    // Operators.
    {"random_horizontal_flip", "random_flip.direction", "random_flip alone flips horizontally"},
    {"random_vertical_flip", "random_flip.direction", "random_flip: {direction: vertical}"},
    {"horizontal_flip", "random_flip.direction"},
    {"to_tensor", "normalize", "decode gives channels first, and normalize makes floats of bytes"},
    {"to_image", "decode"},
    {"convert_image_dtype", "cast.dtype"},
    {"to_dtype", "cast.dtype"},
    {"rescale", "normalize.scale"},
    {"rescaling", "normalize.scale"},
    {"normalization", "normalize"},
    {"central_crop", "center_crop"},
    {"centercrop", "center_crop"},
    {"resizing", "resize"},
    {"random_rotation", "random_affine.degrees"},
    {"random_translation", "random_affine.translate"},
    {"random_zoom", "random_affine.scale"},
    {"random_brightness", "color_jitter.brightness"},
    {"random_contrast", "color_jitter.contrast"},
    {"random_grayscale", "grayscale.probability"},
    {"random_apply", "", "operators that draw have an option `probability`"},
    {"random_erase", "random_erasing"},
    {"cutout", "random_erasing"},
    {"auto_augment", "trivial_augment"},
    {"trivial_augment_wide", "trivial_augment"},
    {"decode_jpeg", "decode"},
    {"decode_png", "decode"},
    {"decode_image", "decode"},
    {"read_image", "decode"},
    {"image_folder", "folder"},
    {"image_dataset_from_directory", "folder"},
    {"list_files", "files"},
    {"text_line_dataset", "lines"},
    {"tf_record_dataset", "tfrecord"},
    {"from_tensor_slices", "npy"},
    {"tensor_dataset", "npy"},
    {"sample_from_datasets", "mix"},
    {"choose_from_datasets", "choose"},
    {"concat_dataset", "concatenate"},
    {"bucket_by_sequence_length", "bucket_by_length"},
    {"tokenize", "wordpiece", "or sentencepiece or words"},
    {"tokenizer", "wordpiece", "or sentencepiece or words"},
    // Columns of features.
    {"numeric_column", "data.features", "its kind numeric"},
    {"bucketized_column", "data.features", "its kind bucketized"},
    {"crossed_column", "data.features", "its kind crossed"},
    {"categorical_column_with_vocabulary_list", "data.features", "categorical, with vocabulary"},
    {"categorical_column_with_vocabulary_file", "data.features", "categorical, with vocabulary"},
    {"categorical_column_with_hash_bucket", "data.features", "categorical, with hash"},
    {"categorical_column_with_identity", "data.features", "categorical, with integers"},
    {"weighted_categorical_column", "train.sample_weight", "of samples; values have no weights"},
    {"embedding_column", "data.features", "categorical, with embedding"},
    {"embedding", "data.features", "categorical, with embedding"},
    {"shared_embedding_columns", "data.features", "categorical, with embedding and shared"},
    {"shared_embeddings", "data.features", "categorical, with embedding and shared"},
    {"indicator_column", "data.features", "categorical, which is one-hot without embedding"},
    {"indicator", "data.features", "categorical, which is one-hot without embedding"},
    {"hash_bucket_size", ".hash"},
    {"vocabulary_list", ".vocabulary"},
    {"vocabulary_file", ".vocabulary"},
    // Keys of a training.
    {"num_epochs", "train.epochs"},
    {"max_epochs", "train.epochs"},
    // Keys of Stoker that stand in another section.
    {"epochs", "train.epochs"},
    {"optimizer", "train.optimizer"},
    {"loss", "train.loss"},
    {"metrics", "train.metrics"},
    {"callbacks", "train.callbacks"},
    {"features", "data.features"},
    {"monitor", "train.early_stopping.metric", "or train.checkpoint.best"},
    {"n_epochs", "train.epochs"},
    {"nb_epoch", "train.epochs"},
    {"num_train_epochs", "train.epochs"},
    {"lr", "train.schedule", "constant.lr is a rate that stays, one_cycle.max_lr the largest one"},
    {"learning_rate", "train.schedule",
     "constant.lr is a rate that stays, one_cycle.max_lr the largest one"},
    {"max_lr", "train.schedule.one_cycle.max_lr"},
    {"weight_decay", "train.optimizer.adamw.weight_decay"},
    {"momentum", "train.optimizer.sgd.momentum"},
    {"nesterov", "train.optimizer.sgd.nesterov"},
    {"criterion", "train.loss"},
    {"loss_fn", "train.loss"},
    {"loss_function", "train.loss"},
    {"label_smoothing", "train.loss.cross_entropy.label_smoothing"},
    {"optim", "train.optimizer"},
    {"scheduler", "train.schedule"},
    {"lr_scheduler", "train.schedule"},
    {"lr_schedule", "train.schedule"},
    {"warmup_epochs", "train.warmup.epochs"},
    {"warmup_steps", "train.warmup.epochs", "in epochs, which may be a fraction"},
    {"gradient_clip_val", "train.clip.norm"},
    {"max_grad_norm", "train.clip.norm"},
    {"clip_grad_norm", "train.clip.norm"},
    {"clipnorm", "train.clip.norm"},
    {"clip_grad_value", "train.clip.value"},
    {"clipvalue", "train.clip.value"},
    {"weight_column", "train.sample_weight"},
    {"activation_fn", ".activation"},
    {"accumulate_grad_batches", "train.accumulate"},
    {"gradient_accumulation_steps", "train.accumulate"},
    {"check_val_every_n_epoch", "train.eval_every"},
    {"val_check_interval", "train.eval_every_steps"},
    {"log_every_n_steps", "train.log_every"},
    {"logging_steps", "train.log_every"},
    {"logger", "train.tensorboard"},
    {"accelerator", "train.device"},
    {"devices", "train.device"},
    {"gpus", "train.device"},
    {"limit_train_batches", "train.limit_batches.train"},
    {"steps_per_epoch", "train.limit_batches.train"},
    {"limit_val_batches", "train.limit_batches.eval"},
    {"validation_steps", "train.limit_batches.eval"},
    {"fast_dev_run", "train.max_steps"},
    {"num_sanity_val_steps", "train.sanity"},
    {"save_top_k", "train.checkpoint.keep"},
    {"keep_checkpoint_max", "train.checkpoint.keep"},
    {"save_checkpoints_steps", "train.checkpoint.every_steps"},
    {"save_checkpoints_secs", "train.checkpoint.every_minutes"},
    {"throttle_secs", "train.eval_every_steps", "it goes by steps, not by the clock"},
    {"exports_to_keep", ".keep"},
    {"save_summary_steps", "train.log_every"},
    {"log_step_count_steps", "train.log_every"},
    {"tf_random_seed", "train.seed"},
    {"save_steps", "train.checkpoint.every_steps"},
    {"enable_checkpointing", "train.checkpoint"},
    {"ema", "train.average.kind"},
    {"swa", "train.average.kind"},
    {"amp", "train.precision"},
    {"use_amp", "train.precision"},
    {"mixed_precision", "train.precision"},
    {"fp16", "train.precision"},
    {"bf16", "train.precision"},
    {"benchmark", "train.cudnn_benchmark"},
    {"gradient_checkpointing", "train.activation_checkpointing"},
    {"manual_seed", "train.seed"},
    {"random_seed", "train.seed"},
    {"seed_everything", "train.seed"},
    {"pretrained", "train.init_from.weights"},
    {"freeze", "train.groups.lr", "a group of parameters whose lr is 0 is frozen"},
    {"param_groups", "train.groups"},
    // Losses and schedules.
    {"cross_entropy_loss", "train.loss.cross_entropy"},
    {"categorical_crossentropy", "train.loss.cross_entropy"},
    {"sparse_categorical_crossentropy", "train.loss.cross_entropy"},
    {"bce_loss", "train.loss.bce"},
    {"bce_with_logits_loss", "train.loss.bce"},
    {"binary_crossentropy", "train.loss.bce"},
    {"mse_loss", "train.loss.mse"},
    {"mean_squared_error", "train.loss.mse"},
    {"l1", "train.loss.mae"},
    {"l1_loss", "train.loss.mae"},
    {"smooth_l1", "train.loss.huber"},
    {"smooth_l1_loss", "train.loss.huber"},
    {"huber_loss", "train.loss.huber"},
    {"nll", "train.loss.cross_entropy", "it takes scores before softmax"},
    {"nll_loss", "train.loss.cross_entropy", "it takes scores before softmax"},
    {"poisson_nll_loss", "train.loss.poisson"},
    {"pinball", "train.loss.quantile"},
    {"pinball_loss", "train.loss.quantile"},
    {"adam_w", "train.optimizer.adamw"},
    {"cosine_annealing", "train.schedule.cosine"},
    {"cosine_annealing_lr", "train.schedule.cosine"},
    {"cosine_decay", "train.schedule.cosine"},
    {"step_lr", "train.schedule.step"},
    {"multi_step_lr", "train.schedule.multi_step"},
    {"one_cycle_lr", "train.schedule.one_cycle"},
    {"reduce_lr_on_plateau", "train.schedule.plateau"},
    // Metrics and callbacks.
    {"acc", "", "the accuracy of classes is measured in every evaluation; leave it out"},
    {"categorical_accuracy", "",
     "the accuracy of classes is measured in every evaluation; leave it out"},
    {"auroc", "", "here that is auc"},
    {"roc_auc", "", "here that is auc"},
    {"average_precision", "", "here that is pr_auc"},
    {"top_5", "", "here that is top5"},
    {"top_k", "", "here that is top5 for the first five, and so with other numbers"},
    {"early_stopping", "train.early_stopping"},
    {"model_checkpoint", "train.checkpoint"},
    {"tensorboard", "train.tensorboard"},
    {"tensor_board", "train.tensorboard"},
    {"tensor_board_logger", "train.tensorboard"},
    {"csv_logger", "", "RUN/metrics.jsonl has all figures; leave it out"},
    {"learning_rate_monitor", "", "RUN/metrics.jsonl has the rate of every line; leave it out"},
    {"learning_rate_scheduler", "train.schedule"},
    // Sections.
    {"train_data", "data.train"},
    {"training", "train"},
    {"trainer", "train"},
    {"val", "data.eval"},
    {"valid", "data.eval"},
    {"validation", "data.eval"},
    {"validation_data", "data.eval"},
    {"val_data", "data.eval"},
    {"test_data", "data.eval"},
    {"network", "model"},
    {"arch", "model"},
    {"class_names", "data.classes"},
    {"data_dir", "data.root"},
};

bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool IsLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }

// Returns "random_horizontal_flip" for "RandomHorizontalFlip", "mse_loss" for "MSELoss".
std::string WithUnderscores(std::string_view name) {
  std::string lower;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool ends_capitals = i + 1 < name.size() && IsLower(name[i + 1]);
    if (i > 0 && IsUpper(name[i]) &&
        (IsLower(name[i - 1]) || (IsUpper(name[i - 1]) && ends_capitals))) {
      lower += '_';
    }
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return lower;
}

// Our own name where it was only written as a class of Python's: "center_crop" for "CenterCrop".
std::string SpeltAsClass(std::string_view wanted, const std::vector<std::string>& names) {
  const std::string name = WithUnderscores(wanted);
  return std::ranges::find(names, name) != names.end() ? name : "";
}

// The row for this place: an option that belongs here, or else one that belongs elsewhere.
const ForeignName* FindRow(std::string_view wanted, const std::vector<std::string>& names) {
  const std::string name = WithUnderscores(wanted);
  for (const ForeignName& row : kTable) {
    if (row.name != name) continue;
    const bool of_place = row.here.starts_with('.');
    if (!of_place || std::ranges::find(names, row.here.substr(1)) != names.end()) return &row;
  }
  return nullptr;
}

}  // namespace

std::span<const ForeignName> ForeignNames() { return kTable; }

std::string OwnNameFor(std::string_view wanted, const std::vector<std::string>& names) {
  if (std::string own = SpeltAsClass(wanted, names); !own.empty()) return own;
  const ForeignName* const row = FindRow(wanted, names);
  return row != nullptr && row->here.starts_with('.') ? std::string(row->here.substr(1)) : "";
}

std::string ForeignNameAdvice(std::string_view wanted, const std::vector<std::string>& names) {
  if (const std::string own = SpeltAsClass(wanted, names); !own.empty())
    return fmt::format("here that is {}", own);
  const ForeignName* const row = FindRow(wanted, names);
  if (row == nullptr) return "";
  if (row->here.empty()) return std::string(row->says);
  const std::string_view here = row->here.starts_with('.') ? row->here.substr(1) : row->here;
  return fmt::format("here that is {}{}{}", here, row->says.empty() ? "" : ": ", row->says);
}

std::string RecipeNameAdvice(std::string_view wanted, const std::vector<std::string>& names) {
  std::string foreign = ForeignNameAdvice(wanted, names);
  return foreign.empty() ? NameAdvice(wanted, names) : foreign;
}

}  // namespace stoker
