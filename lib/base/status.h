// Status and Result<T>: how every library function reports failure. No exception leaves a library function.
// Entry: GE_TRY(status_expr), GE_ASSIGN(auto x, result_expr). Invariant: an Error holds at least one
// Diagnostic.
//
//   Result<int> parse(std::string_view s);
//   Status run() { GE_ASSIGN(const int n, parse("3")); GE_TRY(check(n)); return {}; }
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"

namespace ge {

class [[nodiscard]] Error {
 public:
  Error(Diagnostic diagnostic) { list_.push_back(std::move(diagnostic)); }  // NOLINT: implicit by design
  explicit Error(std::vector<Diagnostic> list) : list_(std::move(list)) {}
  const std::vector<Diagnostic>& list() const { return list_; }
  std::vector<Diagnostic>& list() { return list_; }
  const Diagnostic& first() const { return list_.front(); }
  // The kind of the gravest entry: bug, then environment, then usage, mismatch, user.
  ErrorKind kind() const;
  // Adds one context frame to every diagnostic: "while reading weights.safetensors".
  Error with_frame(const std::string& frame) &&;
  std::string to_string() const;  // every diagnostic, a blank line between

 private:
  std::vector<Diagnostic> list_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Diagnostic diagnostic) : error_(std::make_unique<Error>(std::move(diagnostic))) {}  // NOLINT
  Status(Error error) : error_(std::make_unique<Error>(std::move(error))) {}                 // NOLINT
  bool ok() const { return error_ == nullptr; }
  const Error& error() const { return *error_; }
  Error take_error() && { return std::move(*error_); }

 private:
  std::unique_ptr<Error> error_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                                              // NOLINT
  Result(Diagnostic diagnostic) : error_(std::make_unique<Error>(std::move(diagnostic))) {}  // NOLINT
  Result(Error error) : error_(std::make_unique<Error>(std::move(error))) {}                 // NOLINT
  bool ok() const { return value_.has_value(); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Error& error() const { return *error_; }
  Error take_error() && { return std::move(*error_); }

 private:
  std::optional<T> value_;
  std::unique_ptr<Error> error_;
};

// Collects the faults of a stage so that all are told at once. A file of a few MB may hold a million of them,
// each far longer than what caused it: the first ones are kept, their texts up to a length, the rest are
// counted.
class ErrorList {
 public:
  static constexpr size_t kKept = 1000;
  void add(Diagnostic diagnostic) {
    if (list_.size() < kKept)
      list_.push_back(shortened(std::move(diagnostic)));
    else
      ++left_out_;
  }
  void add(Error error) {
    for (auto& d : error.list()) add(std::move(d));
  }
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  // No more are told: the reader stops here, and take() says so.
  bool full() {
    rest_unread_ |= list_.size() >= kKept;
    return rest_unread_;
  }
  Status take() {
    if (list_.empty()) return Status();
    if (left_out_ > 0 || rest_unread_)
      list_.push_back(
          fail(Code::document_limit)
              .say("more faults than are told")
              .because(rest_unread_ ? "the rest is not read" : std::to_string(left_out_) + " are left out"));
    left_out_ = 0;
    rest_unread_ = false;
    return Status(Error(std::move(list_)));
  }

 private:
  std::vector<Diagnostic> list_;
  size_t left_out_ = 0;
  bool rest_unread_ = false;
};

}  // namespace ge

#define GE_CONCAT_INNER(a, b) a##b
#define GE_CONCAT(a, b) GE_CONCAT_INNER(a, b)
#define GE_TRY(expression)                                         \
  do {                                                             \
    auto ge_status = (expression);                                 \
    if (!ge_status.ok()) return std::move(ge_status).take_error(); \
  } while (false)
#define GE_ASSIGN_INNER(temporary, declaration, expression)      \
  auto temporary = (expression);                                 \
  if (!temporary.ok()) return std::move(temporary).take_error(); \
  declaration = std::move(temporary).value()
#define GE_ASSIGN(declaration, expression) \
  GE_ASSIGN_INNER(GE_CONCAT(ge_result_, __LINE__), declaration, expression)
