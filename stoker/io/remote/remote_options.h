// How files on servers are read: one set of settings for the whole process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// What is empty is found elsewhere: see each.
struct RemoteOptions {
  int64_t connections = 8;        // requests at a time that read ahead, over all files
  int64_t retries = 5;            // further tries of a request that fails, before that is an error
  double retry_wait = 0.5;        // seconds before the first of them, at most; doubles, up to 20
  double timeout = 30;            // seconds to connect, and to wait for a byte
  int64_t read_ahead = 32 << 20;  // bytes asked for ahead of the reader of one file
  // The directory in which copies are kept (shard_cache.h). Set: of every file that is read. Empty:
  // STOKER_CACHE, likewise; without that, of those alone that must be mapped or cannot be read in
  // parts, in $XDG_CACHE_HOME/stoker or ~/.cache/stoker.
  std::string cache;
  int64_t cache_size = 0;  // the most bytes of them all; 0: STOKER_CACHE_SIZE, else 50 GB
  // Of S3. The first that is there: this, AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL, the profile's;
  // this, AWS_REGION and AWS_DEFAULT_REGION, the profile's, us-east-1.
  std::string endpoint;  // "https://minio.example:9000"; none: Amazon's, of the region
  std::string region;
  std::string profile;              // of ~/.aws; empty: AWS_PROFILE, else "default"
  std::string path_style = "auto";  // true: HOST/BUCKET/KEY, false: BUCKET.HOST/KEY; auto: see s3.h
  bool anonymous = false;           // sign nothing, look for no credentials
};

// Those in force. Thread-safe.
std::shared_ptr<const RemoteOptions> CurrentRemoteOptions();

// From now on; files that are open go on with those they began with, and what was known of others
// is forgotten. Thread-safe.
void SetRemoteOptions(RemoteOptions options);

}  // namespace stoker
