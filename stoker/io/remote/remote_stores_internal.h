// The table of stores: one row for each scheme. base/remote_path.h lists the schemes too.
#pragma once

#include <string_view>

#include "stoker/io/remote/remote_store.h"

namespace stoker::internal {

const RemoteStore& WebStore();      // web_store.cc
const RemoteStore& S3Store();       // s3_store.cc
const RemoteStore& GcsStore();      // gcs_store.cc
const RemoteStore& WebHdfsStore();  // webhdfs_store.cc

struct RemoteStoreRow {
  std::string_view scheme;
  const RemoteStore& (*store)();
};

inline constexpr RemoteStoreRow kRemoteStores[] = {
    {"http://", WebStore}, {"https://", WebStore},       {"s3://", S3Store},
    {"gs://", GcsStore},   {"webhdfs://", WebHdfsStore}, {"swebhdfs://", WebHdfsStore},
};

}  // namespace stoker::internal
