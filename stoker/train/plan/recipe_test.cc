#include "stoker/run/recipe.h"

#include "stoker/base/testing.h"
#include "stoker/io/atomic_file.h"
#include "stoker/run/testing.h"
#include "stoker/train/models/convnet.h"

namespace stoker::recipe_test {

TEST(Recipe, TheWordsOnAndOffMayBeWrittenAsWritersOfYamlDo) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const ConfigNode root,
      ParseYaml("model: linear\ntrain: {tune: false, normalize_on: auto}\n", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train, ParseTrainSection(root));
  EXPECT_EQ(train.options.tune, "off");
  STOKER_ASSERT_OK_AND_ASSIGN(
      const ConfigNode wrong,
      ParseYaml("model: linear\ntrain: {memory_format: false}\n", "r.yaml"));
  EXPECT_THAT(ParseTrainSection(wrong), FailsWith(StatusCode::kInvalidArgument, "channels_last"));
}

// Over 60 lines: the keys of `train:`, each in a line.
TEST(Recipe, FillsInEveryDefault) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode root, ParseYaml("model: linear", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train, ParseTrainSection(root));
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode expected, ParseYaml(R"(
epochs: 3
seed: 1
device: auto
tune: auto
memory_format: auto
precision: float32
tf32: true
cudnn_benchmark: "off"
denormals: auto
lint: true
threads: auto
feed_threads: auto
device_prefetch: auto
input: image
target: label
sample_weight: none
weighted_metrics: false
eval_every: 1
eval_every_steps: auto
log_every: 50
max_steps: auto
schedule_every: step
accumulate: 1
hogwild: 1
decay_vectors: true
layer_rate: 1
overfit_batches: auto
sanity: true
on_nonfinite: stop
nonfinite_limit: 10
detect_anomaly: false
metrics: []
loss: {cross_entropy: {label_smoothing: 0, weights: []}}
optimizer: {adamw: {betas: [0.9, 0.999], eps: 1e-08, weight_decay: 0.01, lazy: false}}
schedule: {one_cycle: {max_lr: 0.003, pct_start: 0.3, anneal: cos, three_phase: false,
  div_factor: 25, final_div_factor: 10000, cycle_momentum: true, base_momentum: 0.85,
  max_momentum: 0.95}}
warmup: {epochs: 0, from: auto, shape: linear}
lr_scaling: {rule: none, base_batch: 256}
groups: []
clip: {norm: auto, value: auto, adaptive: auto}
average: {kind: none, decay: 0.9999, gamma: 1, power: 0.6666666666666666, start: auto, every: auto}
init_from: {weights: "", partial: false, prefix: "", rename: [], skip: [], vectors: {}}
checkpoint: {every_steps: auto, keep: 2, every_minutes: auto, best: "", best_mode: auto, async: true, parts: false}
limit_batches: {train: auto, eval: auto}
early_stopping: {metric: loss, mode: auto, patience: auto, min_delta: 0, goal: auto, baseline: auto, after_epochs: 0}
callbacks: []
tensorboard: {enabled: false, histograms: auto, pictures: true}
activation_checkpointing: []
distributed: {backend: auto, batch: global, timeout: 600, bucket_mb: 8, gradient_type: float32, sync_batch_norm: auto, shard_optimizer: false, local_steps: 1}
memory: {limit: auto}
graph: auto
normalize_on: auto
)",
                                                                   "expected"));
  EXPECT_THAT(Differences(expected, train.Filled()), testing::IsEmpty());
}

TEST(Recipe, TheFilledRecipeReadsBackToItself) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe recipe, problem.Load());
  const std::string text = ToYaml(recipe.Filled());
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode root, ParseYaml(text, "filled.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const Recipe again, ParseRecipe(root, "/elsewhere"));
  EXPECT_EQ(ToYaml(again.Filled()), text);
}

TEST(Recipe, ReadsWhatItSays) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(
      const Recipe recipe,
      problem.Load({"train.seed=5", "train.threads=2", "train.checkpoint.keep=7",
                    "train.checkpoint.every_steps=4", "train.optimizer=sgd"}));
  EXPECT_EQ(recipe.model.name, "mlp");
  EXPECT_EQ(recipe.train.options.seed, 5);
  EXPECT_EQ(recipe.train.options.threads, 2);
  EXPECT_EQ(recipe.train.checkpoint.keep, 7);
  EXPECT_EQ(recipe.train.checkpoint.every_steps, 4);
  EXPECT_EQ(recipe.train.optimizer.name, "sgd");
  EXPECT_EQ(recipe.train.schedule.name, "one_cycle");
  EXPECT_EQ(recipe.data.train.cardinality(), Cardinality::Of(6));
}

TEST(Recipe, HasTheMemoryThatItsTrainingMayTake) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode root,
                              ParseYaml("train: {memory: 2GiB}\n", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe read, ParseTrainSection(root));
  EXPECT_EQ(read.memory.limit, "2GiB");
  STOKER_ASSERT_OK_AND_ASSIGN(const int64_t bytes, read.memory.Bytes());
  EXPECT_EQ(bytes, int64_t{2} << 30);
  TrainRecipe made;  // one that is made in code says it too
  made.memory.limit = "3MB";
  const ConfigNode filled = made.Filled();
  EXPECT_EQ(filled.Find("memory")->Find("limit")->scalar, "3MB");
  made.memory.limit = "lots";
  EXPECT_THAT(made.memory.Bytes(),
              FailsWith(StatusCode::kInvalidArgument, "train.memory: 'lots' is no size"));
}

TEST(Recipe, RemembersWhereAKeyOfTrainStood) {
  STOKER_ASSERT_OK_AND_ASSIGN(
      const ConfigNode root,
      ParseYaml("train:\n  epochs: 2\n  groups:\n    - {match: conv*}\n", "r.yaml"));
  STOKER_ASSERT_OK_AND_ASSIGN(const TrainRecipe train, ParseTrainSection(root));
  EXPECT_EQ(train.NameOf("groups"), "train.groups (r.yaml:4:5)");
  EXPECT_EQ(train.NameOf("accumulate"), "train.accumulate");
}

TEST(Recipe, CanBeMadeInCode) {
  const SmallProblem problem;
  STOKER_ASSERT_OK_AND_ASSIGN(Recipe read, problem.Load());
  Recipe made{
      .data = {.root = {}, .train = read.data.train, .eval = {}, .classes = {}, .filled = {}},
      .model = Configure(Convnet{.classes = 4, .channels = {8}}),
      .train = {}};
  made.train.options.epochs = 1;
  const ConfigNode filled = made.Filled();
  EXPECT_EQ(filled.Find("model")->Find("convnet")->Find("classes")->scalar, "4");
  EXPECT_EQ(filled.Find("train")->Find("epochs")->scalar, "1");
}

struct BrokenCase {
  const char *name, *yaml, *says;
};
constexpr BrokenCase kBroken[] = {
    {"UnknownSection", "model: linear\ntrian: {}\n",
     "r.yaml:2:1: unknown section 'trian'; did you "
     "mean 'train'?"},
    {"NoModel", "train: {}\n",
     "the section 'model' is missing; it names one, such as model: "
     "{convnet: {classes: 10}}"},
    {"NoData", "model: linear\n", "the section 'data' is missing"},
    {"UnknownModel", "model: convnte\n", "r.yaml:1:8"},
    {"UnknownModelOption", "model: {convnet: {clases: 3}}\n", "classes"},
    {"UnknownTrainKey", "model: linear\ntrain:\n  epocs: 3\n",
     "r.yaml:3:3: train: unknown key 'epocs'; did you mean 'epochs'?"},
    {"NestedKeyMisspelt", "model: linear\ntrain: {optimiser: sgd}\n", "did you mean 'optimizer'?"},
    {"FarKey", "model: linear\ntrain: {zzzzzz: 1}\n", "known are loss, optimizer, schedule"},
    {"RateInTrain", "model: linear\ntrain:\n  lr: 0.1\n",
     "r.yaml:3:3: train: unknown key 'lr'; it belongs to the schedule: train: {schedule: "
     "{constant: "
     "{lr: 0.001}}}"},
    {"RateInTrainByItsOtherName", "model: linear\ntrain: {learning_rate: 0.1}\n",
     "unknown key 'learning_rate'; it belongs to the schedule: train: {schedule: {constant: {lr: "},
    {"RateInTheOptimizer", "model: linear\ntrain: {optimizer: {adamw: {lr: 0.1}}}\n",
     "r.yaml:2:29: adamw: unknown option 'lr'; it belongs to the schedule: train: {schedule: "},
    {"RateOfTheScheduleThatIsNamed",
     "model: linear\ntrain: {schedule: cosine, optimizer: {sgd: {lr: 0.1}}}\n",
     "it belongs to the schedule: train: {schedule: {cosine: {lr: "},
    {"BatchSizeInTrain", "model: linear\ntrain: {batch_size: 64}\n",
     "unknown key 'batch_size'; it belongs to the pipeline: data: {train: [..., {batch: {size: "
     "64}}]}"},
    {"BatchSizeInTheOptimizer", "model: linear\ntrain: {optimizer: {adamw: {batch_size: 64}}}\n",
     "adamw: unknown option 'batch_size'; it belongs to the pipeline"},
    {"DecayInTrain", "model: linear\ntrain: {weight_decay: 0.1}\n",
     "it belongs to the optimizer: train: {optimizer: {adamw: {weight_decay: 0.01}}}"},
    {"PatienceInTrain", "model: linear\ntrain: {patience: 3}\n",
     "it belongs to early_stopping: train: {early_stopping: {patience: ...}}"},
    {"UnknownOptimizerOption", "model: linear\ntrain: {optimizer: {adamw: {momentum: 0.9}}}\n",
     "adamw: unknown option 'momentum'; here that is train.optimizer.sgd.momentum"},
    {"TrainIsAList", "model: linear\ntrain: [epochs]\n", "r.yaml:2:8: 'train' is a list"},
    {"WrongType", "model: linear\ntrain: {epochs: three}\n", "r.yaml:2:17"},
    {"OutOfRange", "model: linear\ntrain: {epochs: 0}\n", ">= 1"},
    {"WrongChoice", "model: linear\ntrain: {memory_format: nchw}\n", "channels_last"},
    {"UnknownOptimizer", "model: linear\ntrain: {optimizer: adanw}\n", "adamw"},
    {"UnknownSchedule", "model: linear\ntrain: {schedule: one_cycles}\n", "one_cycle"},
    {"ScheduleOptionOutOfRange", "model: linear\ntrain: {schedule: {one_cycle: {pct_start: 2}}}\n",
     "pct_start"},
    {"GroupsAreNoList", "model: linear\ntrain: {groups: {match: a}}\n",
     "r.yaml:2:17: 'groups' is a map; it must be a list"},
    {"AGroupThatMatchesNothing", "model: linear\ntrain: {groups: [{lr: 2}]}\n",
     "option 'match' is required"},
    {"UnknownAverage", "model: linear\ntrain: {average: sma}\n", "one of: none, ema, swa"},
    {"UnknownCheckpointKey", "model: linear\ntrain: {checkpoint: {kep: 3}}\n", "keep"},
    {"ARecipeThatIsAList", "[1, 2]\n", "a recipe is a map"},
};

class RecipeBroken : public testing::TestWithParam<BrokenCase> {};
TEST_P(RecipeBroken, SaysWhereAndWhat) {
  STOKER_ASSERT_OK_AND_ASSIGN(const ConfigNode root, ParseYaml(GetParam().yaml, "r.yaml"));
  EXPECT_THAT(ParseRecipe(root, "."), FailsWith(StatusCode::kInvalidArgument, GetParam().says));
}
INSTANTIATE_TEST_SUITE_P(All, RecipeBroken, testing::ValuesIn(kBroken),
                         [](const auto& broken) { return broken.param.name; });

TEST(Recipe, MoreClassNamesThanTheModelTellsApartAreRefused) {
  const SmallProblem problem;
  EXPECT_THAT(problem.Load({"data.classes=[a, b, c, d, e]"}),
              FailsWith(StatusCode::kInvalidArgument,
                        "--set data.classes: data.classes has 5 names, "
                        "but the model"));
  STOKER_EXPECT_OK(problem.Load({"data.classes=[a, b, c, d]"}));
}

TEST(Recipe, MoreClassFoldersThanTheModelTellsApartAreRefused) {
  const TempDir dir;
  for (const char* const name : {"cat", "dog", "owl"}) {
    std::filesystem::create_directories(dir.path() / "pictures" / name);
    STOKER_ASSERT_OK(WriteFileAtomically((dir.path() / "pictures" / name / "1.ppm").string(),
                                         "P6 1 1 255\nabc"));
  }
  STOKER_ASSERT_OK(WriteFileAtomically(dir / "r.yaml", R"(
data:
  train: [folder: pictures, decode: {}, resize: {size: 8}, normalize: {}, batch: {size: 1}]
model: {mlp: {classes: 2}}
)"));
  EXPECT_THAT(LoadRecipe(dir / "r.yaml"),
              FailsWith(StatusCode::kInvalidArgument,
                        "data.train has 3 classes ('cat', ...), but the model mlp tells 2 apart; "
                        "set its classes to 3"));
}

TEST(Recipe, AMissingFileIsNamed) {
  EXPECT_THAT(LoadRecipe("/nowhere/r.yaml"), FailsWith(StatusCode::kNotFound, "/nowhere"));
}

TEST(ModelInputOf, UnderstandsVectorsAndImages) {
  const auto input = [](Shape shape) {
    return *ModelInputOf({"image", DType::kFloat32, std::move(shape)});
  };
  EXPECT_EQ(input({-1, 7}).num_values(), 7);
  EXPECT_EQ(input({-1, 5, 6}).channels, 1);
  EXPECT_EQ(input({-1, 5, 6}).width, 6);
  EXPECT_EQ(input({32, 3, 5, 6}).channels, 3);
  const ModelInput last = *ModelInputOf({"image", DType::kFloat32, {32, 5, 6, 3}}, true);
  EXPECT_EQ(last, (ModelInput{.channels = 3, .height = 5, .width = 6}));
  for (const Shape& shape : {Shape{-1}, Shape{-1, -1}, Shape{-1, 3, -1, 5}, Shape{1, 2, 3, 4, 5}}) {
    EXPECT_THAT(ModelInputOf({"image", DType::kFloat32, shape}),
                FailsWith(StatusCode::kInvalidArgument, "is no input for a model"));
  }
  for (const Shape& shape : {Shape{-1, -1}, Shape{-1, -1, 5}}) {
    EXPECT_THAT(ModelInputOf({"steps", DType::kFloat32, shape}),
                FailsWith(StatusCode::kInvalidArgument, "take `batch: {ragged: true}` in the"));
  }
}

}  // namespace stoker::recipe_test
