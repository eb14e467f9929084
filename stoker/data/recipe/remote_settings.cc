#include "stoker/data/recipe/remote_settings.h"

#include <string>
#include <utility>
#include <vector>

#include "stoker/base/byte_size.h"

namespace stoker {
namespace {

constexpr std::string_view kName = "remote";

// A size in bytes, written with its unit. Where it may be `empty`, that is 0.
Option SizeOption(std::string_view name, int64_t RemoteOptions::*member, int64_t least, bool empty,
                  std::string_view help) {
  Option option{.name = std::string(name),
                .type = "size",
                .constraint = ">= " + ByteSizeText(least),
                .help = std::string(help)};
  option.set = [member, least, empty](void* object, const ConfigNode& value) {
    std::string text;
    STOKER_RETURN_IF_ERROR(ReadOption(value, text));
    int64_t size = 0;
    if (!empty || !text.empty()) {
      STOKER_ASSIGN_OR_RETURN(size, ParseByteSize(text));
      if (size < least)
        return InvalidArgument("{} is too little; at least {}", text, ByteSizeText(least));
    }
    static_cast<RemoteOptions*>(object)->*member = size;
    return OkStatus();
  };
  option.get = [member, empty](const void* object) {
    const int64_t size = static_cast<const RemoteOptions*>(object)->*member;
    return WriteOption(empty && size == 0 ? std::string() : ByteSizeText(size));
  };
  option.check = [](const void*) { return OkStatus(); };  // set has looked at it
  return option;
}

// The folder of copies: of this machine, so it is relative to the working directory, not to
// `data.root`.
Option CacheOption() {
  Option option{.name = "cache",
                .type = "path",
                .help =
                    "the folder for copies of remote files, which are then kept of those read in "
                    "order too; empty: $STOKER_CACHE; without that, copies are made only of files "
                    "that must be mapped"};
  option.set = [](void* object, const ConfigNode& value) {
    std::string text;
    STOKER_RETURN_IF_ERROR(ReadOption(value, text));
    std::error_code error;  // where the working directory is gone, a relative path is all there is
    const std::filesystem::path absolute = std::filesystem::absolute(text, error);
    static_cast<RemoteOptions*>(object)->cache =
        text.empty() || error ? text : absolute.lexically_normal().string();
    return OkStatus();
  };
  option.get = [](const void* object) {
    return WriteOption(static_cast<const RemoteOptions*>(object)->cache);
  };
  option.check = [](const void*) { return OkStatus(); };
  return option;
}

std::vector<Option> MakeOptions() {
  constexpr int64_t kLeastCache = 1 << 20, kLeastReadAhead = 128 << 10;
  std::vector<Option> all = {
      CacheOption(),
      SizeOption("cache_size", &RemoteOptions::cache_size, kLeastCache, /*empty=*/true,
                 "the most that they take, such as 200GB; empty: $STOKER_CACHE_SIZE, else 50GB"),
      SizeOption("read_ahead", &RemoteOptions::read_ahead, kLeastReadAhead, /*empty=*/false,
                 "bytes asked for ahead of the reader of one file")};
  OptionTable<RemoteOptions> table;
  table
      .Field("connections", &RemoteOptions::connections,
             "requests at a time that read ahead, over all files", Between(1, 256))
      .Field("retries", &RemoteOptions::retries, "further tries of a request that fails",
             Between(0, 100))
      .Field("retry_wait", &RemoteOptions::retry_wait,
             "seconds before the first of them, at most; doubles each time, up to 20",
             Between(0, 20))
      .Field("timeout", &RemoteOptions::timeout, "seconds to connect, and to wait for a byte",
             Between(0.1, 3600))
      .Field("endpoint", &RemoteOptions::endpoint,
             "where the S3 store is: https://HOST:PORT; empty: $AWS_ENDPOINT_URL_S3, "
             "$AWS_ENDPOINT_URL, ~/.aws, else Amazon's")
      .Field("region", &RemoteOptions::region,
             "of S3; empty: $AWS_REGION, $AWS_DEFAULT_REGION, ~/.aws, else us-east-1")
      .Field("profile", &RemoteOptions::profile, "of ~/.aws; empty: $AWS_PROFILE, else default")
      .Field("path_style", &RemoteOptions::path_style,
             "whether buckets of S3 are named in the path, not in the host's name; auto: where an "
             "endpoint is given, or the bucket has a dot",
             OneOf{{"auto", "true", "false"}})
      .Field("anonymous", &RemoteOptions::anonymous,
             "read S3 and Google Cloud Storage without credentials");
  all.insert(all.end(), table.options().begin(), table.options().end());
  return all;
}

}  // namespace

const std::vector<Option>& RemoteSettingOptions() {
  static const std::vector<Option> options = MakeOptions();
  return options;
}

Status RemoteSettings::Read(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kMap)
    return InvalidArgument("is {}; it must be a map, such as {{connections: 16}}", node.KindName());
  RemoteOptions options;
  STOKER_RETURN_IF_ERROR(ParseOptions(RemoteSettingOptions(), kName, node, &options));
  options_ = std::move(options);
  given_ = true;
  return OkStatus();
}

ConfigNode RemoteSettings::Write() const {
  return FormatOptions(RemoteSettingOptions(), &options_);
}

void RemoteSettings::Apply() const {
  if (given_) SetRemoteOptions(options_);
}

}  // namespace stoker
