// How files on servers are read: one set of settings for the whole process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stoker/base/status.h"

namespace stoker {

// Empty fields are found elsewhere, as each says.
struct RemoteOptions {
  int64_t connections = 8;        // concurrent read-ahead requests, over all files
  int64_t retries = 5;            // retries of a failed request before it is an error
  double retry_wait = 0.5;        // most seconds before the first retry; doubles, up to 20
  double timeout = 30;            // seconds to connect, and to wait for a byte
  int64_t read_ahead = 32 << 20;  // bytes requested ahead of the reader of one file
  // The directory for copies (shard_cache.h). If it or STOKER_CACHE is set, every file that is read
  // is kept there; else only files that must be mapped or cannot be read in parts are kept, in
  // $XDG_CACHE_HOME/stoker or ~/.cache/stoker.
  std::string cache;
  int64_t cache_size = 0;  // most bytes of all copies; 0: STOKER_CACHE_SIZE, else 50 GB
  // Of S3. The first that is there: this, AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL, the profile's;
  // this, AWS_REGION and AWS_DEFAULT_REGION, the profile's, us-east-1.
  std::string endpoint;  // "https://minio.example:9000"; none: Amazon's, of the region
  std::string region;
  std::string profile;              // of ~/.aws; empty: AWS_PROFILE, else "default"
  std::string path_style = "auto";  // true: HOST/BUCKET/KEY, false: BUCKET.HOST/KEY; auto: see s3.h
  bool anonymous = false;           // sign nothing, look for no credentials
};

// Returns the current settings. Thread-safe.
std::shared_ptr<const RemoteOptions> CurrentRemoteOptions();

// Sets the settings. Open files keep the settings they were opened with; versions known of other
// files are forgotten. Thread-safe.
void SetRemoteOptions(RemoteOptions options);

}  // namespace stoker
