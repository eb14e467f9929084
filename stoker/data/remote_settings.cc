#include "stoker/data/remote_settings.h"

#include <string>

namespace stoker {
namespace {

// RemoteOptions, as it is written in recipes.
struct RemoteKeys {
  static constexpr std::string_view kName = "remote";
  std::string cache, cache_size;
  int64_t connections = RemoteOptions().connections;
  std::string read_ahead = ByteSizeText(RemoteOptions().read_ahead);
  int64_t retries = RemoteOptions().retries;
  double retry_wait = RemoteOptions().retry_wait;
  double timeout = RemoteOptions().timeout;
  std::string endpoint, region, profile;
  std::string path_style = RemoteOptions().path_style;
  bool anonymous = false;

  static void Describe(OptionTable<RemoteKeys>& table) {
    table
        .Field("cache", &RemoteKeys::cache,
               "the folder in which copies of all remote files are kept; empty: $STOKER_CACHE; "
               "without that, copies are made only of files that must be mapped")
        .Field("cache_size", &RemoteKeys::cache_size,
               "the most that they take, such as 200GB; empty: $STOKER_CACHE_SIZE, else 50GB")
        .Field("connections", &RemoteKeys::connections,
               "requests at a time that read ahead, over all files", Between(1, 256))
        .Field("read_ahead", &RemoteKeys::read_ahead,
               "bytes asked for ahead of the reader of one file")
        .Field("retries", &RemoteKeys::retries, "further tries of a request that fails",
               Between(0, 100))
        .Field("retry_wait", &RemoteKeys::retry_wait,
               "seconds before the first of them, at most; doubles each time, up to 20",
               Between(0, 20))
        .Field("timeout", &RemoteKeys::timeout, "seconds to connect, and to wait for a byte",
               Between(0.1, 3600))
        .Field("endpoint", &RemoteKeys::endpoint,
               "where the S3 store is: https://HOST:PORT; empty: $AWS_ENDPOINT_URL_S3, "
               "$AWS_ENDPOINT_URL, ~/.aws, else Amazon's")
        .Field("region", &RemoteKeys::region,
               "of S3; empty: $AWS_REGION, $AWS_DEFAULT_REGION, ~/.aws, else us-east-1")
        .Field("profile", &RemoteKeys::profile, "of ~/.aws; empty: $AWS_PROFILE, else default")
        .Field("path_style", &RemoteKeys::path_style,
               "whether buckets of S3 are named in the path, not in the host's name; auto: where "
               "an endpoint is given, or the bucket has a dot",
               OneOf{{"auto", "true", "false"}})
        .Field("anonymous", &RemoteKeys::anonymous, "read S3 without credentials");
  }
};

Result<int64_t> SizeOf(std::string_view key, const std::string& text, int64_t least) {
  Result<int64_t> size = ParseByteSize(text);
  if (!size.ok()) return InvalidArgument("{}: {}", key, size.status().message());
  if (*size < least)
    return InvalidArgument("{} is {}; it must be at least {}", key, text, ByteSizeText(least));
  return size;
}

}  // namespace

const std::vector<Option>& RemoteSettingOptions() { return OptionsOf<RemoteKeys>(); }

Status RemoteSettings::Read(const ConfigNode& node) {
  constexpr int64_t kLeastReadAhead = 128 << 10, kLeastCache = 1 << 20;
  if (node.kind != ConfigNode::Kind::kMap)
    return InvalidArgument("is {}; it must be a map, such as {{connections: 16}}", node.KindName());
  RemoteKeys keys;
  STOKER_RETURN_IF_ERROR(ParseOptionsOf(node, keys));
  RemoteOptions options;
  STOKER_ASSIGN_OR_RETURN(options.read_ahead,
                          SizeOf("read_ahead", keys.read_ahead, kLeastReadAhead));
  if (!keys.cache_size.empty()) {
    STOKER_ASSIGN_OR_RETURN(options.cache_size, SizeOf("cache_size", keys.cache_size, kLeastCache));
  }
  if (!keys.cache.empty()) {
    std::error_code error;  // where the working directory is gone, a relative path is all there is
    const std::filesystem::path absolute = std::filesystem::absolute(keys.cache, error);
    options.cache = error ? keys.cache : absolute.lexically_normal().string();
  }
  options.connections = keys.connections;
  options.retries = keys.retries;
  options.retry_wait = keys.retry_wait;
  options.timeout = keys.timeout;
  options.endpoint = keys.endpoint;
  options.region = keys.region;
  options.profile = keys.profile;
  options.path_style = keys.path_style;
  options.anonymous = keys.anonymous;
  options_ = std::move(options);
  given_ = true;
  return OkStatus();
}

ConfigNode RemoteSettings::Write() const {
  RemoteKeys keys;
  keys.cache = options_.cache;
  if (options_.cache_size > 0) keys.cache_size = ByteSizeText(options_.cache_size);
  keys.connections = options_.connections;
  keys.read_ahead = ByteSizeText(options_.read_ahead);
  keys.retries = options_.retries;
  keys.retry_wait = options_.retry_wait;
  keys.timeout = options_.timeout;
  keys.endpoint = options_.endpoint;
  keys.region = options_.region;
  keys.profile = options_.profile;
  keys.path_style = options_.path_style;
  keys.anonymous = options_.anonymous;
  return FormatOptions(OptionsOf<RemoteKeys>(), &keys);
}

void RemoteSettings::Apply() const {
  if (given_) SetRemoteOptions(options_);
}

}  // namespace stoker
