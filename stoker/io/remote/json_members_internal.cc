#include "stoker/io/remote/json_members_internal.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace stoker::internal {
namespace {

constexpr size_t kDeepest = 32;
constexpr size_t kMostValues = 10'000;  // besides listed elements that are done

// Builds the value that the parser reports, piece by piece. Each function returns whether to go on.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::initializer_list<std::string_view> lists, const TakeListed& take)
      : lists_(lists), take_(take) {}

  Json TakeRoot() { return std::move(root_); }

  bool null() override { return AddScalar(nullptr); }
  bool boolean(bool value) override { return AddScalar(value); }
  bool number_integer(number_integer_t value) override { return AddScalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return AddScalar(value); }
  bool number_float(number_float_t value, const string_t&) override { return AddScalar(value); }
  bool string(string_t& value) override { return AddScalar(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // there is none in texts
  bool start_object(size_t) override { return Open(Json::object()); }
  bool start_array(size_t) override { return Open(Json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& key) override {
    levels_.back().key = std::move(key);
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  // An object or array that has begun and not ended.
  struct Level {
    Json* value;
    std::string key;        // of the member that comes next
    std::string_view list;  // where the array is one of lists_
    size_t values = 0;      // counted before its first element
  };

  // Returns where the value stands; null if there are too many.
  Json* Add(Json value) {
    if (++values_ > kMostValues) return nullptr;
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *levels_.back().value;
    if (parent.is_object()) return &(parent[levels_.back().key] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }
  bool AddScalar(Json value) { return Add(std::move(value)) != nullptr && HandOn(); }

  bool Open(Json empty) {
    if (levels_.size() == kDeepest) return false;
    const std::string_view list = empty.is_array() ? ListHere() : std::string_view();
    Json* const value = Add(std::move(empty));
    if (value == nullptr) return false;
    levels_.push_back({.value = value, .key = "", .list = list, .values = values_});
    return true;
  }
  bool Close() {
    levels_.pop_back();
    return HandOn();
  }

  // Which of lists_ an array that begins here is; empty: none.
  std::string_view ListHere() const {
    std::string place;
    for (const Level& level : levels_) {
      if (!level.value->is_object()) return {};
      if (!place.empty()) place += '/';
      place += level.key;
    }
    const auto found = std::ranges::find(lists_, place);
    return found == lists_.end() ? std::string_view() : *found;
  }

  // Hands the value that has just ended on, if it is an element of a list.
  bool HandOn() {
    if (levels_.empty() || levels_.back().list.empty()) return true;
    Level& level = levels_.back();
    const bool more = take_(level.list, level.value->back());
    level.value->clear();
    values_ = level.values;
    return more;
  }

  const std::vector<std::string_view> lists_;
  const TakeListed& take_;
  Json root_;
  std::vector<Level> levels_;
  size_t values_ = 0;
};

}  // namespace

Json ParseAnswer(std::string_view text) { return ParseAnswer(text, {}, {}); }

Json ParseAnswer(std::string_view text, std::initializer_list<std::string_view> lists,
                 const TakeListed& take) {
  Builder builder(lists, take);
  const bool whole = Json::sax_parse(text.begin(), text.end(), &builder);
  return whole ? builder.TakeRoot() : Json(Json::value_t::discarded);
}

}  // namespace stoker::internal
